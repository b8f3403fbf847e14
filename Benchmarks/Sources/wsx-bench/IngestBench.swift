import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Taking in signed operations in one process, without a network: check, store, open, fold.
enum IngestBench {
    static func run(_ options: Options) throws {
        var figures = Figures("wsx_ingest")
        figures.note("messages", options.messages)
        figures.note("note", "100 B texts; check, append, open, fold, event; COMMIT per run")
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let author = Author()
            var operations: [SignedOperation] = []
            let making = seconds { operations = author.messages(options.messages) }
            figures.add("make_and_sign_per_s", Double(options.messages) / making)
            let floor = try Floors.chainedIngest(options.messages, in: folder.path)
            let (sign, verify) = Floors.signatures()
            figures.add("floor_sign_per_s", sign)
            figures.add("floor_verify_per_s", verify)
            figures.add("floor_signature_per_1000_per_s", floor)
            for length in [1_000, 1] {
                let count = length == 1 ? options.messages / 5 : options.messages
                let store = Receiver(folder.path + "/run\(length)", author)
                let time = try store.take(operations.prefix(count), runLength: length)
                let rate = Double(count) / time
                figures.add("ingest_runs_of_\(length)_per_s", rate)
                figures.add("ratio_runs_of_\(length)", rate / (length == 1 ? verify : floor))
            }
        }
        figures.print()
    }

    /// Somebody who writes messages under one key.
    private struct Author {
        let random = SeededRandom(seed: 1)
        let key: SigningKey
        let secret: SymmetricKey
        let keyID: KeyID
        let document: DocumentID
        let grant: OperationID

        init() {
            key = SigningKey(using: random)
            let epoch = SymmetricKey(using: random)
            document = Hash.name("benchmark", [1])
            grant = Hash.name("benchmark", [2])
            keyID = epoch.keyID
            secret = epoch
        }

        func messages(_ count: Int) -> [SignedOperation] {
            var operations: [SignedOperation] = []
            operations.reserveCapacity(count)
            for number in 0..<count {
                let text = "message \(number) " + String(repeating: "x", count: 84)
                let draft = OperationDraft(
                    kind: .content, document: document, incarnation: 1, sequence: UInt64(number),
                    previous: operations.last?.id,
                    timestamp: HybridTimestamp(rawValue: UInt64(1_700_000_000_000 + number) << 16),
                    grant: grant, dependencies: [])
                operations.append(
                    draft.sealedAndSigned(
                        plaintext: ContentPayload.message(.init(text: text)).encoded,
                        under: secret, keyID: keyID, with: key, using: random))
            }
            return operations
        }
    }

    /// A store that takes them in, as a node does.
    private struct Receiver {
        let path: String
        let author: Author

        init(_ path: String, _ author: Author) {
            self.path = path
            self.author = author
        }

        /// - Returns: the seconds it took.
        func take(_ operations: ArraySlice<SignedOperation>, runLength: Int) throws -> Double {
            let store = try NodeStore(Connection(path: path, mode: .create))
            var runs: [OperationRun] = []
            for operation in operations {
                let run = operation.run(in: author.document)
                if let last = runs.indices.last, runs[last].entries.count < runLength {
                    runs[last].entries += run.entries
                } else {
                    runs.append(run)
                }
            }
            var link: ChainLink?
            let key = author.secret.documentKey(for: author.document)
            try store.begin()
            try store.operations.enter(
                DocumentID(sameBytesAs: author.grant), workspace: nil, kind: .authority)
            try store.operations.enter(author.document, workspace: 1, kind: .channel)
            try store.commit()
            var place = OperationStore.Place.newLog
            var taken = 0
            let start = ContinuousClock.now
            for run in runs {
                try store.begin()
                let checked = try OperationChecks.check(run, after: link)
                let (branch, appended) = try store.operations.append(
                    checked, in: run.log, of: 1, at: place, seen: 1_700_000_000_000,
                    citing: [[StoredPlace]](repeating: [], count: checked.count))
                for item in appended { try fold(item, key, into: store) }
                link = checked.last?.link
                place = .behind(branch: branch)
                taken += run.entries.count
                // A turn takes what is there, so single operations share a COMMIT too.
                if taken % 1_000 == 0 || taken == operations.count { try store.commit() }
            }
            return elapsed(since: start)
        }

        private func fold(
            _ item: OperationStore.Appended, _ key: SymmetricKey, into store: NodeStore
        ) throws {
            let operation = item.operation
            guard
                let plaintext = SealedPayload.open(
                    operation.payload, under: key, associatedData: operation.header.associatedData),
                case .message(let message) = try ContentPayload(decoding: plaintext),
                let grant = store.operations.number(ofGrant: operation.header.grant)
            else { throw BenchError("an operation does not open") }
            try store.view.fold(
                ViewStore.MessageRow(
                    document: 2, position: .init(sort: item.sort, arrival: item.arrival),
                    key: MessageKey(
                        timestamp: operation.header.timestamp,
                        idPrefix: operation.id.words.0), grant: grant, thread: message.thread),
                as: .shown)
            try store.events.append(
                type: 20, at: 1_700_000_000_000, workspace: 1, document: 2, arrival: item.arrival)
        }
    }
}
