import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Links, dials and addresses: what is known of the network now. It belongs to `Links`; it also
/// holds the state of joins and of this device's history.
final class NetworkState {
    /// The budget for strangers, and the connections about which nothing is known yet.
    let strangers = Strangers()
    /// Joins and links of devices that are under way.
    let joining = Joining()
    /// Where others are found, and this node.
    let addresses: Addresses
    /// The state of exchanges over all links together.
    let exchange = Exchange()
    /// Devices and addresses, and when to dial them.
    var registry = PeerRegistry()
    var links: [LinkID: PeerLink] = [:] { didSet { sorted = nil } }
    private var sorted: [PeerLink]?
    /// Pairs of links to one device, of which one has to be closed.
    var contests: [LinkContest] = []
    /// Homes that run twice.
    var copies = CopiedHomes()
    /// Calls of `net.resume` that wait for the listener.
    var resumes: [CallID] = []
    /// Whether links are of no use, because what they bring cannot be kept.
    var fullDisk = FullDiskBackoff()
    /// The members who were linked in this run, and have left.
    var departures = Departures()
    /// Sent and heard beacons.
    var beacons = BeaconState()
    /// Calls that wait until peers have told what this device wrote.
    var ownHistory = OwnHistory()
    var isRegistryDirty = false
    /// The secrets under which others may open a link, until authority changes; and what was known of
    /// the keys of each workspace then.
    var candidates: (all: [PSKCandidate], generations: [UInt64])?

    init(announces: Bool) { addresses = Addresses(announces: announces) }

    /// The established links to a device, oldest first.
    func links(to device: DeviceID) -> [PeerLink] {
        links.values.filter { $0.peer?.device == device && !$0.isClosing }
            .sorted { $0.id < $1.id }
    }

    /// All links, oldest first.
    var ordered: [PeerLink] {
        if let sorted { return sorted }
        let made = links.values.sorted { $0.id < $1.id }
        sorted = made
        return made
    }
}

extension NetworkState {
    /// The budget for strangers, and the connections about which nothing is known yet.
    final class Strangers {
        /// The budget for strangers.
        var budget = HandshakeBudget(now: 0)
        var greetings = HandshakeReplayCache()
        /// Connections that have not said enough to tell whether they know a secret. They are as cheap
        /// as can be: no session, and no part in anything that goes over all links.
        var anonymous: [LinkID: AnonymousLink] = [:]
        /// Lines of the log about links of strangers that ended.
        var strangerLines = LineAllowance()
    }

    /// Joins and links of devices that are under way.
    final class Joining {
        var joins: [JoinAttempt] = []
        /// The device link that was made here last.
        var issuedLink: IssuedDeviceLink?
        /// The device link by which this home becomes a device of somebody.
        var linking: LinkAttempt?
        /// Tips in one `join_result`, so that it stays below the limit of a message; a result with
        /// this many says that more may follow. Tests make it smaller.
        var joinTipsMax = 2_048
        /// Joins that continue until somebody has decided, as they are stored, sealed.
        var pendingJoins: [PendingJoin] = []
        /// Dials of join attempts have numbers of their own, from the other end.
        var nextJoinDial = UInt64.max

        /// Whether an admin of the workspace was asked, and has not decided as far as we know.
        func isAwaited(_ workspace: WorkspaceID) -> Bool {
            let name: Identifier16<Named.Document> = .init(prefixOf: workspace)
            return pendingJoins.contains { join in
                !join.isRefused && (try? InviteLink(join.link))?.workspace == name
            }
        }
    }

    /// Where others are found, and this node.
    final class Addresses {
        /// Signed addresses that members have published.
        var book = AddressBook()
        /// Address records that still have to be told and asked for.
        var addressNews = AddressNews()
        /// Addresses that took a connection and did not answer the handshake, and how often in a row.
        var unanswered: [String: Int] = [:]
        /// Addresses that `peer.discovered` has reported since the start.
        var told: Set<String> = []
        /// Under which addresses others reach the listener.
        var listening: [PeerAddress] = []
        var announces: Bool

        init(announces: Bool) { self.announces = announces }

        /// Whether it listens to nobody but this machine.
        var isAlone: Bool { listening.allSatisfy { $0.reach == .loopback } }

