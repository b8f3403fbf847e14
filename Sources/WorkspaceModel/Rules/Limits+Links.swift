/// Links to peers, and what strangers may cost.
extension Limits {
    // MARK: Peers

    /// One encrypted frame: the length prefix is 16 bits.
    public static let frameBytesMax = 65_535
    /// One fragment of a message, so that bulk never delays a live operation for long.
    public static let fragmentBytesMax = 16 * 1024
    /// One sync message.
    public static let messageBytesMax = 256 * 1024
    /// The same of a message about blobs, which may have a piece of 256 KiB behind its head.
    public static let blobMessageBytesMax = 257 * 1024
    /// One `ops` message: the answer to a pull.
    public static let operationsMessageBytesMax = 1024 * 1024
    /// Messages of one link whose rest is still to come: an answer to a pull, and what is more urgent.
    public static let unfinishedPerLinkBytesMax = operationsMessageBytesMax + 2 * messageBytesMax
    /// The same of all links together, for they may be many.
    public static let unfinishedBytesMax = 24 * 1024 * 1024
    /// Pulls that may be outstanding on one session.
    public static let pullsOutstandingMax = 2
    /// Private documents that a guest names in one opening: 136 KB, half of what a message takes.
    public static let scopeDocumentsMax = 4_096
    /// Logs of which one peer's claims and receipts are remembered; more come with the next
    /// comparison.
    public static let rememberedTipsMax = 16_384
    /// Besides, logs of the authority document that one peer may claim: there anybody can begin them,
    /// under keys just made. One takes some 450 bytes, so 2 MB on a link.
    public static let authorityTipsMax = 4_096
    /// Devices that one message lists which the sender reaches, and that are remembered of it: all of
    /// the largest workspace.
    public static let reachNamesMax = 2_048
    /// Up to how many peers everybody tells everybody of each operation: of more than that an author
    /// says whom it reaches itself.
    public static let receiptsToAllMax = 8
    /// How long a member may not know an admission that has just been written elsewhere: it asks for it
    /// at once.
    public static let unknownMembershipMilliseconds: UInt64 = 10_000
    /// The same while a workspace comes for the first time: whoever joins hears of every log of the
    /// authority document at once, and of none of them again.
    public static let authorityTipsMaxAtJoining = 65_536
    /// Unasked pushes that may wait in one peer's send buffer before it gets `tips` only.
    public static let unaskedUnsentBytesMax = 256 * 1024
    /// Everything that may wait in one peer's send buffer.
    public static let unsentBytesMax = 2 * 1024 * 1024
    /// A peer that takes nothing for this long is closed.
    public static let stalledMilliseconds: UInt64 = 30_000
    /// The whole handshake, from the first byte to the last.
    public static let handshakeMilliseconds: UInt64 = 5_000
    /// Connections that have not shown to know a secret: with 5,000 new ones a second an honest one
    /// that needs 200 ms for it loses its place 1 time of 280, one that needs 60 ms 1 of 35,000, and
    /// each comes again twice in 5 s. That is 16 MiB of the kernel's memory and 2 MiB of ours, and
    /// only while somebody does that.
    public static let anonymousLinksMax = 4_096
    /// First messages of connections that are remembered, so that nobody uses a recorded one: more
    /// than all members dial in a day, in a quarter of a MiB.
    public static let greetingsMax = 8_192
    /// Handshakes under way of those that have: what is answered in 5 s at 200 agreements a
    /// second, with room for those that are on their way.
    public static let knownHandshakesMax = 256
    /// Into so many parts at most these and the key agreements of a second are divided among workspaces:
    /// in more, each has that part all the same.
    public static let handshakeSharesMax = 8
    /// Connections that are taken out of the kernel's queue in one turn: about 3 ms.
    public static let acceptedPerTurnMax = 256
    /// Descriptors that the process asks for: twice what strangers may take.
    public static let descriptorsWanted: UInt64 = 8_192
    /// Lines of the log a minute about strangers' links that ended.
    public static let strangerLinesPerMinuteMax = 30
    /// Bytes of a frame that the kernel gathers before it wakes the node: a turn costs little beside
    /// so many, and who sends slowly is still heard every few seconds.
    public static let gatheredBytesMax = 1_024
    /// Bytes that a link hands in at once from which on more of that kind is expected.
    public static let bulkBytesMin = 32 * 1_024
    /// Bytes of such a link that the kernel gathers: a piece of a file, and what is read at once.
    public static let gatheredBulkBytes = 256 * 1_024
    /// For how long at most: nobody notices that a message came so much later.
    public static let gatheredBulkMilliseconds: UInt64 = 2
    /// Links to one device: one for each store, of a home and its copies. A device that claims more
    /// stores than that gets no more links for it.
    public static let linksPerDeviceMax = 4
    /// Devices of which a node tells that their homes run twice, once each in the life of a process.
    public static let copiesToldMax = 1_024
    /// Links of peers that have no grant here (yet), whoever opened them: who knows a secret of before
    /// may have itself dialled.
    public static let strangerLinksMax = 64
    /// Handshakes under way from one IPv4 address or one IPv6 /64, anonymous ones and others each.
    public static let halfOpenPerAddressMax = 8
    /// Key agreements a second that strangers may cost us.
    public static let strangerAgreementsPerSecondMax = 200
    /// Silence after which a peer is pinged.
    public static let pingMilliseconds: UInt64 = 30_000
    /// Silence after which a peer is dead.
    public static let deadMilliseconds: UInt64 = 90_000
    /// How long somebody who was removed may be silent before the link ends over which they are
    /// told so: a round trip round the world with its losses.
    public static let farewellMilliseconds: UInt64 = 5_000
    /// How long such a link stands at most, however slowly they take what they may see.
    public static let farewellMillisecondsMax: UInt64 = 10 * 60 * 1_000
    /// Sealed bytes in a transport above which no more are sealed: they can no longer be overtaken.
    public static let sealedUnsentBytesMax = 64 * 1024
    /// Bytes of pieces of files that wait for a link, from which on frames of them are sealed without a
    /// turn: half of what may wait, so that the next ones are read while these leave.
    public static let piecesUnsentMin = 512 * 1024
    /// Dials under way at a time: enough for a start with many peers, few enough for any router.
    public static let dialsInFlightMax = 16
    /// How long an attempt that nobody waits for takes a place, unless it is reported before: a name is
    /// looked up, and some addresses of it are silent for ten seconds each.
    public static let dialLetGoMilliseconds: UInt64 = 60_000
    /// Addresses that are kept of one device: several networks, some of them old.
    public static let addressesPerDeviceMax = 16
    /// Address records that are kept: one for every device of a large workspace, twice.
    public static let addressRecordsMax = 4_096
    /// An address record counts for a week after it was signed.
    public static let addressRecordMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
    /// Addresses without a device that are dialled because a beacon was heard or a link was read.
    public static let heardAddressesMax = 64
    /// Tags of beacons that are tried at once: those of 64 nodes with a workspace of 256 discovery secrets
    /// each, which takes some 40 ms.
    public static let beaconTriesMax = 65_536
    /// And more for each millisecond, a twentieth of the time: anybody on the network may send any number.
    public static let beaconTriesPerMillisecond = 64
    /// Between two beacons that are sent before their time, because somebody looks for this node by a link.
    public static let beaconHurryMilliseconds: UInt64 = 5_000
    /// Beacons of members that are remembered, so that each has somebody dialled once: those of 60 nodes
    /// for as long as a tag means something, in 300 KiB.
    public static let beaconsKnownMax = 4_096
    /// Addresses of this machine from which a beacon is sent.
    public static let beaconSourcesMax = 16
    /// Dials to addresses that others told of the devices of one person, or by beacons, at once: all
    /// devices of a person at all addresses of theirs. A member can name any address, and as often as it
    /// likes.
    public static let dialsOfOneMax: UInt64 = 64
    /// And one more in this many milliseconds.
    public static let dialOfOneMilliseconds: UInt64 = 2_000
    /// Address records of the devices of one person that are asked for at once: of all devices that one
    /// can link.
    public static let addressRecordsOfOneMax: UInt64 = 64
    /// And one more in this many milliseconds; a device that moves signs one.
    public static let addressRecordOfOneMilliseconds: UInt64 = 5_000

    /// Secrets of one workspace that are shown on a link to somebody who does not know this device in
    /// it, one after the other.
    public static let shownSecretsMax = 4
    /// Secrets that may be shown on one link in vain: each is compared with all that open links.
    public static let secretsShownInVainMax = 16
}
