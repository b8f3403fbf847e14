import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

struct `The column of payloads that are not there` {
    private static func run(_ count: Int, absent: Set<Int>) -> OperationRun {
        OperationRun(
            log: LogName(
                document: DocumentID([UInt8](repeating: 1, count: 32)),
                device: DeviceID([UInt8](repeating: 2, count: 32)), incarnation: 3),
            firstSequence: 4, previous: OperationID([UInt8](repeating: 8, count: 32)),
            entries: (0..<count).map { place in
                let isAbsent = absent.contains(place)
                return OperationRun.Entry(
                    kind: 1, timestamp: HybridTimestamp(rawValue: UInt64(place + 1)),
                    grant: OperationID([UInt8](repeating: 5, count: 32)), keyID: nil,
                    dependencies: [], payload: isAbsent ? [] : [UInt8](repeating: 6, count: place),
                    absent: isAbsent
                        ? .init(
                            length: 100 + place,
                            hash: PayloadHash([UInt8](repeating: UInt8(place), count: 32))) : nil,
                    signature: Signature([UInt8](repeating: 7, count: 64)))
            })
    }

    private static func message(_ run: OperationRun) -> SyncMessage {
        .operations(1, request: 2, [run], isComplete: true)
    }

    @Test(arguments: [[], [0], [3], [0, 1, 2, 3], [1, 3]] as [Set<Int>])
    func `comes back as it was sent`(_ absent: Set<Int>) throws {
        let sent = Self.message(Self.run(4, absent: absent))
        let bytes = sent.encoded()
        #expect(try SyncMessage.decoded(bytes) == sent)
        guard case .operations(_, _, let runs, _) = sent else { return }
        #expect(bytes.count <= runs[0].encodedBytesMax + 64)
    }

    @Test func `is not there where nothing is absent`() {
        let bytes = Self.message(Self.run(2, absent: [])).encoded()
        // The array of columns stands behind the log's 69 bytes of names and small heads.
        #expect(bytes.contains(0x88))
        #expect(!bytes.contains(0x89))
        #expect(Self.message(Self.run(2, absent: [1])).encoded().contains(0x89))
    }

    @Test func `is refused empty, out of order, and beside a payload`() throws {
        let good = Self.message(Self.run(2, absent: [0])).encoded()
        // The column: array of one, array of three, place 0, length 100, 32 bytes.
        let column: [UInt8] = [0x81, 0x83, 0x00, 0x18, 0x64, 0x58, 0x20]
        let start = try #require(
            good.indices.dropLast(column.count).first {
                good[$0..<$0 + column.count].elementsEqual(column)
            })
        let hash = Array(good[start + 7..<start + 39])
        func replaced(_ other: [UInt8]) -> [UInt8] {
            Array(good[..<start]) + other + Array(good[(start + 39)...])
        }
        #expect(try SyncMessage.decoded(replaced(column + hash)) != nil)
        func entry(_ place: UInt8, _ length: [UInt8] = [0x18, 0x64]) -> [UInt8] {
            var bytes: [UInt8] = [0x83, place]
            bytes += length
            bytes += [0x58, 0x20]
            return bytes + hash
        }
        func list(_ entries: [[UInt8]]) -> [UInt8] {
            [0x80 | UInt8(entries.count)] + entries.flatMap { $0 }
        }
        let wrong: [[UInt8]] = [
            list([]), list([entry(0), entry(0)]), list([entry(1)]), list([entry(2)]),
            list([entry(0, [0x1a, 0x00, 0x10, 0x00, 0x00])]), list([entry(0), entry(1)]),
            [0x81, 0x82, 0x00, 0x18, 0x64],
        ]
        for column in wrong {
            #expect(throws: SyncViolation.self, "\(column.prefix(8))") {
                try SyncMessage.decoded(replaced(column))
            }
        }
    }

    @Test func `has messages beside it that ask for payloads and bring them`() throws {
        let reference = OperationReference(
            device: DeviceID([UInt8](repeating: 2, count: 32)), incarnation: 3, sequence: 4,
            id: OperationID([UInt8](repeating: 8, count: 32)))
        let document = DocumentID([UInt8](repeating: 1, count: 32))
        let have = SyncMessage.payloadHave(
            PayloadHave(
                workspace: 1, document: document, operation: reference,
                payload: [UInt8](repeating: 9, count: Limits.payloadBytesMax)))
        #expect(try SyncMessage.decoded(have.encoded()) == have)
        // Those who do not know them pass over what begins like this.
        #expect(have.type >= 0x80)
        func want(_ references: [OperationReference]) -> [UInt8] {
            SyncMessage.payloadWant(
                PayloadWant(workspace: 1, document: document, operations: references)
            ).encoded()
        }
        #expect(try SyncMessage.decoded(want([reference])) != nil)
        for wrong in [[], [reference, reference]] as [[OperationReference]] {
            #expect(throws: SyncViolation.self) { try SyncMessage.decoded(want(wrong)) }
        }
        let many = (0...Limits.payloadsPerWantMax).map { number in
            OperationReference(
                device: reference.device, incarnation: 3, sequence: UInt64(number),
                id: OperationID([UInt8](repeating: UInt8(number), count: 32)))
        }
        #expect(try SyncMessage.decoded(want(Array(many.dropLast()))) != nil)
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(want(many)) }
    }
}
