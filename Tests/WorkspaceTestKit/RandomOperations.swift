public import WorkspaceCrypto
public import WorkspaceModel

/// A test device: its key follows from a number, so it is the same in every run.
public struct TestDevice: Sendable {
    /// What it signs with.
    public let key: SigningKey
    /// Which incarnation of its store writes.
    public let incarnation: UInt32

    /// The device of that number.
    public init(_ number: UInt64, incarnation: UInt32 = 1) {
        key = SigningKey(
            seed: Hash.personal("wsx-testdev", bigEndianBytes(of: number)), lifetime: .brief)
        self.incarnation = incarnation
    }

    private init(key: SigningKey, incarnation: UInt32) {
        self.key = key
        self.incarnation = incarnation
    }

    /// Its name.
    public var id: DeviceID { key.device }

    /// The same device with the next incarnation, as after a restore.
    public func restored() -> TestDevice {
        TestDevice(key: key, incarnation: incarnation + 1)
    }

    /// The founding of a workspace by this device alone, well bound and signed.
    public func founding(nonce: UInt8 = 7, timestamp: UInt64 = 1 << 16) -> SignedOperation {
        let salt = [UInt8](repeating: nonce, count: 16)
        let member = MemberID(
            [UInt8](Hash.personal("wsx-member", id.bytes + salt).prefix(16)))
        let agreementKey = Hash.personal("wsx-testbox", id.bytes)
        let unsigned = DeviceEntry(device: id, agreementKey: agreementKey, signature: .zero)
        let zeros = [UInt8](repeating: 0, count: 32)
        let consent = key.signature(
            for: Array("wsx-dev2".utf8) + [1] + zeros + salt + zeros.prefix(16) + zeros
                + member.bytes + Hash.personal("wsx-devs2", DeviceEntry.encodedKeys([unsigned])))
        let create = AuthorityPayload.Create(
            nonce: salt, member: member,
            devices: [DeviceEntry(device: id, agreementKey: agreementKey, signature: consent)],
            keyID: .zero, wraps: [],
            name: SealedField(
                keyID: .zero, nonce: [UInt8](repeating: 1, count: 24), ciphertext: []),
            discoveryID: [UInt8](repeating: 2, count: 16))
        let draft = OperationDraft(
            kind: .authority, document: .zero, incarnation: incarnation, sequence: 0,
            previous: nil, timestamp: HybridTimestamp(rawValue: timestamp), grant: .zero)
        return draft.signed(payload: AuthorityPayload.create(create).encoded, with: key)
    }
}

/// One branch of a log as its author wrote it, from the start of the log on.
public struct WrittenLog: Sendable {
    /// Who writes.
    public let author: TestDevice
    /// What it is about. For a log that begins with `create` this is that operation's id.
    public let document: DocumentID
    /// Everything written so far, in order.
    public private(set) var operations: [SignedOperation] = []

    /// An empty log.
    public init(by author: TestDevice, in document: DocumentID) {
        self.author = author
        self.document = document
    }

    /// The log of an authority document, begun by its founder.
    public init(foundedBy author: TestDevice, nonce: UInt8 = 7) {
        let create = author.founding(nonce: nonce)
        self.init(by: author, in: DocumentID(sameBytesAs: create.id))
        operations = [create]
    }

    /// The name of the log.
    public var name: LogName {
        LogName(document: document, device: author.id, incarnation: author.incarnation)
    }

    /// How another operation cites the one at `sequence`.
    public func reference(_ sequence: Int) -> OperationReference {
        OperationReference(
            device: author.id, incarnation: author.incarnation, sequence: UInt64(sequence),
            id: operations[sequence].id)
    }

    /// Writes and signs the next operation; a millisecond after the last by default.
    ///
    /// The payload is used as given: for a sealed one pass sealed bytes and the `keyID`;
    /// no key is needed here.
    @discardableResult
    public mutating func write(
        _ payload: [UInt8], kind: OperationKind = .content, at timestamp: UInt64? = nil,
        under grant: OperationID = OperationID([UInt8](repeating: 0xa1, count: 32)),
        citing dependencies: [OperationReference] = []
    ) -> SignedOperation {
        let last = operations.last?.header.timestamp.rawValue ?? 0
        let draft = OperationDraft(
            kind: kind, document: document, incarnation: author.incarnation,
            sequence: UInt64(operations.count), previous: operations.last?.id,
            timestamp: HybridTimestamp(rawValue: timestamp ?? last + (1 << 16)), grant: grant,
            dependencies: dependencies)
        let operation = draft.signed(payload: payload, with: author.key)
        operations.append(operation)
        return operation
    }

