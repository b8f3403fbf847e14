import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

struct `An opening message` {
    private func isTaken(_ golden: String) -> Bool {
        (try? SyncMessage.decoded(SyncMessageSamples.bytes(golden))) != nil
    }

    static let refused: [(String, String)] = [
        ("ws_open with three pairs", "01 a3 0101 02 50 7a*16 03 5820 40*32"),
        (
            "ws_open with another key 4",
            "01 a5 0101 02 50 7a*16 03 5820 40*32 05 5820 4d*32 06 5820 4d*32"
        ),
        ("ws_open with a tag of 15", "01 a4 0101 02 4f 7a*15 03 5820 40*32 05 5820 4d*32"),
        ("ws_open with a root of 31", "01 a4 0101 02 50 7a*16 03 581f 40*31 05 5820 4d*32"),
        (
            "ws_open with a number of 33 bits",
            "01 a4 01 1b0000000100000000 02 50 7a*16 03 5820 40*32 05 5820 4d*32"
        ),
        ("ws_result 0", "02 a2 01 50 7a*16 02 00"), ("ws_result 4", "02 a2 01 50 7a*16 02 04"),
        ("join1 with a short proof", "03 a2 01 50 11*16 02 583f 51*63"),
        (
            "join2 whose devices are no list",
            "04 a5 01 5820 0e*32 02 50 33*16 03 01 04 5840 51*64 05 63 416461"
        ),
        (
            "join2 without a name's end",
            "04 a5 01 5820 0e*32 02 50 33*16 03 8101 04 5840 51*64 05 63 4164"
        ),
        (
            "join2 with a name that is no UTF-8",
            "04 a5 01 5820 0e*32 02 50 33*16 03 8101 04 5840 51*64 05 62 ff41"
        ),
        ("join_result 7", "05 a1 01 07"), ("join_result empty", "05 a0"),
        ("join_result with key 5", "05 a2 01 01 05 5820 d0*32"),
        ("join_result out of order", "05 a3 01 01 04 5820 0e*32 02 5820 d0*32"),
        ("join_result twice", "05 a3 01 01 02 5820 d0*32 02 5820 d0*32"),
        ("ping with 1 for yes", "30 a2 01 01 02 01"), ("ping of one pair", "30 a1 01 01"),
        ("peers without records", "31 a1 0102"),
        ("peers with three fields", "31 a2 0102 02 81 83 5820 de*32 07 80"),
        ("error without a wait", "3f a1 01 61 78"),
        ("digest of 4,095 bytes", "10 a2 0102 02 590fff bb*4095"),
        ("digest of 4,097 bytes", "10 a2 0102 02 591001 bb*4097"),
        ("fork_probe of five pairs", "17 a5 0102 02 5820 d0*32 03 5820 de*32 04 01 05 01"),
    ]

    @Test(arguments: refused.indices)
    func `is refused when a part is missing, strange or too short`(_ index: Int) {
        #expect(!isTaken(Self.refused[index].1), "\(Self.refused[index].0)")
    }

    @Test(arguments: WorkspaceRefusal.allCases)
    func `refuses a workspace with each code`(_ refusal: WorkspaceRefusal) throws {
        let message = SyncMessage.workspaceResult(tag: SyncMessageSamples.tag, refusal)
        #expect(try SyncMessage.decoded(message.encoded()) == message)
    }

    @Test(arguments: JoinResult.Code.allCases)
    func `ends a join with each code and any of its parts`(_ code: JoinResult.Code) throws {
        for parts in 0..<8 {
            let result = JoinResult(
                code: code, workspace: parts & 1 == 0 ? nil : SyncMessageSamples.document,
                tips: parts & 2 == 0 ? nil : [SyncMessageSamples.tip],
                admission: parts & 4 == 0 ? nil : SyncMessageSamples.operation)
            let message = SyncMessage.joinResult(result)
            #expect(try SyncMessage.decoded(message.encoded()) == message)
        }
    }

    @Test func `keeps its numbers permanently`() {
        #expect(WorkspaceRefusal.allCases.map(\.rawValue) == [1, 2, 3])
        #expect(JoinResult.Code.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `takes a joiner's name of 256 bytes and none of 257`() {
        for (count, isTaken) in [(0, true), (256, true), (257, false)] {
            let request = JoinRequest(
                invite: SyncMessageSamples.operation,
                member: MemberID([UInt8](repeating: 3, count: 16)), devices: [0x80],
                proof: SyncMessageSamples.signature, name: String(repeating: "n", count: count))
            let bytes = SyncMessage.joinRequest(request).encoded()
            #expect(((try? SyncMessage.decoded(bytes)) != nil) == isTaken, "\(count)")
        }
    }

