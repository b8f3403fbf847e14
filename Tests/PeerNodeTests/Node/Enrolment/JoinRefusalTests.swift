import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The error for a refused invite if another address of it did not answer.
struct `A refused invite` {
    private let bench = CoreBench()

    private func hint(for code: JoinResult.Code, misses: Bool) throws -> String? {
        let mina = try bench.node("Mina")
        let addresses = ["127.0.0.1:1", "127.0.0.1:2"].compactMap { PeerAddress($0) }
        var attempt = JoinAttempt(
            scope: nil, link: try InviteLink(mina.link()), addresses: addresses, deadline: nil)
        #expect(addresses.count == 2 && attempt.toldRefusal == nil)
        if misses { attempt.dialFailed(now: 1) }
        attempt.refused(Enrolment.refusal(code))
        if !misses {
            attempt.dialFailed(now: 2, because: "refused")
            attempt.dialFailed(now: 3, because: "refused")
        }
        return attempt.toldRefusal?.hint
    }

    @Test(arguments: [JoinResult.Code.expired, .used, .invalid])
    func `may be known elsewhere, for who answered may lie`(_ code: JoinResult.Code) throws {
        let hint = try hint(for: code, misses: true)
        #expect(hint?.hasPrefix("ask for a new one, or another address") == true)
        #expect(try self.hint(for: code, misses: false) == "ask for a new one")
    }
}
