import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// The refusal of a run, or `nil` when it is accepted.
func refusal(of run: OperationRun, after link: ChainLink? = nil) -> Rejection? {
    do {
        _ = try OperationChecks.check(run, after: link)
        return nil
    } catch { return error }
}

extension WrittenLog {
    /// What an operation at `sequence` has to build on.
    func link(before sequence: Int) -> ChainLink? {
        guard sequence > 0 else { return nil }
        let operation = operations[sequence - 1]
        return ChainLink(id: operation.id, timestamp: operation.header.timestamp)
    }
}

extension OperationRun {
    /// Makes the signatures at these places those of somebody who guesses.
    func withGarbage(at places: some Sequence<Int>) -> OperationRun {
        var run = self
        for place in places {
            var bytes = run.entries[place].signature.bytes
            bytes[0] ^= 1
            run.entries[place].signature = Signature(bytes)
        }
        return run
    }
}

struct `A run of operations` {
    static let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    private static func log(_ count: Int) -> WrittenLog {
        var log = WrittenLog(by: TestDevice(1), in: document)
        log.writeMany(count)
        return log
    }

    @Test func `is rebuilt as its author signed it`() throws {
        var log = WrittenLog(foundedBy: TestDevice(1))
        log.write(AuthorityPayload.deleteWorkspace.encoded, kind: .authority)
        let checked = try OperationChecks.check(log.run, after: nil)
        #expect(checked.map(\.header) == log.operations.map(\.header))
        #expect(checked.map(\.id) == log.operations.map(\.id))
        #expect(checked.map(\.signature) == log.operations.map(\.signature))
        #expect(checked.map(\.payload) == log.operations.map(\.payload))
        #expect(checked[1].authority == .deleteWorkspace)
        #expect(checked.last?.link == log.link(before: 2))
        #expect(checked.map(\.isSignatureVerified) == [true, true])
    }

    // Each is copied several times on its way into the store.
    @Test func `is made of small values, but for what few have`() {
        #expect(MemoryLayout<CheckedOperation>.size <= 384)
    }

    @Test func `is verified by its last signature alone`() throws {
        let checked = try OperationChecks.check(Self.log(20).run, after: nil)
        #expect(checked.map(\.isSignatureVerified) == [Bool](repeating: false, count: 19) + [true])
        #expect(checked.allSatisfy { $0.authority == nil })
        let nothing = try OperationChecks.check(Self.log(1).run(0..<0), after: nil)
        #expect(nothing.isEmpty)
    }