        /// Records an address that did not answer. When there are too many, all are dropped: that
        /// only costs attempts.
        func noteUnanswered(_ address: String) {
            if unanswered.count >= 1_000 { unanswered = [:] }
            unanswered[address, default: 0] += 1
        }
    }

    /// The state of exchanges over all links together.
    final class Exchange {
        /// Which link pulls which log, by workspace.
        var planners: [Int64: PullPlanner] = [:]
        /// Numbers of sessions in planners; never given twice.
        var nextSource: PullPlanner.SourceID = 1
        /// Workspaces in which this process has once held what a peer held.
        var synced: Set<Int64> = []
        /// Workspaces in which a peer is no longer reached directly that others may have been told
        /// about.
        var lostReach: Set<Int64> = []
        /// How far each peer was asked for missing payloads; outlives its links.
        var payloadRounds: [PayloadRound.Place: PayloadRound] = [:]
        /// Missing payloads that one link asks for. Tests make it smaller.
        var payloadsPerLink = Limits.payloadsAskedPerLinkMax
        /// The links that have brought more than a turn takes, in the order in which they are next.
        var backlogged: [LinkID] = []
        /// Messages that peers have sent only in part.
        var unfinished = UnfinishedMessages()
        /// How many bytes that may be. Tests make it smaller.
        var unfinishedBytesMax = Limits.unfinishedBytesMax
    }
}

/// One link: its session, and one sync session for each workspace that both ends share.
final class PeerLink {
    let id: LinkID
    let session: PeerSession
    let address: String
    /// The registry's number of the dial, `nil` for an accepted link and for a join.
    let attempt: UInt64?
    let openedAt: UInt64
    var isClosing = false
    var syncs: [Int64: WorkspaceLink] = [:] { didSet { sortedSyncs = nil } }
    private var sortedSyncs: [WorkspaceLink]?
    /// The same, by workspace.
    var orderedSyncs: [WorkspaceLink] {
        if let sortedSyncs { return sortedSyncs }
        let made = syncs.values.sorted { $0.workspace < $1.workspace }
        sortedSyncs = made
        return made
    }
    /// Which workspace the peer means by its numbers.
    var theirNumbers: [WorkspaceNumber: Int64] = [:]
    var nextNumber: WorkspaceNumber = 1
    /// The address without its port, by which hosts are counted: of IPv6 the network of 64 bits.
    var host: String {
        PeerAddress(address, defaultPort: 0).map { String(describing: $0.host.site) } ?? address
    }
    /// Messages from it that are still to be processed.
    var backlog = Backlog()
    /// How the other end has begun.
    var beginning = Beginning()
    /// The invite by which the peer wants to join.
    var invite: (workspace: Int64, id: OperationID)?
    /// Set while the peer is no longer a member here and is told so.
    var farewell: Farewell?
    /// Whether nothing more is begun on it.
    var isEnding: Bool { isClosing || farewell != nil }
    /// Whether the other end was nobody any more when the link came about, so it is not listed.
    var wasFormer = false
    /// Whether there was ever another link to the same device beside this one.
    var hadParallelLink = false
    /// Whether the other end said that this device was removed.
    var wasToldRemoval = false
    /// The secrets of workspaces that were shown on this link.
    var secrets = ShownSecrets()
    /// The member to tell on this link what an admin decides.
    var asking: MemberID?
    /// The newest authority operation when that was looked up last.
    var askedBefore: OperationID?
    /// The keys that were asked for and given on this link.
    var keys = ExchangedKeys()
    /// The missing payloads that were.
    var payloads = ExchangedPayloads()

    init(
        id: LinkID, session: PeerSession, address: String, attempt: UInt64?, openedAt: UInt64
    ) {
        self.id = id
        self.session = session
        self.address = address
        self.attempt = attempt
        self.openedAt = openedAt
    }

    /// The peer, once the handshake is complete.
    var peer: PeerIdentity? { session.peer }
}

/// The state of each exchange over a link.
extension PeerLink {
    /// How the other end has begun.
    struct Beginning {
        /// Bytes that arrived before there was a session, until the session takes them.
        var firstBytes: [UInt8]?
        /// How the other end has begun, where it has dialled.
        var greeting: [UInt8] = []
        /// An agreement that had to wait for the budget.
        var agreementDue: UInt64?
    }

