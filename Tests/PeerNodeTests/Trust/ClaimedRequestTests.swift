import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A thief with the key of a removed admin admits, in a past before the removal, somebody whose
/// request waits; and a member cites that, so that everybody stores it. It has no effect, but
/// binds.
struct `A request that somebody without the right has granted` {
    private let pair: HostilePair
    private let kim: BenchNode
    private let request: OperationID

    init() throws {
        pair = try HostilePair(role: "admin")
        kim = try pair.bench.bareNode("Kim")
        let eve = try pair.accomplice()
        let plans = try pair.ada.ok("channel.create", ["name": "plans"])
        let link = try pair.ada.link(["approve": true, "channels": [plans["id"] ?? .null]])
        #expect(kim.ask(link) == "pending")
        pair.bench.advance(2_000)
        let known = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let workspace = try pair.ada.workspace()
        request = try #require(workspace.invites.requests.values.first?.first)
        guard case .request(let joiner)? = workspace.authority[request]?.payload else {
            throw NodeError(.notFound, "no request")
        }
        let heads = try ForgedLog.heads(of: pair.ada)
        var log = ForgedLog(
            pair.keys.signing, like: known, under: try pair.hostileGrant(), incarnation: 1_000)
        let claim = log.write(
            .admit(
                joiner, keyID: try #require(workspace.currentKey).id, wraps: [], request: request),
            knowing: heads)
        try pair.removeMallory()
        var citing = eve.log
        let cited = citing.write(
            .createDocument(type: 1, nonce: [UInt8](repeating: 1, count: 16)),
            knowing: try pair.heads(and: [claim]))
        try pair.hand([cited, claim], as: eve.keys)
        #expect(try pair.ada.workspace().authority[claim.id] != nil)
    }

    @Test func `is granted by an admin all the same, and the newcomer reads`() throws {
        #expect(try pair.ada.requests().first?["state"] == "pending")
        #expect(try !pair.ada.memberNames().contains("Kim"))
        try pair.ada.send("before")
        let decided = try pair.ada.decide("join.approve")
        #expect(decided["state"] == "approved")
        pair.bench.advance(5_000)
        try pair.ada.send("after")
        pair.bench.advance(5_000)
        #expect(try kim.log() == pair.ada.log())
        #expect(try kim.log().contains("before"))
        #expect(try kim.ok("workspace.get")["role"] == "member")
        #expect(try kim.ok("channel.list").texts("name").contains("plans"))
        try kim.send("here I am")
        pair.bench.advance(5_000)
        #expect(try pair.bob.log().contains("here I am"))
        #expect(try kim.digest() == pair.ada.digest())
        #expect(try pair.ada.decisions() == 0)
        try pair.expectPeace()
    }
}

extension BenchNode {
    /// How many requests wait.
    fileprivate func decisions() throws -> Int {
        try requests().count { $0["state"] == "pending" }
    }
}