    /// Writes content sealed under an epoch key.
    @discardableResult
    public mutating func seal(
        _ content: ContentPayload, under key: SymmetricKey, keyID: KeyID,
        grant: OperationID = OperationID([UInt8](repeating: 0xa1, count: 32)),
        using random: any RandomSource
    ) -> SignedOperation {
        let last = operations.last?.header.timestamp.rawValue ?? 0
        let draft = OperationDraft(
            kind: .content, document: document, incarnation: author.incarnation,
            sequence: UInt64(operations.count), previous: operations.last?.id,
            timestamp: HybridTimestamp(rawValue: last + (1 << 16)), grant: grant)
        let operation = draft.sealedAndSigned(
            plaintext: content.encoded, under: key, keyID: keyID, with: author.key, using: random)
        operations.append(operation)
        return operation
    }

    /// Writes `count` small operations.
    public mutating func writeMany(_ count: Int) {
        for number in 0..<count {
            write([UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
        }
    }

    /// The log as a device has it that goes on from an old copy: the first `count` operations.
    public func fork(after count: Int) -> WrittenLog {
        var copy = self
        copy.operations = Array(operations.prefix(count))
        return copy
    }

    /// The operations of a range as they travel.
    public func run(_ range: Range<Int>) -> OperationRun {
        OperationRun(
            log: name, firstSequence: UInt64(range.lowerBound),
            previous: operations[range].first?.header.previous,
            entries: operations[range].flatMap { $0.run(in: document).entries })
    }

    /// All operations as they travel.
    public var run: OperationRun { run(0..<operations.count) }
}

/// Operations of several devices in one workspace, some of them from old copies of themselves.
///
/// Every log, fork and restore of the history is in `branches`, each from the start of its log, so
/// that branches of one log share their beginning. The founder's authority log is the first.
public struct RandomHistory: Sendable {
    /// One written operation and where it belongs.
    public struct Written: Sendable {
        /// The operation.
        public let operation: SignedOperation
        /// Its log.
        public let log: LogName

        /// As it travels: a run of one.
        public var run: OperationRun { operation.run(in: log.document) }
    }

    /// All branches of all logs.
    public private(set) var branches: [WrittenLog]
    /// All operations, each once, in the order in which they were written: a causal one.
    public private(set) var operations: [Written]
    /// The name of the workspace.
    public var workspace: DocumentID { branches[0].document }

    /// `count` operations by `devices` devices in `channels` channels.
    ///
    /// About one in twelve goes on from an old copy of its log, which forks it, and about as many
    /// begin a new incarnation. Half of them cite tips of other logs of their document.
    public init(
        count: Int, devices: Int = 3, channels: Int = 2, with generator: inout SeededGenerator
    ) {
        let people = (0..<devices).map { TestDevice(UInt64($0)) }
        let founding = WrittenLog(foundedBy: people[0])
        branches = [founding]
        operations = [Written(operation: founding.operations[0], log: founding.name)]
        let documents = (0..<channels).map { number in
            DocumentID(Hash.personal("wsx-testdoc", [UInt8(truncatingIfNeeded: number)]))
        }
        for document in documents {
            branches += people.map { WrittenLog(by: $0, in: document) }
        }
        while operations.count < count { writeSomething(with: &generator) }
    }

    private mutating func writeSomething(with generator: inout SeededGenerator) {
        var index = 1 + generator.below(branches.count - 1)
        if generator.oneIn(12), branches[index].operations.count > 0 {
            let kept = generator.below(branches[index].operations.count)
            branches.append(branches[index].fork(after: kept))
            index = branches.count - 1
        } else if generator.oneIn(12) {
            let log = branches[index]
            branches.append(WrittenLog(by: log.author.restored(), in: log.document))
            index = branches.count - 1
        }
        let payload = generator.bytes(1 + generator.below(60))
        let cited = generator.oneIn(2) ? dependencies(for: index, with: &generator) : []
        // Fresh, so that a fork never repeats what the log already holds.
        let timestamp = UInt64(operations.count + 1) << 16
        let operation = branches[index].write(
            payload, at: timestamp, under: operations[0].operation.id, citing: cited)
        operations.append(Written(operation: operation, log: branches[index].name))
    }

    private func dependencies(
        for index: Int, with generator: inout SeededGenerator
    ) -> [OperationReference] {
        var cited: [OperationReference] = []
        for other in branches.indices.shuffled(using: &generator).prefix(4) {
            let log = branches[other]
            guard other != index, log.document == branches[index].document,
                log.name != branches[index].name, !log.operations.isEmpty
            else { continue }
            let reference = log.reference(log.operations.count - 1)
            if !cited.contains(reference) { cited.append(reference) }
        }
        return cited
    }

    /// The operations in some order in which none comes before what it cites.
    public func shuffledCausally(with generator: inout SeededGenerator) -> [Written] {
        var waiting = operations
        var done: Set<OperationID> = []
        var order: [Written] = []
        while !waiting.isEmpty {
            let ready = waiting.indices.filter { index in
                let header = waiting[index].operation.header
                return header.dependencies.allSatisfy { done.contains($0.id) }
                    && header.previous.map { done.contains($0) } ?? true
            }
            guard let next = ready.randomElement(using: &generator) else { break }
            done.insert(waiting[next].operation.id)
            order.append(waiting.remove(at: next))
        }
        return order
    }
}
