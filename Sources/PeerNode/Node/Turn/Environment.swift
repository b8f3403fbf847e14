public import CRDTStore
public import WorkspaceCrypto
import WorkspaceModel

/// The world as the core sees it: the only source of randomness, files and facts.
public struct NodeEnvironment {
    /// Every random byte the core uses.
    public let random: any RandomSource
    /// The small files of the home.
    public let files: any HomeFiles
    /// The home folder as it was given, for `status`.
    public let home: String
    /// The control socket, for `status`.
    public let socket: String
    /// Whether LAN beacons are sent and heard.
    public let announces: Bool
    /// The cost of one guess of a new passphrase.
    public let passphraseCost: PassphraseVault.Cost
    /// What the node and `doctor` can learn about the machine; `nil` without one.
    public var surroundings: (any Surroundings)?
    /// Places for connections that have not shown to know a secret, at most
    /// `Limits.anonymousLinksMax`.
    public var anonymousLinksMax = Limits.anonymousLinksMax
    /// The number of private documents whose judgement stays in memory.
    public var privateJudgementsMax = Limits.privateJudgementsMax
    /// The notice settings of the configuration.
    public var notices = NoticeDefaults()
    /// The file settings of the configuration.
    public var fileDefaults = FileDefaults()
    /// The command of the configuration that sends letters, for `/bin/sh -c`; `nil` for none.
    public var mailCommand: String?
    /// The name of this device in the workspaces it joins, which passes `CheckedName`; `nil` leaves
    /// it without one.
    public var deviceName: String?

    /// The given world.
    public init(
        random: any RandomSource, files: any HomeFiles, home: String, socket: String,
        announces: Bool, passphraseCost: PassphraseVault.Cost = .standard
    ) {
        self.random = random
        self.files = files
        self.home = home
        self.socket = socket
        self.announces = announces
        self.passphraseCost = passphraseCost
    }
}

/// Which notices the owner gets, and how, unless the owner has set otherwise.
public struct NoticeDefaults: Sendable {
    let level: OwnRegister.NoticeLevel
    let command: String?

    /// Every message, and no command.
    public init() { (level, command) = (.all, nil) }

    /// - Parameters:
    ///   - word: `all`, `mentions` or `none`, in every workspace; `nil` for `all`.
    ///   - command: for `/bin/sh -c`, run for each message; `nil` and empty for none.
    /// - Returns: `nil` where `word` is not one of these.
    public init?(level word: String?, command: String?) {
        let word = word ?? OwnRegister.NoticeLevel.all.word
        guard let level = OwnRegister.NoticeLevel(word: word) else { return nil }
        self.level = level
        self.command = command?.isEmpty == true ? nil : command
    }
}

/// How much space files may take, unless the owner has set otherwise by a command.
public struct FileDefaults: Sendable, Equatable {
    /// Bytes of ciphertext that may be held; `nil` for a tenth of the disk and at most
    /// `BlobLimits.quotaBytesDefaultMax`.
    public var quota: UInt64?
    /// How long files stay that others have and nobody uses.
    public var period = CachePeriod.forever
    /// The largest file that is put here.
    public var attachmentBytes = Limits.fileBytesUsual
    /// Whether the network costs by the byte; `nil` for what NetworkManager says.
    public var isMetered: Bool?

    /// The defaults.
    public init() {}
}

/// The files of a home besides node.db. Each call is durable when it returns.
public protocol HomeFiles: GuardFile {
    /// The bytes of `identity/device.key`, or `nil` when there is none.
    ///
    /// - Throws: `HomeFileError` for a file that others may read, or that cannot be read.
    func readIdentity() throws(HomeFileError) -> [UInt8]?
    /// Makes `identity/device.key`; one that exists is never replaced.
    func createIdentity(_ bytes: [UInt8]) throws(HomeFileError)
    /// Replaces `identity/device.key` atomically. The old file's content is overwritten, as far as
    /// the disk allows.
    func replaceIdentity(_ bytes: [UInt8]) throws(HomeFileError)
    /// What the file system says about node.db.
    var storeFacts: StoreFileFacts { get }
    /// Free bytes on the disk that holds node.db.
    var freeBytes: Int64 { get }
    /// All bytes of that disk.
    var diskBytes: Int64 { get }
    /// Bytes of node.db and its log.
    var storeBytes: Int64 { get }
}

/// The machine around the node, as `doctor` queries it.
public protocol Surroundings {
    /// Looks at the machine. It reads small files and waits for nothing.
    func findings(_ facts: SurroundingsFacts) -> [FindingObject]
    /// Whether a plain file can be read at an absolute path. Nothing is read of it.
    func canRead(_ path: String) -> Bool
}

/// What the node itself knows that concerns the machine.
public struct SurroundingsFacts: Sendable, Equatable {
    /// Where peers reach the listener; empty while it is off.
    public var listen: [String]
    /// The port of the listener, `nil` while it is off.
    public var port: UInt16?
}
