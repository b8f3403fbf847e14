import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The bytes of an edit` {
    static let key = MessageKey(timestamp: HybridTimestamp(rawValue: 1), idPrefix: 2)

    @Test func `are what the protocol says`() throws {
        let edit = NoteEdit(
            sources: [Self.key],
            changes: [
                .insert(left: nil, right: .init(source: 1, offset: 3), text: "hi"),
                .delete(.init(source: 0, offset: 1), count: 1),
                .mark(from: .init(source: 0, offset: 0), to: nil, .link("x:y")),
                .block(nil, .quote),
            ])
        let golden =
            "82" + "5000000000000000010000000000000002" + "84" + "84000008626869" + "83010301"
            + "8502010004" + "63783a79" + "83030003"
        #expect(edit.encoded == Vectors.bytes(hex: golden))
        #expect(try NoteEdit(decoding: edit.encoded) == edit)
    }

    @Test(arguments: [
        ("83010217", 23), ("8301021818", 24), ("83010218ff", 255), ("830102190100", 256),
        ("83010219ffff", 65_535),
    ])
    func `hold numbers of one to three bytes`(change: String, count: Int) throws {
        let key = "50" + "00000000000000010000000000000002"
        let bytes = try #require(Self.body(change, sources: key))
        let edit = try NoteEdit(decoding: bytes)
        #expect(edit.changes == [.delete(.init(source: 1, offset: 0), count: count)])
        #expect(edit.encoded == bytes)
    }

    @Test(arguments: [
        "8301021800",  // a number longer than it has to be
        "830102190017", "8301021a00000100",
        "8301021b0000000000000001",  // of eight bytes
        "83010218",  // cut off
        "8301021901",
        "8301025f",  // no number
        "8301021c",
    ])
    func `hold no number in another form`(change: String) throws {
        let key = "50" + "00000000000000010000000000000002"
        let bytes = try #require(Self.body(change, sources: key))
        #expect(throws: Malformed.self) { try NoteEdit(decoding: bytes) }
    }

    /// A body of the given changes, each in hexadecimal digits.
    static func body(_ changes: String..., sources: String = "40") -> [UInt8]? {
        let count = String(0x80 + changes.count, radix: 16)
        return Vectors.bytes(hex: "82" + sources + count + changes.joined())
    }

    @Test(arguments: [
        body("8400000060"),  // no text
        body("840000006107"),  // a bell
        body("84000000611b"),  // an escape
        body("8400000062c285"),  // a control character of two bytes
        body("8400000063efbfbe"),  // never assigned
        body("84000000620d0a"),  // a line end of another system
        body("8400000061ff"),  // no UTF-8
        body("8400010061" + "61"),  // its own text before it is there
        body("8400000061" + "61", "830101" + "02"),  // deletes more than it inserts
        body("8400000061" + "61", "83010100"),  // deletes nothing
        body("8400000061" + "61", "83010001"),  // deletes at no place
        body("8400000061" + "61", "8502000005f5"),  // a sixth mark
        body("8400000061" + "61", "850200000060"),  // bold with a text
        body("8400000061" + "61", "850200000460"),  // an empty address
        body("8400000061" + "61", "830300" + "06"),  // a seventh kind of line
        body("8400000061" + "61", "820400"),  // a fifth change
        body("8400000061" + "61", "8300000061" + "61"),  // an insert of three
        body(),  // no change
        body("8400000061" + "61", sources: "4100"),  // a part of a key
        body(
            "8400000061" + "61",
            sources: "5820" + String(repeating: "0000000000000001", count: 4)),  // twice one key
    ])
    func `are refused`(bytes: [UInt8]?) throws {
        let bytes = try #require(bytes)
        #expect(throws: Malformed.self) { try NoteEdit(decoding: bytes) }
    }

    @Test func `are refused beyond each bound`() {
        let one = NoteEdit.Change.insert(left: nil, right: nil, text: "a")
        let text = String(repeating: "a", count: NoteLimits.editBytesMax)
        let keys = (0...NoteLimits.sourcesMax).map {
            MessageKey(timestamp: HybridTimestamp(rawValue: UInt64($0)), idPrefix: 0)
        }
        let far = NoteEdit.Reference(source: 1, offset: NoteLimits.offsetsMax)
        for edit in [
            NoteEdit(
                sources: [], changes: Array(repeating: one, count: NoteLimits.changesMax + 1)),
            NoteEdit(sources: [], changes: [.insert(left: nil, right: nil, text: text)]),
            NoteEdit(sources: keys, changes: [one]),
            NoteEdit(sources: [Self.key], changes: [.insert(left: far, right: nil, text: "a")]),
            NoteEdit(
                sources: [Self.key],
                changes: [.delete(.init(source: 1, offset: 1), count: NoteLimits.offsetsMax)]),
        ] {
            #expect(throws: Malformed.self) { try edit.coded }
        }
        let most = NoteEdit(sources: Array(keys.dropLast()), changes: [one])
        #expect(throws: Never.self) { try most.coded }
    }

    @Test(arguments: Seeds.explore(300))
    func `come back, and changed bytes never trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let operations = `Edits of somebody who means harm`.invented(
            seed: seed, count: 3, targets: 3)
        for operation in operations {
            var bytes = operation.edit.encoded
            #expect(try NoteEdit(decoding: bytes) == operation.edit)
            bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(255))
            if let edit = try? NoteEdit(decoding: bytes) { #expect(edit.encoded == bytes) }
        }
    }
}