    /// The secrets of workspaces that were shown on a link.
    struct ShownSecrets {
        /// How many secrets of a workspace were shown on this link, by its short number.
        var shownSecrets: [Int64: Int] = [:]
        /// The workspaces whose secret the peer has shown since the handshake.
        var provenWorkspaces: Set<Int64> = []
        /// How many it has shown that are none.
        var unmatchedSecretCount = 0
    }

    /// The keys that were asked for and given on a link.
    struct ExchangedKeys {
        /// The keys of private documents that were asked for on this link.
        var wanted: [DocumentID: [KeyID]] = [:]
        /// The last operation that was here when they were, and the same of what was answered by a key.
        var askedThrough: [DocumentID: Int64] = [:]
        var answeredThrough: [DocumentID: Int64] = [:]
        /// The peer's unanswered requests so far: the last for each private document.
        var withheld: [DocumentID: KeyWant] = [:]
        /// The group keys that were asked for on this link, by the workspace's short number.
        var askedGroupKeys: [Int64: Set<KeyID>] = [:]
        /// How many keys of either kind were asked for.
        var askedKeys = 0
        /// How many such keys were given.
        var givenKeys = 0
        /// How many came that nobody had asked for, or that nothing names.
        var refusedKeys = 0
    }

    /// The missing payloads that were asked for and given on a link.
    struct ExchangedPayloads {
        /// The operations whose missing payloads were asked for on this link, by arrival number.
        var askedPayloads: Set<Int64> = []
        /// How many such payloads were given.
        var givenPayloads = 0
    }
}

/// One workspace on one link.
final class WorkspaceLink {
    let workspace: Int64
    /// Under which we opened it.
    let number: WorkspaceNumber
    var session: SyncSession
    var standing: SyncSession.Standing
    var deadline: UInt64?
    /// Requests that were ingested in this turn, to be answered when all of it is known.
    var ingested: [(request: RequestNumber, waiting: [LogName])] = []
    /// Citations of waiting operations that came over this link.
    var cited: [SyncSession.Citing] = []
    /// Whether everything the peer announced at first is here.
    var isCaughtUp = false
    /// Whether all that the peer knows of this device's own operations is here.
    var knowsOwnHistory = false
    /// How reachable the person at the other end is, as that device says.
    var presence: PresenceUpdate?
    /// Whether the peer has to be told this person's presence.
    var owesPresence = false
    /// Since when the other end says that it knows no grant of this device, on the monotonic clock.
    var unknownSince: UInt64?
    /// The progress that was last reported.
    var progress = SyncProgress()
    /// How many transient messages the peer may still send.
    var passing = Allowance(
        tokens: UInt64(Limits.passingWordsMax),
        refillMilliseconds: Limits.passingWordMilliseconds)
    /// How much it may still say of what happens in notes.
    var noteWords = Allowance(
        tokens: UInt64(Limits.noteWordsMax),
        refillMilliseconds: Limits.noteWordRefillMilliseconds)
    /// The same of addresses that are proved.
    var proofs = Allowance(
        tokens: UInt64(Limits.proofWordsMax), refillMilliseconds: Limits.proofWordMilliseconds)
    /// The hash of the peer's address book, as it last said.
    var book: Identifier16<BookSummary>?
    /// The timestamp of the record that was requested from the peer, by device.
    var wanted: [DeviceID: UInt64] = [:]
    /// The timestamp of the record that was given to the peer, by device.
    var given: [DeviceID: UInt64] = [:]
    /// The peers that the other end sends its operations to directly, according to itself.
    var reach: Set<DeviceName> = []
    /// The peers that this device sends its operations to directly, as the other end was told.
    var toldReach: Set<DeviceName> = []
    /// When the other end said last that its person types, on the monotonic clock.
    var typing: [DocumentID: UInt64] = [:]

    init(
        workspace: Int64, number: WorkspaceNumber, session: SyncSession,
        standing: SyncSession.Standing
    ) {
        self.workspace = workspace
        self.number = number
        self.session = session
        self.standing = standing
    }
}
