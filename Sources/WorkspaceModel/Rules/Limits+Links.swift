/// Links to peers, and the cost that strangers may cause.
extension Limits {
    // MARK: Peers

    /// One encrypted frame: the length prefix is 16 bits.
    public static let frameBytesMax = 65_535
    /// One fragment of a message, so that bulk never delays a live operation for long.
    public static let fragmentBytesMax = 16 * 1024
    /// One sync message.
    public static let messageBytesMax = 256 * 1024
    /// The same for a message about blobs, which may carry a piece of 256 KiB behind its head.
    public static let blobMessageBytesMax = 257 * 1024
    /// One `ops` message: the answer to a pull.
    public static let operationsMessageBytesMax = 1024 * 1024
    /// Incomplete messages of one link: an answer to a pull, and what is more urgent.
    public static let unfinishedPerLinkBytesMax = operationsMessageBytesMax + 2 * messageBytesMax
    /// The same for all links together, for there may be many.
    public static let unfinishedBytesMax = 24 * 1024 * 1024
    /// Pulls that may be outstanding on one session.
    public static let pullsOutstandingMax = 2
    /// Private documents that a guest names in one opening: 136 KB, half of a message.
    public static let scopeDocumentsMax = 4_096
    /// Logs whose claims and receipts are remembered per peer; more come with the next comparison.
    public static let rememberedTipsMax = 16_384
    /// Logs of the authority document beyond those that one peer may claim: anybody can start logs
    /// there with new keys. One takes some 450 bytes, so 2 MB per link.
    public static let authorityTipsMax = 4_096
    /// Devices that one message lists as reached by the sender, and that are remembered per peer:
    /// all of the largest workspace.
    public static let reachNamesMax = 2_048
    /// Up to this many peers, everybody announces each operation to everybody; with more, an author
    /// tells the others whom it reaches itself.
    public static let receiptsToAllMax = 8
    /// How long a member may not know an admission that was just written elsewhere: it asks for it
    /// at once.
    public static let unknownMembershipMilliseconds: UInt64 = 10_000
    /// The same during the first sync of a workspace: a joining node hears of every log of the
    /// authority document once, at the start.
    public static let authorityTipsMaxAtJoining = 65_536
    /// Unrequested pushes that may wait in one peer's send buffer before it gets `tips` only.
    public static let unaskedUnsentBytesMax = 256 * 1024
    /// Everything that may wait in one peer's send buffer.
    public static let unsentBytesMax = 2 * 1024 * 1024
    /// A peer that reads nothing for this long is disconnected.
    public static let stalledMilliseconds: UInt64 = 30_000
    /// The whole handshake, from the first byte to the last.
    public static let handshakeMilliseconds: UInt64 = 5_000
    /// Connections that have not proved that they know a secret. With 5,000 new ones a second, an
    /// honest one that needs 200 ms loses its place 1 time in 280, one that needs 60 ms 1 time in
    /// 35,000, and each tries again twice in 5 s. That takes 16 MiB of the kernel's memory and 2
    /// MiB of ours, and only during such an attack.
    public static let anonymousLinksMax = 4_096
    /// First messages of connections that are remembered against replay: more than all members dial
    /// in a day, in a quarter of a MiB.
    public static let greetingsMax = 8_192
    /// Handshakes under way of connections that have proved it: what is answered in 5 s at 200
    /// agreements a second, with some room for more.
    public static let knownHandshakesMax = 256
    /// The number of shares at most into which these handshakes and the key agreements of a second
    /// are divided among workspaces: with more workspaces, each still has a share of that size.
    public static let handshakeSharesMax = 8
    /// Connections accepted from the kernel's queue in one turn: about 3 ms.
    public static let acceptedPerTurnMax = 256
    /// File descriptors that the process requests: twice what strangers may use.
    public static let descriptorsWanted: UInt64 = 8_192
    /// Log lines per minute about ended links of strangers.
    public static let strangerLinesPerMinuteMax = 30
    /// Bytes of a frame that the kernel buffers before it wakes the node: beside so many a turn
    /// costs little, and a slow sender is still read every few seconds.
    public static let gatheredBytesMax = 1_024
    /// Bytes that a link delivers at once after which more bulk is expected.
    public static let bulkBytesMin = 32 * 1_024
    /// Bytes of such a link that the kernel gathers: a piece of a file, and what is read at once.
    public static let gatheredBulkBytes = 256 * 1_024
    /// For how long at most: nobody notices that a message came so much later.
    public static let gatheredBulkMilliseconds: UInt64 = 2
    /// Links to one device: one for each store, of a home and its copies. A device that claims more
    /// stores gets no further links.
    public static let linksPerDeviceMax = 4
    /// Devices reported as running in two copies, each once in the life of a process.
    public static let copiesToldMax = 1_024
    /// Links of peers without a grant here (yet), in either direction: someone who knows an old
    /// secret can make others dial them.
    public static let strangerLinksMax = 64
    /// Handshakes under way from one IPv4 address or one IPv6 /64, counted separately for anonymous
    /// ones and others.
    public static let halfOpenPerAddressMax = 8
    /// Key agreements per second that strangers may cause.
    public static let strangerAgreementsPerSecondMax = 200
    /// Silence after which a peer is pinged.
    public static let pingMilliseconds: UInt64 = 30_000
    /// Silence after which a peer is dead.
    public static let deadMilliseconds: UInt64 = 90_000
    /// How long a removed member may be silent before the link that tells them so is closed: a
    /// round trip round the world with its losses.
    public static let farewellMilliseconds: UInt64 = 5_000
    /// How long such a link lasts at most, however slowly it is read.
    public static let farewellMillisecondsMax: UInt64 = 10 * 60 * 1_000
    /// Sealed bytes in a transport above which nothing more is sealed: sealed messages can no
    /// longer be overtaken by urgent ones.
    public static let sealedUnsentBytesMax = 64 * 1024
    /// Bytes of pieces of files that wait for a link, from which on frames of them are sealed without a
    /// turn: half of what may wait, so that the next ones are read while these leave.
    public static let piecesUnsentMin = 512 * 1024
    /// Dials under way at a time: enough for a start with many peers, few enough for any router.
    public static let dialsInFlightMax = 16
    /// How long a dial that nobody waits for takes a place, unless its result comes before: a name
    /// is looked up, and some of its addresses time out after ten seconds each.
    public static let abandonedDialMilliseconds: UInt64 = 60_000
    /// Addresses kept per device: several networks, some of them old.
    public static let addressesPerDeviceMax = 16
    /// Address records kept: one for every device of a large workspace, twice.
    public static let addressRecordsMax = 4_096
    /// An address record is valid for a week after it was signed.
    public static let addressRecordMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
    /// Addresses without a known device that are dialled because of a beacon or an invite link.
    public static let heardAddressesMax = 64
    /// Beacon tags that are tried at once: those of 64 nodes with a workspace of 256 discovery
    /// secrets each, which takes some 40 ms.
    public static let beaconTriesMax = 65_536
    /// And more for each millisecond, a twentieth of the time: anybody on the network may send any
    /// number.
    public static let beaconTriesPerMillisecond = 64
    /// Between two beacons sent ahead of schedule because somebody looks for this node by a link.
    public static let beaconHurryMilliseconds: UInt64 = 5_000
    /// Members' beacons that are remembered, so that each causes one dial: those of 60 nodes for as
    /// long as a tag is valid, in 300 KiB.
    public static let beaconsKnownMax = 4_096
    /// Addresses of this machine that send beacons.
    public static let beaconSourcesMax = 16
    /// Dials at once to addresses of one person's devices that others announced or beacons carried:
    /// all devices of a person at all their addresses. A member can announce any address, any
    /// number of times.
    public static let dialsOfOneMax: UInt64 = 64
    /// The budget grows by one in this many milliseconds.
    public static let dialOfOneMilliseconds: UInt64 = 2_000
    /// Address records of one person's devices that are requested at once: of all devices that a
    /// person can link.
    public static let addressRecordsOfOneMax: UInt64 = 64
    /// The budget grows by one in this many milliseconds; a device that moves signs one.
    public static let addressRecordOfOneMilliseconds: UInt64 = 5_000

    /// Secrets of one workspace that are tried one after another on a link to a peer that does not
    /// know this device as a member.
    public static let shownSecretsMax = 4
    /// Failed secrets that are allowed on one link: each is compared with all that open links.
    public static let unmatchedSecretsMax = 16
}
