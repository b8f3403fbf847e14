import CRDTStore
public import WorkspaceCrypto
public import WorkspaceModel

/// One TCP link, numbered by the loop; a process never reuses a number.
public struct LinkID: Hashable, Comparable, Sendable {
    /// The number.
    public let number: UInt64

    /// The link with this number.
    public init(_ number: UInt64) { self.number = number }

    /// By age.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// What can happen to a node: everything the core learns about the world is one of these.
public enum NodeInput: Sendable {
    /// A call on the control socket whose method exists; its arguments are not checked yet. With
    /// the bytes of a small file or of a text that came right behind its line.
    case call(CallID, method: String, arguments: JSONObject, file: [UInt8]? = nil)
    /// A control connection is gone: its calls and subscriptions with it.
    case controlClosed(connection: UInt64)
    /// An outgoing connection that `NodeEffect.dial` asked for is open.
    case dialled(LinkID, number: UInt64, address: String)
    /// An outgoing connection could not be made; `reason` is a word for `peer list`.
    case dialFailed(number: UInt64, reason: String)
    /// Somebody connected from `address`.
    case accepted(LinkID, address: String)
    /// Bytes of a link, in order.
    case received(LinkID, [UInt8])
    /// How much of what was written to a link the kernel has not taken yet.
    case unsent(LinkID, byteCount: Int)
    /// The peer closed the link, or the connection broke. Further effects of this link are ignored.
    case linkClosed(LinkID)
    /// The addresses under which peers reach the listener now; empty while it is off.
    case listening([String])
    /// The addresses of this machine that beacons leave from, without ports.
    case beaconSources([String])
    /// The machine's addresses changed: dial again at once.
    case networkChanged
    /// The process is about to end: what waits to be written cannot wait any longer.
    case stopping
    /// A beacon heard on the local network, from the host part of an address.
    case beacon([UInt8], host: String)
    /// A `KeyDerivationJob` has ended; the call that started it continues.
    case keysDerived(CallID, Result<[SymmetricKey], NodeError>)
    /// A `SearchJob` has ended.
    case searched(SearchOutcome)
    /// A `BlobJob` has made progress or has ended.
    case blobbed(BlobOutcome)
    /// The outcome of a notice.
    case noticed(NoticeOutcome)
    /// Whether the network is metered; `nil` where the system does not say.
    case metered(Bool?)
    /// The command for the letter with this number has ended, with this status as of `NoticeOutcome`.
    case mailed(UInt64, status: Int32?)
    /// The check of the token with this number has ended, with what it said; `nil` where it failed.
    case tokenChecked(UInt64, [UInt8]?)
    /// An `InspectionJob` has ended.
    case inspected(CallID, Result<StoreFindings, InspectionFailure>)
    /// A backup was made, at this time in milliseconds since 1970.
    case backedUp(at: UInt64)
    /// A deadline of `NodeHost.nextDeadline` has passed, or the loop is idle.
    case tick

    /// Whether it only says what happens on connections: whatever peers bring may come in any number
    /// of these in one turn.
    var isOfLink: Bool {
        switch self {
        case .dialled, .dialFailed, .accepted, .received, .unsent, .linkClosed, .listening,
            .networkChanged, .beacon:
            true
        default: false
        }
    }
}

/// What the loop must do, in order, after the COMMIT of the turn.
public enum NodeEffect: Sendable {
    /// Answers a call.
    case answer(CallID, Result<JSONValue, NodeError>)
    /// Gives an input back, to be the first of its connection in a later turn: one turn answers only
    /// so much.
    case putOff(NodeInput)
    /// Does long work beside the loop, and answers the call with its result.
    case job(CallID, NodeJob)
    /// Turns passphrases into keys beside the loop, and brings them back as `keysDerived`.
    case deriveKeys(CallID, KeyDerivationJob)
    /// Looks through the store beside the loop, and brings what it found back as `inspected`.
    case inspect(CallID, InspectionJob)
    /// Does work on the search index beside the loop, after those that were handed out before,
    /// and brings what came of it back as `searched`.
    case search(SearchJob)
    /// Does work on files of blobs beside the loop, after what was handed out before, and brings what
    /// came of it back as `blobbed`.
    case blob(BlobJob)
    /// Removes every file of the home once the store is closed; `stop` follows.
    case wipeHome
    /// Sends bytes on a link.
    case write(LinkID, [UInt8])
    /// Closes a link once what was written has been tried.
    case close(LinkID)
    /// Opens a connection and tells `dialled` or `dialFailed`.
    case dial(number: UInt64, address: String)
    /// Turns listening, accepting and beacons on or off.
    case setNetwork(isOn: Bool)
    /// Sends one packet to the multicast group, from one of the addresses that it was told.
    case announce([UInt8], from: String)
    /// Runs the owner's command for one message, behind those that wait already.
    case notify(Notice)
    /// Finds out whether the network is metered, and tells it as `metered`.
    case lookAtMeter
    /// Sends a letter by the owner's command, after those that wait already, and returns the
    /// outcome as `mailed`.
    case mail(Letter)
    /// Checks a token in a process without keys, and returns its answer as `tokenChecked`.
    case checkToken(UInt64, question: [UInt8])
    /// Drops the notices that wait, and ends all checks of tokens.
    case forgetNotices
    /// Writes one line to the log; never text, names or keys.
    case log(LogLevel, String)
    /// Ends the process after everything before was carried out.
    case stop
    /// The same, because the node cannot continue: its exit status says so.
    case fail
}

/// How important a line of the log is.
public enum LogLevel: Int, Comparable, Sendable {
    case error, warning, info, debug

    /// The more important first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The clocks at the start of a turn; the core reads no other.
public struct TurnTime: Sendable, Equatable {
    /// Milliseconds since 1970.
    public let wall: UInt64
    /// Milliseconds of a clock that never steps back.
    public let monotonic: UInt64

    /// Both clocks' readings.
    public init(wall: UInt64, monotonic: UInt64) {
        self.wall = wall
        self.monotonic = monotonic
    }
}
