import CRDTStore
import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

/// One scene of `Tests/Vectors/frozen.json`: operations of one workspace in a causal order, and the
/// expected results. Bytes are hexadecimal.
struct FrozenScene: Codable {
    /// An epoch key under its name.
    struct Key: Codable {
        let id: String
        let key: String
    }

    /// An epoch key of a private document.
    struct DocumentKey: Codable {
        let document: String
        let id: String
        let key: String
    }

    /// The secret half of a device's box key.
    struct BoxKey: Codable {
        let device: String
        let secret: String
    }

    /// What a mailbox operation says to one device: the array before it was padded.
    struct Mail: Codable, Equatable {
        let device: String
        let message: String
    }

    /// One operation, the verdict of the workspace on it, and what its payload seals, where that
    /// is content or says who is in a private document.
    struct Entry: Codable {
        let header: String
        let payload: String
        let signature: String
        let id: String
        let valid: Bool
        let plaintext: String?
        /// True where it has a fault, or cites what has one: no node takes it.
        var refused: Bool?
        /// Whether it has effect in its private document, by the rules of the document too.
        var counts: Bool?
        /// What is in a mailbox operation for the devices whose secrets are in the scene.
        var mail: [Mail]?
    }

    let name: String
    let keys: [Key]
    var documentKeys: [DocumentKey]?
    var boxKeys: [BoxKey]?
    let operations: [Entry]
    /// The digest of everything kept, by document.
    let documents: [String: String]
    let root: String
}

/// All scenes.
struct FrozenFile: Codable {
    let scenes: [FrozenScene]

    static let url = SourceTree.root.appendingPathComponent("Tests/Vectors/frozen.json")
    /// Whether the file is to be made anew instead of being read.
    static let isUpdating = ProcessInfo.processInfo.environment["WSX_UPDATE_VECTORS"] == "1"

    static func read() throws -> FrozenFile {
        try JSONDecoder().decode(FrozenFile.self, from: Data(contentsOf: url))
    }

    /// The scenes that stand, and those of `all` that are not among them: what was once written
    /// is never made anew.
    static func completed(by all: [FrozenScene]) throws -> FrozenFile {
        let known = try read().scenes
        let names = Set(known.map(\.name))
        return FrozenFile(scenes: known + all.filter { !names.contains($0.name) })
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: Self.url)
    }
}

extension FrozenScene {
    /// Everything that any of the nodes holds of their workspace, as a new reader judges it.
    init(_ name: String, of nodes: [BenchNode], besides others: [SignedOperation] = []) throws {
        var operations: [OperationID: SignedOperation] = [:]
        var keys: [KeyID: SymmetricKey] = [:]
        var secrets = FrozenSecrets()
        for node in nodes {
            let (core, workspace) = (try #require(node.host?.core), try node.workspace())
            for key in workspace.secrets.keys.opened where keys[key.keyID] == nil {
                keys[key.keyID] = key
            }
            secrets.take(from: core, workspace)
            for document in core.turn.store.operations.documents(ofWorkspace: workspace.number) {
                try core.turn.store.operations.forEachOperation(in: document, of: workspace.number)
                {
                    (stored) throws(StorageError) in
                    let signed = try Self.signed(stored, in: core.turn.store.operations)
                    operations[signed.id] = signed
                }
            }
        }
        for other in others { operations[other.id] = other }
        let order = Self.causalOrder(of: Array(operations.values))
        let reader = try FrozenReader(order, secrets)
        self.name = name
        documentKeys = secrets.documentKeys
        boxKeys = secrets.boxKeys
        self.keys = keys.sorted { $0.key < $1.key }.map { id, key in
            Key(id: id.bytes.hex, key: key.exposedCopy().hex)
        }
        self.operations = try order.map { operation in
            Entry(
                header: operation.header.encoded.hex, payload: operation.payload.hex,
                signature: operation.signature.bytes.hex, id: operation.id.bytes.hex,
                valid: try reader.isValid(operation),
                plaintext: (Self.plaintext(of: operation, keys) ?? secrets.plaintext(of: operation))?
                    .hex,
                refused: reader.refused.contains(operation.id) ? true : nil,
                counts: try reader.counts(operation), mail: secrets.mail(in: operation))
        }
        documents = reader.documents
        root = reader.root
    }

    /// What a content operation seals; `nil` where its key is not held.
    static func plaintext(
        of operation: SignedOperation, _ keys: [KeyID: SymmetricKey]
    ) -> [UInt8]? {
        guard let key = operation.header.keyID.flatMap({ keys[$0] }) else { return nil }
        return SealedPayload.open(
            operation.payload, under: key.documentKey(for: operation.header.document),
            associatedData: operation.header.associatedData)
    }

    private static func signed(
        _ stored: StoredOperation, in operations: OperationStore
    ) throws(StorageError) -> SignedOperation {
        let (entry, place) = (stored.entry, stored.place)
        let header = OperationHeader(
            kind: entry.kind,
            document: stored.isRoot ? .zero : stored.log.document,
            device: stored.log.device, incarnation: stored.log.incarnation,
            sequence: place.sequence, previous: try operations.previous(of: place),
            timestamp: entry.timestamp, grant: entry.grant, keyID: entry.keyID,
            dependencies: entry.dependencies, payloadLength: entry.payload.count,
            payloadHash: OperationSigning.hash(ofPayload: entry.payload))
        return SignedOperation(
            header: header, id: place.link.id, payload: entry.payload,
            signature: entry.signature)
    }

    /// By time as far as citations allow; with a generator by its choice instead.
    static func causalOrder(
        of operations: [SignedOperation], with generator: SeededGenerator? = nil
    ) -> [SignedOperation] {
        let isByTime = generator == nil
        var generator = generator ?? SeededGenerator(seed: 0)
        var waiting = operations.sorted {
            ($0.header.timestamp.rawValue, $0.id) < ($1.header.timestamp.rawValue, $1.id)
        }
        var done: Set<OperationID> = []
        var order: [SignedOperation] = []
        while !waiting.isEmpty {
            let ready = waiting.indices.filter { done.isSuperset(of: waiting[$0].header.cited) }
            let choice = isByTime ? ready.first : ready.randomElement(using: &generator)
            guard let choice else { break }
            done.insert(waiting[choice].id)
            order.append(waiting.remove(at: choice))
        }
        return order
    }
}

/// A home without membership, which accepts what it is given.
struct FrozenReader {
    let node: BenchNode
    private let core: NodeCore
    private let workspace: Workspace
    private let bench: CoreBench
    /// What it did not take, for it has a fault or cites what has one.
    private(set) var refused: Set<OperationID> = []

