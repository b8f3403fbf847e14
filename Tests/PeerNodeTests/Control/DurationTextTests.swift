import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `A length of time in words` {
    static let read: [(String, Int64?)] = [
        ("0ms", 0), ("0s", 0), ("0d", 0), ("1ms", 1), ("1s", 1_000), ("1m", 60_000),
        ("1h", 3_600_000), ("1d", 86_400_000), ("007s", 7_000), ("90m", 5_400_000),
        // The largest of each unit: 15 digits, or what fits in 63 bits.
        ("999999999999999ms", 999_999_999_999_999),
        ("999999999999999s", 999_999_999_999_999_000),
        ("153722867280912m", 9_223_372_036_854_720_000),
        ("153722867280913m", nil), ("2562047788015h", 9_223_372_036_854_000_000),
        ("2562047788016h", nil), ("106751991167d", 9_223_372_036_828_800_000),
        ("106751991168d", nil), ("1000000000000000ms", nil), ("0000000000000001s", nil),
        ("99999999999999999999999s", nil),
        // Nothing is guessed.
        ("1", nil), ("ms", nil), ("1 s", nil), (" 1s", nil), ("1s ", nil), ("1S", nil),
        ("1sec", nil), ("1mm", nil), ("1m30s", 90_000), ("1d2h3m4s5ms", 93_784_005),
        ("30s1m", nil), ("1m1m", nil), ("1h30", nil), ("106751991167d24h", nil), ("1w", nil),
        ("1y", nil), ("1.0s", nil),
        ("1e3ms", nil), ("0x1s", nil), ("１s", nil), ("1s\u{0}", nil), ("1µs", nil), ("-0s", nil),
    ]

    @Test(arguments: read.indices)
    func `is read exactly or not at all`(_ index: Int) {
        let (text, milliseconds) = Self.read[index]
        #expect(DurationText.milliseconds(text) == milliseconds, "\(text)")
    }

    static let written: [(Int64, String)] = [
        (0, "0ms"), (1, "1ms"), (999, "999ms"), (1_000, "1s"), (1_001, "1001ms"),
        (59_000, "59s"), (60_000, "1m"), (61_000, "61s"), (3_600_000, "1h"),
        (5_400_000, "90m"), (86_400_000, "1d"), (90_000_000, "25h"), (604_800_000, "7d"),
        (31_536_000_000, "365d"),
    ]

    @Test(arguments: written.indices)
    func `is written in the largest unit that is exact`(_ index: Int) {
        let (milliseconds, text) = Self.written[index]
        #expect(DurationText.text(milliseconds) == text)
        #expect(DurationText.milliseconds(text) == milliseconds)
    }

    @Test(arguments: Seeds.explore(20))
    func `comes back`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let unit: Int64 = [1, 1_000, 60_000, 3_600_000, 86_400_000][random.below(5)]
            let milliseconds = Int64(random.below(1_000_000)) * unit
            let text = DurationText.text(milliseconds)
            #expect(DurationText.milliseconds(text) == milliseconds, "WSX_SEED=\(seed)")
        }
    }
}

struct `A reference` {
    static let members: [(String, MemberReference?)] = [
        ("Mina", .name("Mina")), ("@Mina", .name("Mina")), ("@@Mina", .name("@Mina")),
        ("u_7k3qm2xa", .id("u_7k3qm2xa")), ("@u_7k3qm2xa", .id("u_7k3qm2xa")),
        ("u_7k3qm", .name("u_7k3qm")), ("U_7K3QM2XA", .name("U_7K3QM2XA")),
        ("u_7k3qm2x ", .name("u_7k3qm2x ")), ("#Mina", .name("#Mina")),
        ("c_7k3qm2xa", .name("c_7k3qm2xa")), ("", nil), ("@", nil), ("@ ", .name(" ")),
        // A mark on the sign belongs to the name, and the sign counts all the same.
        ("@\u{301}a", .name("\u{301}a")),
    ]

    @Test(arguments: members.indices)
    func `to a person is a name or an id`(_ index: Int) {
        let (text, expected) = Self.members[index]
        #expect(MemberReference(text) == expected)
    }

    static let workspaces: [(String, WorkspaceReference?)] = [
        ("acme", .name("acme")), ("w_123456", .id("w_123456")), ("w_12345", .name("w_12345")),
        ("W_123456", .name("W_123456")), ("@acme", .name("@acme")), ("#acme", .name("#acme")),
        ("", nil),
    ]

    @Test(arguments: workspaces.indices)
    func `to a workspace is a name or an id, without signs`(_ index: Int) {
        let (text, expected) = Self.workspaces[index]
        #expect(WorkspaceReference(text) == expected)
    }

    @Test func `to a channel takes anything for a name behind its sign`() {
        for name in ["c_9f04t1e", "@Mina", "#", "a b", "회의록", "\u{301}"] {
            #expect(ChannelReference("#" + name) == .name(name))
        }
        #expect(ChannelReference("u_7k3qm2xa") == .name("u_7k3qm2xa"), "no person's id")
        #expect(ChannelReference("@@a") == .direct(.name("@a")))
    }

    static let identifiers: [(String, Bool)] = [
        ("m_000000", true), ("m_00000", false), ("m_zzzzzz", true), ("m_00000Z", false),
        ("m_00000_", false), ("m_00000 ", false), ("M_000000", false), ("m000000", false),
        ("u_000000", false), ("m_회의", false), ("", false),
    ]

    @Test(arguments: identifiers.indices)
    func `is an id only in small letters and digits`(_ index: Int) {
        let (text, expected) = Self.identifiers[index]
        #expect(isIdentifier(text, prefix: "m_") == expected)
    }

    /// Whatever the text, it is read without a trap, and the id of a type never has two readings.
    @Test(arguments: Seeds.explore(20))
    func `is read the same way whatever the text`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["@", "#", "c_", "u_", "w_", "0", "z", "\u{301}", "\u{0}", "회", " ", "_"]
        for _ in 0..<300 {
            let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }
                .joined()
            let isEmpty = text.isEmpty
            #expect((WorkspaceReference(text) == nil) == isEmpty, "WSX_SEED=\(seed)")
            #expect(
                (MemberReference(text) == nil) == (isEmpty || text.utf8.elementsEqual("@".utf8)))
            if case .id(let id) = MemberReference(text) { #expect(id.hasPrefix("u_")) }
            if case .id(let id) = ChannelReference(text) {
                #expect(id.utf8.elementsEqual(text.utf8) && id.hasPrefix("c_"))
            }
        }
    }
}
