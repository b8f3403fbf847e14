import WorkspaceCrypto
import WorkspaceModel

/// Runs what commands handed over, one at a time, on a thread of its own.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class NodeJobs {
    private let home: HomeFolder
    private let wakeup: Wakeup
    /// Made with the first job: most nodes never have one.
    private var pool: JobPool<Result<JSONValue, NodeError>>?
    private var calls: [UInt64: CallID] = [:]
    private var last: UInt64 = 0

    /// Calls that may wait for a job at a time.
    private static let waitingMax = 16

    init(home: HomeFolder, wakeup: Wakeup) {
        self.home = home
        self.wakeup = wakeup
    }

    /// Begins a job.
    ///
    /// - Returns: the answer, where there can be no job.
    func begin(_ call: CallID, _ job: NodeJob) -> Result<JSONValue, NodeError>? {
        guard calls.count < Self.waitingMax else { return .failure(Self.busy) }
        if pool == nil { pool = try? JobPool(threadCount: 1, wakeup: wakeup) }
        last += 1
        let home = home
        guard let pool, pool.submit(id: last, { Self.run(job, home) }) else {
            return .failure(Self.busy)
        }
        calls[last] = call
        return nil
    }

    /// The calls whose jobs have ended, with their answers.
    func takeAnswers() -> [(call: CallID, result: Result<JSONValue, NodeError>)] {
        guard !calls.isEmpty, let pool else { return [] }
        return pool.takeFinished().compactMap { job in
            calls.removeValue(forKey: job.id).map { ($0, job.output) }
        }
    }

    private static var busy: NodeError {
        NodeError(
            .busy, "too much of this is under way", hint: "try again", reason: "job.busy")
    }

    private static func run(
        _ job: NodeJob, _ home: HomeFolder
    ) -> Result<JSONValue, NodeError> {
        do throws(NodeError) {
            switch job {
            case .createBackup(let path, let settings, let passphrase, let at):
                return .success(
                    try BackupWriter.create(
                        .init(
                            home: home, configuration: settings ?? home.data + "/config.toml",
                            path: path, passphrase: passphrase.map { Array($0.utf8) },
                            createdAt: at),
                        using: SystemRandom()))
            case .verifyBackup(let path, let passphrase):
                return .success(
                    try BackupReader.verify(path, passphrase: passphrase.map { Array($0.utf8) }))
            }
        } catch { return .failure(error) }
    }
}
