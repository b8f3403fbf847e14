public import WorkspaceModel

/// Where the files of one node are on the disk.
///
/// One process at a time may use it, which `lock` ensures. All of it is private to its owner: it
/// contains the keys, and a client of the control socket has all rights.
public struct HomeFolder: Equatable, Sendable {
    /// The folder of identity, store and log, without a slash at its end.
    public let data: String
    /// The control socket, in `data` or in a folder of the session.
    public let socket: String
    /// The settings file, if it is known to be this home's; a wipe removes it too.
    public var configuration: String?

    /// The home with these two paths.
    public init(data: String, socket: String) {
        self.data = data
        self.socket = socket
    }

    /// The folder of the keys.
    public var identityFolder: String { data + "/identity" }
    /// The device's keys, mode 0600.
    public var identity: String { identityFolder + "/device.key" }
    /// The store.
    public var store: String { data + "/node.db" }
    /// The former store, after a rebuild.
    public var damagedStore: String { store + ".damaged" }
    /// A copy of the store while it is looked through.
    var inspectedStore: String { data + "/check.db" }
    /// The store that is built from that copy.
    var builtStore: String { data + "/check-built.db" }
    /// The search index of message texts; a home with a passphrase has none.
    public var searchIndex: String { data + "/search.db" }
    /// Chunks of files, sealed as others get them.
    var blobs: String { data + "/blobs" }
    /// Distinguishes a restored store from one that was never replaced; see `RestoreGuard`.
    public var storeGuard: String { data + "/node.guard" }
    /// Where the tables of the store begin; see `StoreSchema`.
    var storeSchema: String { data + "/node.schema" }
    /// Held by the node that runs.
    public var lock: String { data + "/lock" }
    /// The standard error of a detached node.
    public var log: String { data + "/daemon.log" }
    /// The address on which the node listened last.
    public var listen: String { data + "/listen" }

    /// Whether it contains keys, or the marker of an unfinished wipe.
    public var holdsKeys: Bool {
        [identity, wipeMark].contains { (try? FileSystem.status(of: $0)) != nil }
    }

    /// Set while a wipe is not finished.
    var wipeMark: String { data + "/wipe" }

    /// Makes the folders that are missing, and refuses those that others may enter.
    ///
    /// - Throws: `bad_configuration`, with the command that remedies it where there is one.
    public func prepare() throws(NodeError) {
        for path in [data, identityFolder, FileSystem.parent(of: socket)] {
            do throws(SystemError) { try FileSystem.makeFolder(path) } catch {
                throw .badConfiguration("cannot make the folder: \(error)", hint: "give --home DIR")
            }
            do throws(FileSystem.FolderFault) { try FileSystem.checkPrivateFolder(path) } catch {
                throw Self.refusal(of: error)
            }
        }
    }

    /// Takes the right to be this home's node.
    ///
    /// - Throws: `in_use` with the number of the process that has it; `bad_configuration` where
    ///   the file cannot be made.
    public func takeLock() throws(NodeError) -> FileLock {
        do throws(FileLock.Failure) { return try FileLock(path: lock) } catch {
            switch error {
            case .held(let pid): throw .homeInUse(pid: pid)
            case .system(let error): throw .badConfiguration("cannot lock the home: \(error)")
            }
        }
    }

    private static func refusal(of fault: FileSystem.FolderFault) -> NodeError {
        let hint: String? =
            switch fault {
            case .loose(let path, _): "chmod 700 '\(path)'"
            case .foreign, .notAFolder: "give --home DIR"
            case .system: nil
            }
        return .badConfiguration("\(fault)", hint: hint)
    }
}
