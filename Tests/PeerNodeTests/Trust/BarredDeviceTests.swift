import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A thief of Mallory's first device revokes her phone with it, in a past before Ada revokes that
/// device; and a member cites the revocation. It has no effect, and bars the phone from every later
/// list, while the phone is in.
struct `A member who is in with a barred device` {
    private let pair: HostilePair
    private let phone: DeviceID

    init() throws {
        pair = try HostilePair()
        let eve = try pair.accomplice()
        let node = try pair.bench.bareNode("Phone")
        try pair.mallory.link(node)
        pair.bench.advance(5_000)
        phone = try ForeignDevice(of: node).id
        var stolen = try ForgedLog(pair.mallory, incarnation: 80)
        let void = stolen.write(
            .removeDevice(phone, cuts: [], rekey: nil), knowing: try ForgedLog.heads(of: pair.ada))
        let main = try pair.mallory.deviceID()
        pair.takeOver()
        try pair.ada.ok("device.revoke", ["device": .string(main)])
        pair.bench.advance(5_000)
        var citing = eve.log
        let cited = citing.write(
            .createDocument(type: 1, nonce: [UInt8](repeating: 1, count: 16)),
            knowing: try pair.heads(and: [void]))
        try pair.hand([cited, void], as: eve.keys)
    }

    /// An empty list would take everything from her by a weaker role, and give nothing by a
    /// stronger one.
    @Test func `is told to have no device for a role, and keeps the one they have`() throws {
        let evaluator = try pair.ada.workspace().judged.evaluator
        #expect(evaluator.isBarred(phone))
        #expect(evaluator.bestGrant(of: phone, as: pair.known.member) != nil)
        let count = evaluator.count
        for role in ["admin", "guest"] {
            let refused = try pair.ada.refused(
                "member.role", ["member": "@Mallory", "role": .string(role)])
            #expect(refused.kind == .forbidden && refused.reason == "device.revoked", "\(role)")
        }
        let refused = try pair.ada.refused("workspace.transfer", ["member": "@Mallory"])
        #expect(refused.reason == "device.revoked")
        let after = try pair.ada.workspace().judged.evaluator
        #expect(after.count == count, "nothing was written")
        #expect(after.bestGrant(of: phone, as: pair.known.member) != nil)
        try pair.expectPeace()
    }
}
