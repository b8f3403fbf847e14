import WorkspaceModel

/// Files that are transferred over connections, between their sockets and the blob worker.
///
/// Their bytes bypass the core. Memory per connection is bounded: the worker decrypts another chunk
/// only when the socket has taken most of the last one, and a socket is not read until the worker
/// has asked for what arrived.
extension ControlClients {
    /// A file on its way over a connection.
    struct FileFlow {
        /// The worker's job.
        let task: TaskID
        /// Whether the connection hands it in.
        let isUpload: Bool
        /// Whether it is the connection's turn, not the worker's.
        var isTurn = false
    }

    /// Notes what the core has asked of the worker, before the worker begins.
    func note(_ job: BlobJob) {
        switch job {
        case .stream(let task, _, _, let connection):
            clients[connection]?.file = FileFlow(task: task, isUpload: false)
        case .receive(let task, _, _, let connection):
            clients[connection]?.file = FileFlow(task: task, isUpload: true)
        case .abandon(let task):
            for (id, client) in clients where client.file?.task == task {
                client.connection.cutFile()
                end(client)
                touch(id)
            }
        default: break
        }
    }

    /// Takes what the worker has for connections, after the answers that it belongs to.
    func take(_ portions: [FilePortion]) {
        for portion in portions {
            guard let client = clients[portion.connection],
                client.file?.task == portion.task
            else {
                fileJobs.append(.abandon(portion.task))
                continue
            }
            touch(portion.connection)
            switch portion.step {
            case .give(let bytes):
                client.file?.isTurn = true
                if !client.connection.give(bytes) {
                    fileJobs.append(.abandon(portion.task))
                    end(client)
                } else if !client.connection.isSendingFile {
                    end(client)
                }
            case .take: client.file?.isTurn = true
            case .cut:
                client.connection.cutFile()
                end(client)
            }
        }
    }

    /// Lets the worker continue with the file of a client, where the client has room.
    func passFile(of client: Client) {
        guard let file = client.file, file.isTurn else { return }
        if file.isUpload {
            let bytes = client.connection.takeFile()
            guard !bytes.isEmpty else { return }
            fileJobs.append(.goOn(file.task, bytes))
        } else {
            let unsent = client.connection.unsentCount + client.link.unsentByteCount
            guard unsent < Limits.fileUnsentBytesMax else { return }
            fileJobs.append(.goOn(file.task, []))
        }
        client.file?.isTurn = false
    }

    /// Jobs for the worker, caused by what connections took and delivered.
    func takeFileJobs() -> [BlobJob] {
        defer { fileJobs = [] }
        return fileJobs
    }

    private func end(_ client: Client) { client.file = nil }
}