    @Test func `takes an error's code of 64 bytes and none of 65`() {
        for (count, isTaken) in [(0, true), (64, true), (65, false)] {
            let code = String(repeating: "c", count: count)
            let bytes = SyncMessage.error(code: code, retryAfterMilliseconds: .max).encoded()
            #expect(((try? SyncMessage.decoded(bytes)) != nil) == isTaken, "\(count)")
        }
    }

    @Test func `takes 16 addresses of 260 bytes and not one more of either`() {
        for (number, length, isTaken) in [
            (0, 0, true), (16, 260, true), (17, 1, false), (1, 261, false),
        ] {
            let address = String(repeating: "a", count: length)
            let record = AddressRecord(
                device: SyncMessageSamples.device, at: .max,
                addresses: [String](repeating: address, count: number),
                signature: SyncMessageSamples.signature)
            let message = SyncMessage.peers(.max, [record, record])
            let decoded = try? SyncMessage.decoded(message.encoded())
            #expect((decoded == message) == isTaken, "\(number) of \(length)")
        }
    }

    @Test func `takes a book of 2 048 records, 256 wishes, and not one more of either`() {
        for (entries, wants, isTaken) in [
            (0, 0, true), (2_048, 256, true), (2_049, 0, false), (0, 257, false),
        ] {
            let entry = AddressBookUpdate.Entry(SyncMessageSamples.device, at: .max)
            let message = SyncMessage.book(
                .max,
                AddressBookUpdate(
                    .zero, entries: [AddressBookUpdate.Entry](repeating: entry, count: entries),
                    wants: [DeviceName](repeating: entry.name, count: wants)))
            let decoded = try? SyncMessage.decoded(message.encoded())
            #expect((decoded == message) == isTaken, "\(entries) and \(wants)")
        }
    }

    @Test func `takes the names of 2 048 devices that are reached, and not one more`() {
        for (come, gone, isTaken) in [(2_048, 2_048, true), (2_049, 0, false), (0, 2_049, false)] {
            let name = DeviceName(of: SyncMessageSamples.device)
            let message = SyncMessage.reach(
                .max,
                ReachUpdate(
                    come: [DeviceName](repeating: name, count: come),
                    gone: [DeviceName](repeating: name, count: gone)))
            let decoded = try? SyncMessage.decoded(message.encoded())
            #expect((decoded == message) == isTaken, "\(come) and \(gone)")
        }
    }

    /// What a device signs of its addresses is what everybody else checks.
    @Test func `signs a record's fields without its signature`() {
        let record = AddressRecord(
            device: SyncMessageSamples.device, at: 7, addresses: ["[::1]:7"],
            signature: SyncMessageSamples.signature)
        #expect(
            record.signedBytes
                == SyncMessageSamples.bytes("83 5820 de*32 07 81 67 5b3a3a315d3a37"))
    }

    @Test(arguments: Seeds.explore(15))
    func `of a workspace comes back whatever its values`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let opening = WorkspaceOpening(
            workspace: UInt32(truncatingIfNeeded: random.next() >> random.below(64)),
            tag: WorkspaceTag(random.bytes(16)), root: SetDigest(random.bytes(32)),
            agreedRoot: random.oneIn(2) ? nil : SetDigest(random.bytes(32)),
            mine: SetDigest(random.bytes(32)))
        let message = SyncMessage.workspaceOpen(opening)
        #expect(try SyncMessage.decoded(message.encoded()) == message, "WSX_SEED=\(seed)")
        #expect(message.encoded().count <= 160, "the cheapest conversation stays cheap")
    }
}

struct `A violation` {
    static let rows: [(SyncViolation, String)] = [
        (.malformed(type: 1, Malformed(.truncated, at: 0)), "sync.malformed"),
        (.malformed(type: 1, Malformed(.depthExceeded, at: 0)), "sync.too_deep"),
        (.unknownMessage(type: 7), "sync.unsupported"), (.emptyMessage, "frame.bad_fragment"),
        (.badFragment, "frame.bad_fragment"), (.messageTooLarge, "sync.too_large"),
        (.unasked, "sync.unasked"), (.outOfTurn, "sync.out_of_turn"),
        (.tooMany, "sync.too_many"), (.unresponsive, "sync.unresponsive"),
    ]

    @Test(arguments: rows.indices)
    func `has a stable word that fits an error message`(_ index: Int) {
        let (violation, word) = Self.rows[index]
        #expect(violation.code == word)
        #expect(word.utf8.count <= SyncMessage.errorCodeBytesMax)
    }
}
