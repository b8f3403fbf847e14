import CRDTStore
import WorkspaceCrypto
public import WorkspaceModel

/// Runs jobs from commands, one at a time, on a separate thread. Key derivation from passphrases
/// has another thread, so that unlocking the node does not wait for a script's job.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class NodeJobs {
    private let home: HomeFolder
    private let wakeup: Wakeup
    /// Made with the first job: most nodes never have one.
    private var pools: [Lane: JobPool<Outcome>] = [:]
    private var calls: [UInt64: (call: CallID, lane: Lane)] = [:]
    private var last: UInt64 = 0

    private enum Lane { case files, keys }

    /// The result of a job.
    private enum Outcome: Sendable {
        case answer(Result<JSONValue, NodeError>)
        case input(NodeInput)
        /// A backup, begun at this time.
        case backup(Result<JSONValue, NodeError>, at: UInt64)
    }

    /// Calls that may wait for a job of one kind at a time.
    private static let waitingMax = 16

    init(home: HomeFolder, wakeup: Wakeup) {
        self.home = home
        self.wakeup = wakeup
    }

    /// Begins a job.
    ///
    /// - Returns: the answer, where there can be no job.
    func begin(_ call: CallID, _ job: NodeJob) -> Result<JSONValue, NodeError>? {
        let home = home
        let isBegun = submit(call, to: .files) {
            let result = job.run(in: home)
            if case .createBackup(_, let at) = job { return .backup(result, at: at) }
            return .answer(result)
        }
        return isBegun ? nil : .failure(Self.busy)
    }

    /// Begins to turn passphrases into keys.
    ///
    /// - Returns: the input for the core, where the job cannot be started.
    func begin(_ call: CallID, _ job: KeyDerivationJob) -> NodeInput? {
        submit(call, to: .keys) { .input(job.run(for: call)) }
            ? nil : .keysDerived(call, .failure(Self.busy))
    }

    /// Begins to look through the store.
    ///
    /// - Returns: the input for the core, where the job cannot be started.
    func begin(_ call: CallID, _ job: InspectionJob) -> NodeInput? {
        let home = home
        let isBegun = submit(call, to: .files) {
            defer { StoreFile.removeInspection(home) }
            return .input(job.run(for: call, in: StoreFile.inspection(home)))
        }
        return isBegun
            ? nil : .inspected(call, .failure(.beside(StorageError(.busy, "too many jobs"))))
    }

    private func submit(
        _ call: CallID, to lane: Lane, _ work: @escaping @Sendable () -> Outcome
    ) -> Bool {
        guard calls.values.count(where: { $0.lane == lane }) < Self.waitingMax else { return false }
        if pools[lane] == nil { pools[lane] = try? JobPool(threadCount: 1, wakeup: wakeup) }
        last += 1
        guard let pool = pools[lane], pool.submit(id: last, work) else { return false }
        calls[last] = (call, lane)
        return true
    }

    /// The results of finished jobs: answers to calls, and inputs for the core.
    func takeFinished() -> (
        answers: [(call: CallID, result: Result<JSONValue, NodeError>)], inputs: [NodeInput]
    ) {
        var answers: [(call: CallID, result: Result<JSONValue, NodeError>)] = []
        var inputs: [NodeInput] = []
        guard !calls.isEmpty else { return (answers, inputs) }
        for job in pools.values.flatMap({ $0.takeFinished() }).sorted(by: { $0.id < $1.id }) {
            guard let call = calls.removeValue(forKey: job.id)?.call else { continue }
            switch job.output {
            case .answer(let result): answers.append((call, result))
            case .backup(let result, let at):
                answers.append((call, result))
                if case .success = result { inputs.append(.backedUp(at: at)) }
            case .input(let input): inputs.append(input)
            }
        }
        return (answers, inputs)
    }

    private static var busy: NodeError {
        NodeError(
            .busy, "too many of these are running", hint: "try again", reason: "job.busy")
    }
}

extension NodeJob {
    /// Does the job on the files of a home, which a node may be using. Takes as long as the disk needs.
    ///
    /// - Returns: the answer of the call.
    public func run(in home: HomeFolder) -> Result<JSONValue, NodeError> {
        do throws(NodeError) {
            switch self {
            case .createBackup(let draft, let at):
                return .success(
                    try BackupWriter.create(
                        .init(
                            home: home,
                            configuration: draft.settings ?? home.data + "/config.toml",
                            path: draft.path, passphrase: draft.passphrase.map { Array($0.utf8) },
                            createdAt: at, files: draft.files),
                        using: SystemRandom()))
            case .verifyBackup(let path, let passphrase):
                return .success(
                    try BackupReader.verify(
                        path, passphrase: passphrase.map { Array($0.utf8) }, in: home))
            }
        } catch { return .failure(error) }
    }
}
