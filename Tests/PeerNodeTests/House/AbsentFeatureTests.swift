import Foundation
import Testing

@testable import PeerNode

/// The README lists exactly the missing features.
struct `The list of what is not there yet` {
    /// Every method of the contract, by its group, whether it is there or not. What the five apps do
    /// that the program takes the place of is done by some of them.
    static let contract: [String: String] = [
        "rpc": "hello discover methods cancel",
        "node": "version status doctor stop reload metrics",
        "home": "get",
        "identity": "create show recover email.check passphrase.change",
        "email": "verify.send verify.resend verify.confirm",
        "session": "unlock logout status",
        "lock": "set change remove now unlock status",
        "device": "list link revoke",
        "account": "link unlink links",
        "profile": "get set image.set image.clear of",
        "presence": "set clear list",
        "typing": "send",
        "workspace": "create list get select edit delete join leave transfer successor.set",
        "invite": "create list revoke accept decline",
        "join": "requests approve reject",
        "member": "list role remove status",
        "channel": "create list find get join leave edit "
            + "transfer delete archive unarchive members add remove role",
        "message": "send history get edit delete react pin unpin holders",
        "read": "mark",
        "unread": "get",
        "dm": "open list",
        "blob": "put get stat add holders keep drop",
        "attachment": "save",
        "note": "list create get edit rename delete watch lock unlock",
        "user": "find",
        "events": "subscribe wait ack names unsubscribe",
        "sync": "status now wait",
        "bundle": "export import",
        "peer": "list add remove ping block",
        "net": "status suspend resume",
        "token": "create list revoke",
        "hook": "create list test revoke",
        "gateway": "list set",
        "import": "start status",
        "export": "start",
        "backup": "create verify restore",
        "cache": "stat clear keep",
        "media": "list policy",
        "config": "get set list",
        "notify": "get set",
        "ui": "pref.get pref.set",
        "coin": "balance",
        "store": "list buy validate grant",
    ]

    private static let methods = contract.flatMap { group, names in
        names.split(separator: " ").map { "\(group).\($0)" }
    }.sorted()

    /// What stands between backticks in the table: names of methods, and groups as `note.*`.
    private static func listed() throws -> [String] {
        let parts = try SourceTree.text("README.md").components(separatedBy: "\n## ")
        let section = try #require(parts.first { $0.hasPrefix("Not there yet\n") })
        let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
        return rows.flatMap { row in
            row.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
                .map(\.element)
        }
    }

    /// Whether an entry of the table means a method.
    private static func means(_ entry: String, _ method: String) -> Bool {
        entry.hasSuffix(".*") ? method.hasPrefix(entry.dropLast()) : entry == method
    }

    @Test func `names no command that is there`() throws {
        let listed = try Self.listed()
        #expect(listed.count > 10)
        for entry in listed {
            let there = Command.all.map(\.name).filter { Self.means(entry, $0) }
            #expect(there.isEmpty, "\(entry) is listed as missing, and there is \(there)")
        }
    }

    @Test func `names every method of the contract that has no command`() throws {
        let listed = try Self.listed()
        let there = Set(Command.all.map(\.name))
        try #require(Self.methods.count > 130)
        for method in Self.methods where !there.contains(method) {
            #expect(
                listed.contains { Self.means($0, method) }, "\(method) is neither there nor listed")
        }
    }

    @Test func `names nothing that nobody promised`() throws {
        for entry in try Self.listed() {
            #expect(
                Self.methods.contains { Self.means(entry, $0) }, "\(entry) is not in the contract")
        }
    }
}
