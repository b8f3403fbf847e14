import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `An id that people see` {
    static let counting = [UInt8](0..<32)
    static let countingText = "000g40r40m30e209185gr38e1w"

    @Test func `has the letter of its type and the first 16 bytes in base32`() {
        let long = Self.counting
        let rows: [(String, String)] = [
            (PublicID.workspace(WorkspaceID(long)), "w_"),
            (PublicID.channel(DocumentID(long)), "c_"),
            (PublicID.device(DeviceID(long)), "d_"),
            (PublicID.invite(OperationID(long)), "i_"),
            (PublicID.operation(OperationID(long)), "o_"),
            (PublicID.member(MemberID([UInt8](0..<16))), "u_"),
        ]
        for (text, prefix) in rows { #expect(text == prefix + Self.countingText) }
    }

    struct Golden: Sendable, CustomTestStringConvertible {
        let timestamp: UInt64
        let prefix: UInt64
        let text: String
        var testDescription: String { text }
    }

    /// Computed by another implementation of the same alphabet.
    static let golden = [
        Golden(timestamp: 0, prefix: 0, text: "m_00000000000000000000000000"),
        Golden(timestamp: .max, prefix: .max, text: "m_zzzzzzzzzzzzzzzzzzzzzzzzzw"),
        Golden(
            timestamp: 0x0191_a2b3_c4d5_0007, prefix: 0x1122_3344_5566_7788,
            text: "m_068t5cy4tm00e4926d25askqh0"),
    ]

    @Test(arguments: golden)
    func `of a message is its time and the start of its id`(_ row: Golden) {
        let key = MessageKey(
            timestamp: HybridTimestamp(rawValue: row.timestamp), idPrefix: row.prefix)
        #expect(PublicID.message(key) == row.text)
        #expect(PublicID.messageKey(row.text) == key)
    }

    @Test(arguments: Seeds.explore(20))
    func `of a message comes back, sorts by time, and is well-formed`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func key() -> MessageKey {
            let time = random.oneIn(3) ? UInt64(random.below(3)) : random.next()
            return MessageKey(
                timestamp: HybridTimestamp(rawValue: time), idPrefix: random.next())
        }
        for _ in 0..<40 {
            let (left, right) = (key(), key())
            let (leftText, rightText) = (PublicID.message(left), PublicID.message(right))
            #expect(PublicID.messageKey(leftText) == left, "WSX_SEED=\(seed)")
            #expect(isIdentifier(leftText, prefix: "m_"), "WSX_SEED=\(seed)")
            #expect((left < right) == (leftText < rightText), "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `gives its 16 bytes back`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(16)
        let text = PublicID.member(MemberID(bytes))
        #expect(PublicID.bytes(text, prefix: "u_") == bytes, "WSX_SEED=\(seed)")
        #expect(PublicID.bytes(text.uppercased(), prefix: "U_") == bytes, "read aloud")
        #expect(PublicID.bytes(text, prefix: "w_") == nil, "another type")
        #expect(text.utf8.count == 28)
    }

    static let refused = [
        "", "m_", "m", "_", "m_0", "m_0000000000000000000000000",
        "m_000000000000000000000000000", "m_0000000000000000000000000u",
        "m_00000000000000000000000001", "m_0000000000000 00000000000",
        " m_00000000000000000000000000", "m_00000000000000000000000000\n",
        "u_00000000000000000000000000", "m-00000000000000000000000000",
        "m_" + String(repeating: "0", count: 100_000), "m_회의회의회의회의회",
    ]

    @Test(arguments: refused)
    func `of a message is nothing else`(_ text: String) {
        #expect(PublicID.messageKey(text) == nil)
    }

    @Test func `takes the first 8 bytes of an operation's id for a message`() {
        #expect(OperationID(Self.counting).messagePrefix == 0x0001_0203_0405_0607)
    }
}