    /// - Parameters:
    ///   - operations: in a causal order, the root first.
    ///   - secrets: of private documents, which it holds from the start.
    init(_ operations: [SignedOperation], _ secrets: FrozenSecrets = FrozenSecrets()) throws {
        bench = CoreBench(seed: 99)
        node = try bench.node("Reader", workspace: nil)
        core = try #require(node.host?.core)
        core.beginTurn(at: node.time)
        let id = WorkspaceID(sameBytesAs: try #require(operations.first).id)
        workspace = try core.enrolment.founding.enter(id, member: .zero, standing: .member)
        try core.enrolment.settleIn(workspace)
        for (document, keys) in secrets.keys.sorted(by: { $0.key < $1.key }) {
            for (_, key) in keys.sorted(by: { $0.key < $1.key }) {
                try core.privates.takePrivate(key, of: document, in: workspace)
            }
        }
        // What has no effect is passed over until something stands on it, and comes again, as a
        // comparison with a peer would bring it.
        var left = operations
        while !left.isEmpty {
            let count = left.count
            left = try left.filter { try !take($0) }
            if left.count == count { break }
        }
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        core.didCommit()
        node.carryOut(effects)
        core.log.refreshDigest(of: workspace)
    }

    /// - Returns: whether it does not have to come again.
    private mutating func take(_ operation: SignedOperation) throws -> Bool {
        guard refused.isDisjoint(with: operation.header.cited) else {
            refused.insert(operation.id)
            return true
        }
        let outcome = try core.acceptAtOnce(
            operation.run(in: operation.document), in: workspace,
            from: .peer(operation.header.device, source: 1, isBackfill: true))
        switch outcome {
        case .stored, .known: return true
        case .dropped, .waiting: return false
        case .rejected(let reason):
            try #require(reason == .unauthorised, "\(operation.id): \(reason)")
            refused.insert(operation.id)
            return true
        }
    }

    /// The verdict on an operation that was taken.
    func isValid(_ operation: SignedOperation) throws -> Bool {
        let header = operation.header
        guard header.kind != OperationKind.authority.rawValue else {
            return workspace.judged.evaluator.isValid(operation.id)
        }
        let reference = OperationReference(
            device: header.device, incarnation: header.incarnation, sequence: header.sequence,
            id: operation.id)
        let place = try core.turn.store.operations.find(
            reference, in: operation.document, of: workspace.number)
        // What nothing valid stands on is not stored.
        guard let found = place else { return false }
        return core.turn.store.operations.isValid(found.sequence, in: found.branch)
    }

    /// Whether an operation has effect in its private document; `nil` where no key of that is
    /// held, and for kinds that have nothing to do with it.
    func counts(_ operation: SignedOperation) throws -> Bool? {
        let header = operation.header
        guard let document = workspace.sealed.documents[operation.document] else { return nil }
        switch OperationKind(rawValue: header.kind) {
        case .privateAuthority: return document.authority.isValid(operation.id)
        case .content:
            guard try isValid(operation) else { return false }
            let reference = OperationReference(
                device: header.device, incarnation: header.incarnation,
                sequence: header.sequence, id: operation.id)
            let place = try core.turn.store.operations.find(
                reference, in: header.document, of: workspace.number)
            guard let found = place else { return false }
            return try core.privates.isAllowed(
                PrivateDocuments.PrivatePlace(
                    log: LogName(
                        document: header.document, device: header.device,
                        incarnation: header.incarnation), branch: found.branch,
                    sequence: header.sequence, grant: header.grant, keyID: header.keyID),
                in: document, workspace)
        case .authority, .mailbox, .redact, nil: return nil
        }
    }

    /// The same authority operations judged at once.
    func judgedAtOnce() throws -> AuthEvaluator {
        try AuthEvaluator.evaluateFromScratch(
            workspace.authorityOrder.compactMap { workspace.judged.evaluator.operation($0) })
    }

    var documents: [String: String] {
        var all: [String: String] = [:]
        for bucket in UInt8.min...UInt8.max {
            for (document, digest) in workspace.held.digest.documents(in: bucket) {
                all[document.bytes.hex] = digest.bytes.hex
            }
        }
        return all
    }

    var root: String { CoreReplica(for: core.syncing, workspace: workspace).root.bytes.hex }
}

extension SignedOperation {
    /// The document, which a root is itself.
    var document: DocumentID {
        header.document == .zero ? DocumentID(sameBytesAs: id) : header.document
    }
}

extension OperationHeader {
    /// Everything that has to be known before it.
    var cited: [OperationID] {
        dependencies.map(\.id) + (previous.map { [$0] } ?? []) + (grant == .zero ? [] : [grant])
    }
}

extension [UInt8] {
    var hex: String { map { String(format: "%02x", $0) }.joined() }
}
