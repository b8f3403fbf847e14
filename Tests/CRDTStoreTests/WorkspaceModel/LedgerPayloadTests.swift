import Testing
import WorkspaceModel

/// One payload of each ledger type, as long and as short as possible, with bytes written by hand
/// from PROTOCOL.md, 3.2.
struct `Content of a ledger` {
    private static let key = MessageKey(
        timestamp: HybridTimestamp(rawValue: 1 << 48 + 5), idPrefix: 0x0102_0304_0506_0708)
    private static let spelledKey = "82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08"

    static let samples: [(LedgerContent, String)] = [
        (.opening(name: "coins"), "82 14 a1 01 65 63 6f 69 6e 73"),
        (
            .item("s", .init(label: "Small", coins: 100, price: "5 EUR")),
            "82 15 a4 01 61 73 02 65 53 6d 61 6c 6c 03 18 64 04 65 35 20 45 55 52"
        ),
        (.item("s", nil), "82 15 a1 01 61 73"),
        (.workspacePrice(Limits.ledgerCoinsMax), "82 16 a1 01 1b 00 1f ff*6"),
        (.workspacePrice(nil), "82 16 a0"),
        (.order(of: key, amount: 1_000), "82 17 a2 01 \(spelledKey) 02 19 03 e8"),
        (
            .grant(.init(order: key, billing: "ch_1", coins: 100, paidAt: 1_795_150_800_123)),
            "82 18 18 a4 01 \(spelledKey) 02 64 63 68 5f 31 03 18 64 04 1b 00 00 01 a1 f7 53 64 fb"
        ),
        (
            .spend(
                .init(
                    coins: 60, purpose: "w",
                    workspace: PaidWorkspace([UInt8](repeating: 7, count: 16)))),
            "82 18 19 a3 01 18 3c 02 61 77 03 50 07*16"
        ),
        (.spend(.init(coins: 1, purpose: "x")), "82 18 19 a2 01 01 02 61 78"),
        (.refund(of: key), "82 18 1a a1 01 \(spelledKey)"),
        (.void(order: key), "82 18 1b a1 01 \(spelledKey)"),
        (
            .payment(
                in: WorkspaceID([UInt8](repeating: 1, count: 32)),
                ledger: DocumentID([UInt8](repeating: 2, count: 32)), spend: key),
            "82 18 1c a3 01 58 20 01*32 02 58 20 02*32 03 \(spelledKey)"
        ),
    ]

    @Test(arguments: samples.indices)
    func `has these bytes, and no others`(index: Int) throws {
        let (content, notation) = Self.samples[index]
        let payload = ContentPayload.ledger(content)
        let bytes = spelled(notation)
        #expect(payload.encoded == bytes, "\(content)")
        #expect(try ContentPayload(decoding: bytes) == payload, "\(content)")
        for count in 0..<bytes.count {
            #expect(throws: Malformed.self) { try ContentPayload(decoding: Array(bytes[..<count])) }
        }
        #expect(throws: Malformed.self) { try ContentPayload(decoding: bytes + [0]) }
    }

    /// Keys from 32 on are a later version's.
    @Test func `passes over what a later version adds`() throws {
        let bytes = spelled("82 18 1a a2 01 \(Self.spelledKey) 18 20 63 6e 65 77")
        #expect(try ContentPayload(decoding: bytes) == .ledger(.refund(of: Self.key)))
    }

    @Test(arguments: [
        // No name, no coins, more coins than are exact, nothing ordered, and more than can be.
        "82 14 a1 01 60", "82 14 a1 01 61 00", "82 14 a0", "82 16 a1 01 00",
        "82 16 a1 01 1b 00 20 00*6", "82 16 a1 01 1b ff*8", "82 16 a1 01 f6",
        "82 17 a2 01 \(spelledKey) 02 00", "82 17 a2 01 \(spelledKey) 02 19 03 e9",
        // An offer has all three, or none.
        "82 15 a2 01 61 73 02 61 6c", "82 15 a3 01 61 73 02 61 6c 03 01",
        "82 15 a3 01 61 73 03 01 04 61 70", "82 15 a4 01 61 73 02 60 03 01 04 61 70",
        "82 15 a4 01 60 02 61 6c 03 01 04 61 70", "82 15 a4 01 61 73 02 61 6c 03 00 04 61 70",
        // A grant names its payment; a spend says what for, and a workspace by 16 bytes.
        "82 18 18 a4 01 \(spelledKey) 02 60 03 01 04 00",
        "82 18 18 a3 01 \(spelledKey) 02 61 62 03 01", "82 18 19 a2 01 01 02 60",
        "82 18 19 a3 01 01 02 61 78 03 4f 07*15", "82 18 19 a1 01 01",
        "82 18 1a a1 01 82 00 47 00*7", "82 18 1b a0", "82 18 1c a1 01 58 20 01*32",
        "82 18 1d a1 01 \(spelledKey)",
    ])
    func `has one form`(_ notation: String) {
        let bytes = spelled(notation)
        #expect(throws: Malformed.self) { try ContentPayload(decoding: bytes) }
    }

    @Test(arguments: [
        (20, Limits.ledgerTextBytesMax), (21, Limits.ledgerItemBytesMax),
        (24, Limits.ledgerBillingBytesMax),
    ])
    func `holds a text at its limit and not above`(_ type: Int, _ most: Int) throws {
        func content(_ text: String) -> LedgerContent {
            switch type {
            case 20: .opening(name: text)
            case 21: .item(text, nil)
            default: .grant(.init(order: Self.key, billing: text, coins: 1, paidAt: 0))
            }
        }
        let full = ContentPayload.ledger(content(String(repeating: "x", count: most)))
        #expect(try ContentPayload(decoding: full.encoded) == full)
        let over = ContentPayload.ledger(content(String(repeating: "x", count: most + 1))).encoded
        #expect(throws: Malformed.self) { try ContentPayload(decoding: over) }
    }
}
