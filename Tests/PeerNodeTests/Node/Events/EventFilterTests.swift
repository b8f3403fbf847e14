import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A glob over event types` {
    struct Row: Sendable, CustomTestStringConvertible {
        let glob: String
        let matching: [String]
        let others: [String]
        var testDescription: String { "'\(glob)'" }
    }

    static let rows = [
        Row(glob: "", matching: [""], others: ["a", "*"]),
        Row(glob: "*", matching: ["", "a", "message.created", "*"], others: []),
        Row(glob: "**", matching: ["", "a", "a.b"], others: []),
        Row(
            glob: "message.*", matching: ["message.created", "message.", "message.a.b"],
            others: ["message", "messages.x", "xmessage.created", "Message.created"]),
        Row(
            glob: "*.created", matching: ["message.created", ".created", "a.b.created"],
            others: ["created", "message.created2", "message.create"]),
        Row(
            glob: "message.created", matching: ["message.created"],
            others: ["message.created ", "message.create", "message_created", ""]),
        Row(
            glob: "*.*.*", matching: ["a.b.c", "..", "a.b.c.d"], others: ["a.b", "a", ""]),
        Row(glob: "a*b*c", matching: ["abc", "aXbYc", "abbc", "abcbc"], others: ["acb", "ab"]),
        Row(glob: "*ab", matching: ["ab", "aab", "abab"], others: ["aba", "b", "a"]),
        Row(glob: "a*a", matching: ["aa", "aba"], others: ["a", "ab", "baa"]),
        // No other sign means anything.
        Row(glob: "a?", matching: ["a?"], others: ["ab", "a"]),
        Row(glob: "[ab]", matching: ["[ab]"], others: ["a", "b"]),
        Row(glob: "a.b", matching: ["a.b"], others: ["axb"]),
        Row(glob: "\\*", matching: ["\\", "\\x"], others: ["*"]),
        Row(glob: "회*", matching: ["회의", "회"], others: ["의회"]),
    ]

    @Test(arguments: rows)
    func `matches by its stars alone`(_ row: Row) {
        for text in row.matching {
            #expect(EventFilter.matches(text, glob: row.glob), "\(text)")
        }
        for text in row.others {
            #expect(!EventFilter.matches(text, glob: row.glob), "\(text)")
        }
    }

    /// The definition, which is too slow for anybody outside.
    private func naive(_ text: ArraySlice<UInt8>, _ glob: ArraySlice<UInt8>) -> Bool {
        guard let first = glob.first else { return text.isEmpty }
        if first == UInt8(ascii: "*") {
            return naive(text, glob.dropFirst())
                || (!text.isEmpty && naive(text.dropFirst(), glob))
        }
        return text.first == first && naive(text.dropFirst(), glob.dropFirst())
    }

    @Test(arguments: Seeds.explore(20))
    func `matches exactly what the definition matches`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func word(_ letters: [UInt8], _ longest: Int) -> [UInt8] {
            (0..<random.below(longest + 1)).map { _ in letters[random.below(letters.count)] }
        }
        var matches = 0
        for _ in 0..<400 {
            let glob = word([UInt8]("ab*".utf8), 7)
            let text = word([UInt8]("ab".utf8), 9)
            let expected = naive(text[...], glob[...])
            let (textString, globString) = (
                String(decoding: text, as: UTF8.self), String(decoding: glob, as: UTF8.self)
            )
            #expect(
                EventFilter.matches(textString, glob: globString) == expected,
                "\(textString) \(globString) WSX_SEED=\(seed)")
            matches += expected ? 1 : 0
        }
        #expect(matches > 0, "the words are too different to test anything")
    }

    /// The definition would try about 60^20 ways.
    @Test func `of many stars is decided at once`() {
        let glob = String(repeating: "a*", count: 20) + "b"
        #expect(!EventFilter.matches(String(repeating: "a", count: 60), glob: glob))
    }
}

struct `A filter of events` {
    @Test func `without types and channels wants everything`() {
        let filter = EventFilter(types: [], documents: [])
        for type in EventType.allCases {
            #expect(filter.wants(type.word, document: nil))
            #expect(filter.wants(type.word, document: 3))
        }
    }

    @Test func `wants what any of its types matches`() {
        let filter = EventFilter(types: ["message.*", "member.joined"], documents: [])
        let wanted = EventType.allCases.filter { filter.wants($0.word, document: nil) }
        #expect(
            wanted == [
                .messageCreated, .messageRefused, .messageRestored, .messageDeleted,
                .messageEdited, .messagePinned, .messageUnpinned, .memberJoined,
            ])
    }

    @Test func `with channels wants nothing of another channel or of none`() {
        let filter = EventFilter(types: [], documents: [3, 5])
        #expect(filter.wants("message.created", document: 3))
        #expect(filter.wants("message.created", document: 5))
        #expect(!filter.wants("message.created", document: 4))
        #expect(!filter.wants("peer.connected", document: nil))
    }

    @Test func `with a workspace wants nothing of another, and what is of none`() {
        let filter = EventFilter(types: [], workspace: 2, documents: [])
        #expect(filter.wants("message.created", in: 2, document: 3))
        #expect(filter.wants("node.warning", document: nil))
        #expect(!filter.wants("message.created", in: 1, document: 3))
    }

    @Test func `with both wants what fits both`() {
        let filter = EventFilter(types: ["channel.*"], documents: [3])
        #expect(filter.wants("channel.edited", document: 3))
        #expect(!filter.wants("channel.edited", document: 4))
        #expect(!filter.wants("message.created", document: 3))
    }
}

struct `The list of event types` {
    /// Numbers are in stores on disk and words in other people's programs: both are permanent.
    @Test func `keeps its numbers and words`() {
        let rows: [(Int64, String)] = [
            (1, "workspace.created"), (2, "workspace.joined"), (10, "channel.created"),
            (11, "channel.edited"), (12, "channel.member_added"), (13, "channel.member_removed"),
            (20, "message.created"), (24, "star.changed"), (25, "reminder.due"),
            (30, "member.joined"), (40, "invite.created"),
            (41, "invite.used"), (42, "invite.revoked"), (50, "peer.connected"),
            (51, "peer.disconnected"), (52, "sync.caught_up"), (53, "peer.discovered"),
            (60, "fork.found"), (61, "store.restored"), (70, "device.added"),
            (71, "device.revoked"), (72, "member.key_changed"), (73, "device.renamed"),
            (100, "order.created"), (101, "order.granted"), (102, "order.paid"),
            (103, "order.voided"), (104, "order.reopened"), (110, "spend.created"),
            (111, "spend.overturned"), (112, "spend.restored"), (113, "spend.refunded"),
            (120, "attestation.added"), (121, "attestation.replaced"),
            (122, "attestation.ended"), (123, "account.linked"), (124, "account.unlinked"),
        ]
        for (number, word) in rows { #expect(EventType(rawValue: number)?.word == word) }
        #expect(Set(EventType.allCases.map(\.word)).count == EventType.allCases.count)
    }

    @Test func `has words of two parts in small letters`() {
        for type in EventType.allCases {
            let parts = type.word.split(separator: ".", omittingEmptySubsequences: false)
            #expect(parts.count == 2)
            for part in parts {
                #expect(!part.isEmpty)
                #expect(part.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) })
            }
        }
    }
}