    @Test func `of ours passes the same checks`() throws {
        let log = Self.log(2)
        let checked = try OperationChecks.check(
            log.operations[1], in: log.document, after: log.link(before: 1))
        #expect(checked.id == log.operations[1].id && checked.isSignatureVerified)
        #expect(throws: Rejection.badSignature) {
            try OperationChecks.check(log.operations[1], in: .zero, after: log.link(before: 1))
        }
    }

    // O03, O02
    @Test func `is refused when any byte was changed after signing`() throws {
        var log = Self.log(2)
        let cited = WrittenLog(by: TestDevice(2), in: Self.document)
        var other = cited
        other.writeMany(1)
        log.write([9, 9], citing: [other.reference(0)])
        let honest = log.run(1..<3)
        let link = log.link(before: 1)
        #expect(refusal(of: honest, after: link) == nil)
        for (name, change) in Self.changes {
            for place in 0..<2 {
                var run = honest
                change(&run.entries[place])
                if run == honest { continue }
                #expect(
                    refusal(of: run, after: link) == .badSignature, "\(name) at \(place)")
            }
        }
        for name in [
            LogName(document: .zero, device: log.author.id, incarnation: 1),
            LogName(document: Self.document, device: TestDevice(2).id, incarnation: 1),
            LogName(document: Self.document, device: log.author.id, incarnation: 2),
        ] {
            let run = OperationRun(
                log: name, firstSequence: 1, previous: link?.id, entries: honest.entries)
            #expect(refusal(of: run, after: link) == .badSignature)
        }
        let moved = OperationRun(
            log: log.name, firstSequence: 2, previous: link?.id, entries: honest.entries)
        #expect(refusal(of: moved, after: link) == .badSignature)
        let elsewhere = ChainLink(id: .zero, timestamp: .zero)
        let behind = OperationRun(
            log: log.name, firstSequence: 1, previous: .zero, entries: honest.entries)
        #expect(refusal(of: behind, after: elsewhere) == .badSignature)
    }

    private static let changes: [(String, @Sendable (inout OperationRun.Entry) -> Void)] = [
        ("kind", { $0.kind = 77 }),
        ("time", { $0.timestamp = HybridTimestamp(rawValue: $0.timestamp.rawValue + 1) }),
        ("grant", { $0.grant = .zero }), ("key", { $0.keyID = .zero }),
        ("payload", { $0.payload[0] ^= 1 }), ("payload end", { $0.payload.append(0) }),
        ("cited", { $0.dependencies = [] }),
        (
            "cited place",
            { entry in
                entry.dependencies = entry.dependencies.map {
                    OperationReference(
                        device: $0.device, incarnation: $0.incarnation,
                        sequence: $0.sequence + 1, id: $0.id)
                }
            }
        ),
    ]

    @Test func `is refused when its last signature is changed in any byte`() {
        let log = Self.log(3)
        for index in 0..<64 {
            var run = log.run
            var bytes = run.entries[2].signature.bytes
            bytes[index] ^= 0x40
            run.entries[2].signature = Signature(bytes)
            #expect(refusal(of: run) == .badSignature)
        }
    }

    @Test func `needs what comes before it`() {
        let log = Self.log(4)
        #expect(refusal(of: log.run(1..<4)) == .malformed(Malformed(.inconsistent, at: 0)))
        #expect(
            refusal(of: log.run(0..<4), after: log.link(before: 1))
                == .malformed(Malformed(.inconsistent, at: 0)))
        #expect(
            refusal(of: log.run(2..<4), after: log.link(before: 1))
                == .malformed(Malformed(.inconsistent, at: 0)))
        #expect(refusal(of: log.run(2..<4), after: log.link(before: 2)) == nil)
    }

    @Test func `lacks nothing in the middle`() {
        var run = Self.log(6).run
        run.entries.remove(at: 3)
        #expect(refusal(of: run) == .badSignature)
        run = Self.log(6).run
        run.entries.swapAt(2, 3)
        #expect(refusal(of: run) == .outOfOrder)
    }

    // O05
    @Test(arguments: [UInt64.max, UInt64.max - 1])
    func `does not run past the last number`(_ sequence: UInt64) {
        let entries = Self.log(2).run.entries
        let run = OperationRun(
            log: Self.log(0).name, firstSequence: sequence, previous: .zero, entries: entries)
        let link = ChainLink(id: .zero, timestamp: .zero)
        #expect(refusal(of: run, after: link) == .malformed(Malformed(.outOfRange, at: 0)))
    }

    // O09
    @Test func `rises in time and is otherwise free`() throws {
        for times in [[0, 1], [0, .max], [5, 1 << 62], [1 << 63, 1 << 63 + 1]] as [[UInt64]] {
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            for time in times { log.write([1], at: time) }
            #expect(refusal(of: log.run) == nil)
        }
        for times in [[1, 1], [2, 1], [.max, 0], [.max, .max]] as [[UInt64]] {
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            for time in times { log.write([1], at: time) }
            #expect(refusal(of: log.run) == .outOfOrder)
            #expect(refusal(of: log.run(1..<2), after: log.link(before: 1)) == .outOfOrder)
        }
    }

    // O08, C04
    @Test(arguments: [
        (OperationKind.content, 16), (OperationKind.redact, 16), (OperationKind.authority, 64),
    ])
    func `cites so many and no more`(_ kind: OperationKind, _ most: Int) {
        var random = SeededGenerator(seed: 9)
        let payload =
            switch kind {
            case .authority: AuthorityPayload.deleteWorkspace.encoded
            case .redact:
                RedactPayload.undo(
                    `The header of an operation`.references(1, with: &random)[0]
                ).encoded
            default: [UInt8]([1])
            }
        for (count, expected) in [
            (most, nil), (most + 1, Rejection.tooManyDependencies),
            (10_000, .tooManyDependencies),
        ] {
            let cited = `The header of an operation`.references(count, with: &random)
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            log.write(payload, kind: kind, citing: cited)
            #expect(refusal(of: log.run) == expected)
        }
    }

    // O08
    @Test func `cites nothing twice`() {
        var random = SeededGenerator(seed: 9)
        let cited = `The header of an operation`.references(1, with: &random)
        var log = WrittenLog(by: TestDevice(1), in: Self.document)
        log.write([1], citing: cited + cited)
        #expect(refusal(of: log.run) == .malformed(Malformed(.keysOutOfOrder, at: 0)))
    }

    // C04
    @Test func `carries payloads up to the limit`() {
        let limit = Limits.payloadBytesMax
        for (count, expected) in [(limit, nil), (limit + 1, Rejection.tooLarge)] {
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            log.write([UInt8](repeating: 1, count: count), kind: .content)
            #expect(refusal(of: log.run) == expected)
        }
    }

    // C04
    @Test func `carries authority payloads up to their limit`() {
        for (count, expected) in [
            (Limits.authPayloadBytesMax, nil), (Limits.authPayloadBytesMax + 1, .tooLarge),
        ] as [(Int, Rejection?)] {
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            log.write(Self.unknownAuthority(byteCount: count), kind: .authority)
            #expect(refusal(of: log.run) == expected)
        }
    }

    /// A payload of type 99: `82 18 63 a1 00 5a` and a byte string.
    private static func unknownAuthority(byteCount: Int) -> [UInt8] {
        let rest = byteCount - 10
        let length = (0..<4).map { UInt8(truncatingIfNeeded: rest >> (24 - 8 * $0)) }
        return [0x82, 0x18, 0x63, 0xa1, 0x00, 0x5a] + length + [UInt8](repeating: 0, count: rest)
    }

    // C05
    @Test func `of an unknown kind is chained`() throws {
        let entry = Self.log(1).run.entries[0]
        let header = OperationHeader(
            kind: 4_000, document: Self.document, device: TestDevice(1).id, incarnation: 1,
            sequence: 0, previous: nil, timestamp: entry.timestamp, grant: entry.grant,
            keyID: nil, dependencies: [], payloadLength: entry.payload.count,
            payloadHash: OperationSigning.hash(ofPayload: entry.payload))
        let id = OperationSigning.id(ofHeader: header.encoded)
        var run = Self.log(1).run
        run.entries[0].kind = 4_000
        run.entries[0].signature = TestDevice(1).key.signature(
            for: OperationSigning.signedBytes(of: id))
        let checked = try OperationChecks.check(run, after: nil)
        #expect(checked.first?.id == id)
    }
}
