import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A former admin of a private channel could, with a modified program, write as if from before
/// leaving: nothing counts that the leave does not know.
struct `An admin who has left a private channel` {
    private typealias Table = `Private channels`.Table

    private func table(role: String) throws -> Table {
        let table = try Table()
        try table.ada.ok("channel.create", ["name": "vault", "private": true])
        try table.ada.ok("channel.add", ["channel": "vault", "members": ["@Bob"]])
        try table.ada.ok(
            "channel.role", ["channel": "vault", "member": "@Bob", "role": .string(role)])
        table.bench.advance(5_000)
        return table
    }

    private func people(_ table: Table) throws -> [String] {
        try table.ada.ok("channel.members", ["channel": "vault"]).texts("name").sorted()
    }

    @Test func `is removed by name, once`() throws {
        let table = try table(role: "admin")
        try table.bob.ok("channel.leave", ["channel": "vault"])
        table.bench.advance(5_000)
        #expect(try people(table) == ["Ada"])
        try table.ada.ok("channel.remove", ["channel": "vault", "members": ["@Bob"]])
        let again = try table.ada.refused(
            "channel.remove", ["channel": "vault", "members": ["@Bob"]])
        #expect(again.reason == "channel.not_in")
    }

    /// What Bob's phone does, which has heard of nothing, is what a changed program would sign later.
    @Test(arguments: [false, true])
    func `and is removed lets nobody in any more`(isRemoved: Bool) throws {
        let table = try table(role: "admin")
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(10_000)
        for node in [table.ada, table.bob, table.cleo] { table.bench.cut(phone, node) }
        try phone.ok("channel.add", ["channel": "vault", "members": ["@Cleo"]])
        try table.bob.ok("channel.edit", ["channel": "vault", "topic": "farewell"])
        try table.bob.ok("channel.leave", ["channel": "vault"])
        table.bench.advance(5_000)
        if isRemoved {
            try table.ada.ok("channel.remove", ["channel": "vault", "members": ["@Bob"]])
        }
        for node in [table.ada, table.bob, table.cleo] { table.bench.heal(phone, node) }
        table.bench.advance(20_000)
        #expect(try people(table) == ["Ada"])
        #expect(try table.ada.digest() == table.cleo.digest())
    }

    @Test func `who was a member is not there to be removed`() throws {
        let table = try table(role: "member")
        try table.bob.ok("channel.leave", ["channel": "vault"])
        table.bench.advance(5_000)
        let failure = try table.ada.refused(
            "channel.remove", ["channel": "vault", "members": ["@Bob"]])
        #expect(failure.reason == "channel.not_in")
    }

    /// Who owned it was out of the workspace, and is in the channel again as a member.
    @Test func `whose owner is out leads nothing more, and is told why`() throws {
        let table = try table(role: "admin")
        let dora = try table.bench.guest("Dora", of: table.ada)
        try table.bob.ok("channel.create", ["name": "nest", "private": true])
        try table.bob.ok("channel.add", ["channel": "nest", "members": ["@Cleo"]])
        try table.bob.ok(
            "channel.role", ["channel": "nest", "member": "@Cleo", "role": "admin"])
        table.bench.advance(5_000)
        try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        table.bench.advance(20_000)
        try table.bob.comeBack(to: table.ada, in: table.bench)
        table.bench.advance(20_000)
        try table.cleo.ok("channel.add", ["channel": "nest", "members": ["@Bob"]])
        table.bench.advance(5_000)
        let failure = try table.cleo.refused("channel.delete", ["channel": "nest"])
        #expect(failure.kind == .forbidden && failure.reason == "channel.ownerless", "\(failure)")
        try table.cleo.ok("channel.add", ["channel": "nest", "members": ["@Dora"]])
        withExtendedLifetime(dora) {}
    }
}
