/// Every bound on what comes from outside, each with its reason.
///
/// A limit delays, it never decides: it is either part of well-formedness, judged on an
/// operation's own bytes, or a budget that postpones. Tests read the same constants.
public enum Limits {
    // MARK: Encoding

    /// Deepest nesting of signed or sent CBOR: payloads need 5, and a decoder may recurse this far.
    public static let cborDepthMax = 8
    /// Deepest nesting of a control line: deep enough for any script, shallow enough for any stack.
    public static let jsonDepthMax = 32

    // MARK: Operations

    /// Bytes of an operation's header: 13 fields with 64 dependencies stay well below.
    public static let headerBytesMax = 8 * 1024
    /// Bytes of a payload, sealed: a 16 KiB text in the costliest escape still fits.
    public static let payloadBytesMax = 256 * 1024
    /// Bytes of an authority operation's payload: key wraps for 2,000 devices and 5,000 cuts fit.
    public static let authPayloadBytesMax = 768 * 1024
    /// Cuts in one authority operation; more go into parts before it.
    public static let cutsPerOperationMax = 5_000
    /// Parts of one removal: 320,000 logs of one person, more than any workspace has.
    public static let cutPartsMax = 64
    /// Invites that one removal names, and other lists of operations in a payload.
    public static let revokedInvitesMax = 1_024
    /// Older keys that one rekey seals: as many as admins change the key at the same time.
    public static let olderKeysMax = 64
    /// Dependencies of an operation outside the authority document.
    public static let dependenciesMax = 16
    /// Dependencies of an authority operation: heads of many concurrent administrators.
    public static let authDependenciesMax = 64
    /// Operations of one log that one signature may vouch for.
    public static let segmentLength: UInt64 = 1_024
    /// Payload bytes that one signature may vouch for before the signed operation.
    public static let runPayloadBytesMax = 256 * 1024
    /// Dependencies that one signature may vouch for before the signed operation. With them, and what
    /// a segment takes besides, it fits into one message: 914 KiB at most.
    public static let runDependenciesMax = 2_048
    /// Text of one message, in bytes of UTF-8.
    public static let messageTextBytesMax = 16 * 1024
    /// The sign of a reaction, in bytes of UTF-8: a family with skin tones takes 41.
    public static let emojiBytesMax = 64
    /// Members that one message mentions: more are everybody.
    public static let mentionsMax = 64
    /// How far off a place may be said to be, in metres: half round the earth.
    public static let locationAccuracyMax: UInt64 = 20_040_000
    /// A name inside an operation, in bytes of UTF-8. This alone is validity.
    public static let nameBytesMax = 256
    /// A name when it is written here, in grapheme clusters.
    public static let nameCharactersMax = 30
    /// A name when it is written here, in Unicode scalars.
    public static let nameScalarsMax = 128
    /// Combining marks in a row in a name that is written here: more is a weapon, not a script.
    public static let combiningMarksInARowMax = 4
    /// A remote timestamp advances our clock at most this far past the wall clock.
    public static let clockLeadMillisecondsMax: UInt64 = 5 * 60 * 1_000

    // MARK: Branches

    /// Branches of one log that count: a restored home makes a few, only harm makes more.
    public static let branchesMax = 8
    /// Branches of one log that nothing valid lies on, and that stay in case a verdict changes.
    public static let voidBranchesMax = 8
    /// Branches of one log that may be stored until the end of a turn. Each new one is compared with
    /// all others, and removing what is too much goes through the document.
    public static let branchesCrowdedMax = 64

    // MARK: Private documents

    /// People of one direct conversation besides whoever opens it: more are a channel.
    public static let directPeopleMax = 31
    /// The name of a setting in the own document.
    public static let preferenceNameBytesMax = 64
    /// The value of one: what a program keeps for all devices is small.
    public static let preferenceBytesMax = 16 * 1_024
    /// Of one conversation at most one read marker is written in this time: who reads a busy
    /// channel must not fill everybody's store with it.
    public static let readMarkerMilliseconds: UInt64 = 60_000
    /// Operations that an author looks at to see what is in the past of what it cites, while
    /// somebody's clock is ahead.
    public static let causalStepsMax = 64
    /// Between two words on one conversation to the own devices, of what is not written yet.
    public static let readWordMilliseconds: UInt64 = 1_000
    /// Logs that one read marker names: about 12 KiB. Where there are more, several are written.
    public static let readFrontierLogsMax = 1_024
    /// How many of the newest messages of a conversation are looked at to count those that were not
    /// read, so that a list of channels costs the same after a year away.
    public static let unreadScanMax: Int64 = 10_000
    /// Keys under one name that cannot prove themselves: members who hand on a wrong one must not
    /// make others try thousands.
    public static let unprovenKeysMax = 8
    /// Members that one operation seats: as many as a workspace is made for, in 42 KB.
    public static let privateSeatsMax = 2_000
    /// Names that one addition tells to guests, in at most 140 KB.
    public static let namesToldMax = 500
    /// Cuts in one removal from a private document: logs of one person in one document, in 210 KB,
    /// so that the whole operation stays below a payload's size.
    public static let privateCutsMax = 2_000
    /// Removals from the workspace that one new key answers; further ones take a further key.
    public static let privateAnswersMax = 512
    /// A topic or a description inside a private document, in bytes of UTF-8.
    public static let privateTextBytesMax = 16 * 1024

    /// Keys of private documents that one link asks for, or is given: what is missing still then
    /// is asked for on the next one.
    public static let keysAskedPerLinkMax = 4_096
    /// A private document of so many membership operations, citations and seats, each seat for six,
    /// is judged anew in each turn in which something of it came; a larger one waits.
    public static let judgedAtOnceMax = 1_024
    /// As many of the larger ones of one size class are judged for each millisecond that passes. One
    /// takes some 3 us, so that is a twentieth of the time, whoever writes how much.
    public static let judgedPerMillisecond = 16
    /// And so many of all documents in one turn, a fifth of a second, before others are heard.
    public static let judgedPerTurnMax = 65_536

    /// Keys of epochs, and what they give for single documents, that are in memory at a time: more
    /// than a week of anybody's reading asks for, in 256 KiB of locked memory. All others lie sealed
    /// in the store.
    public static let keysInMemoryMax = 4_096
    /// Discovery secrets of one workspace under which links are answered, the newest: whoever opens
    /// one makes a node try them all. An older one leads nowhere any more, as a lost address does.
    public static let discoverySecretsMax = 256
    /// Group keys of one workspace under which links are answered, the newest: who was away for longer
    /// comes under a discovery secret.
    public static let linkEpochsMax = 16
    /// Operations that name one of them and do not know of each other, the newest: honest ones are one.
    public static let linkEpochIntroductionsMax = 4

    // MARK: Messages

    /// Signs that are shown under one message, those that most people gave.
    public static let reactionsShownMax = 64
    /// Signs that one person may leave under one message when they are written here.
    public static let reactionsPerMemberMax = 32
    /// Rows of one person's reactions to one message that are looked at: what two devices wrote
    /// apart fits, and nobody can make showing a message slow for everybody.
    public static let reactionRowsPerMemberMax = 64
    /// Newest messages of a conversation among which the one is looked for that stands for it in a
    /// list: more deletions in a row show as a deletion.
    public static let previewScanMax = 32
    /// Own messages that others do not take which the home screen counts.
    public static let refusedCountMax: Int64 = 10_000
    /// `@` in one text that are looked up among the names.
    public static let mentionSignsMax = 256

    // MARK: Profiles and presence

    /// One field of a profile, in bytes of UTF-8: a page of members has them all in one line.
    public static let profileFieldBytesMax = 1_024
    /// What somebody is busy with, in bytes of UTF-8: one line under a name.
    public static let presenceTextBytesMax = 256
    /// Between two words on the own presence to one workspace: of a program that changes it all
    /// the time the latest counts.
    public static let presenceMilliseconds: UInt64 = 2_000
    /// What passes and is not stored that a peer may say at once; what is too much is dropped.
    public static let passingWordsMax = 32
    /// And as many more as time goes by, one in this many milliseconds.
    public static let passingWordMilliseconds: UInt64 = 500
    /// Between two words on somebody's typing in one channel, which is shown for as long.
    public static let typingMilliseconds: UInt64 = 10_000
    /// Passing events that one stream keeps until its reader takes them; more are dropped, and
    /// counted.
    public static let passingEventsMax = 256
    /// Own messages of one log of which one turn tells who holds them, the newest: whoever was
    /// away for long hears of those that somebody still looks at.
    public static let messagesToldHeldMax = 32
    /// How old a message may be of which is told that everybody holds it: later it is a new
    /// device that has it too, which nobody waits for.
    public static let heldToldMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// Between two words about how far a transfer has come.
    public static let progressMilliseconds: UInt64 = 500
    /// Rows of the event table that are looked at in one go, about 5 ms: a narrow filter over a
    /// long table holds up nobody.
    public static let eventsLookedAtMax = 4_096

    // MARK: Deleted messages

    /// Operations that one redaction names: a message with all its edits, in 20 KB.
    public static let redactTargetsMax = 256
    /// Edits that are deleted with their message, the newest: 16 redactions, also for somebody's
    /// message that a program changes without end.
    public static let editsErasedMax = 16 * redactTargetsMax - 1
    /// How long a message that somebody else deleted is kept, hidden, on each node: until then
    /// the deletion can be taken back.
    public static let redactionUndoMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// Payloads that are erased in one turn before the next input gets its turn.
    public static let erasedPayloadsPerTurnMax = 512
    /// Operations about whose deletion is decided anew in one turn before the next input gets its
    /// turn: those that one admin ever deleted, when the right to it ends.
    public static let redactionsJudgedPerTurnMax = 1_024
    /// People of whom words about following are read in one turn: 35 microseconds each at worst.
    public static let followersHeardPerTurnMax = 2_048
    /// How soon the write-ahead log is emptied after something was erased: deletions that come
    /// together cost one copy.
    public static let erasedLogMilliseconds: UInt64 = 2_000
    /// Missing payloads that one message asks for.
    public static let payloadsPerWantMax = 64
    /// Missing payloads that one link asks for, or is given; the rest on the next one.
    public static let payloadsAskedPerLinkMax = 4_096
    /// Rows of missing payloads that are looked at in one go, also those of other workspaces.
    public static let missingLookedAtMax = 16_384
    /// How long a peer is not asked again for what it did not have when it was asked twice; each
    /// time twice as long, up to a day.
    public static let payloadRoundMilliseconds: UInt64 = 60 * 1_000
    /// The longest such time.
    public static let payloadRoundMillisecondsMax: UInt64 = 24 * 60 * 60 * 1_000

    // MARK: Deleted channels

    /// How long the operations of a deleted channel are kept: a deletion that loses its effect,
    /// because its author is removed, brings the channel back as it was.
    public static let deletedChannelMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
    /// Operations that are erased in one turn before the next input gets its turn.
    public static let erasedPerTurnMax: Int64 = 2_000
    /// How long the contents of a deleted workspace are kept, for the same reason; it is more,
    /// because more is lost.
    public static let deletedWorkspaceMilliseconds: UInt64 = 30 * 24 * 60 * 60 * 1_000

    // MARK: Invites

    /// How many people one invite may let in: more than a company's first day, and a bound on how
    /// many admissions and requests one leaked link can cost everybody.
    public static let inviteUsesMax: UInt64 = 1_000
    /// How long an invite made by hand stands at most: a year.
    public static let inviteMillisecondsMax: UInt64 = 365 * 24 * 3_600 * 1_000
    /// How long the address of a workspace stands: ten years, for it ends when the policy does.
    public static let addressMillisecondsMax: UInt64 = 3_650 * 24 * 3_600 * 1_000
    /// Requests that may wait on an invite for fewer people: the wrong people may ask first.
    public static let requestsPerInviteMin: UInt64 = 16
    /// Authority operations of one member that are taken in at once, in units, and half as many in
    /// an hour after that: a person does less in a week, and a member who does more is waited for.
    /// Requests and admissions count apart from the rest, as many.
    public static let authorityBurstPerMember = 512
    /// What is left for each device of a member where others of its have used that up: enough to
    /// revoke a device that was stolen, and to remove whom it let in.
    public static let authorityBurstPerDevice = 128
    /// The same for a device that was linked.
    public static let authorityBurstPerLinkedDevice = 32
    /// Places among a member's linked devices, the strongest first, that have such a share each: more
    /// than most people carry. All behind them have one together, for there may be any number.
    public static let linkedDeviceSharesMax = 8
    /// What one member's operations may need of others': as much as one of those may have had taken
    /// elsewhere and not here, by all shares of that one and its devices.
    public static let authorityBurstForOthers = 1_536
    /// After how long more is asked for of what no share could pay for: a sixteenth of a share has
    /// come back.
    public static let authorityRetryMilliseconds: UInt64 = 450_000
    /// Bytes of payload that cost as much as one operation more.
    public static let authorityBytesPerUnit = 4_096
    /// Seats that one member gives one other in a private document: more than a life of coming and
    /// going, and each is judged with each that ended it.
    public static let privateSeatsByOneMax = 256
    /// Additions among them without a removal or departure in between: who was out of the workspace
    /// meanwhile is added again without one.
    public static let privateAdditionsByOneMax = 16
    /// Operations without effect that a host of no member may bring in an hour, and their bytes.
    public static let outsiderOperationsHourly = 64
    /// See `outsiderOperationsHourly`.
    public static let outsiderBytesHourly = 1 << 20
    /// Operations that wait for what they cite, of somebody who is no member: an own admission
    /// with what it stands on.
    public static let waitingPerOutsiderMax = 1_024
    /// What peers bring in one turn, in units of about 20 microseconds: of one operation as it comes
    /// in bulk. A run by itself costs 16, each citation 2, four branches of its log 1, and an operation
    /// of an authority document 8.
    public static let ingestCostPerTurnMax = 4_096
    /// Operations of an authority document that are taken before it is looked whether the turn has had
    /// enough: each may bear on many others.
    public static let authorityPerPartMax = 64
    /// Operations that are looked at to judge others, and that cost as much as to take in one.
    public static let authorityLooksPerOperation = 1_024
    /// Operations that were waited for and come to be taken in one turn: others' calls wait for them.
    public static let releasedPerTurnMax = 256
    /// What operations that wait cite of logs with many branches, and so is not pruned meanwhile: of
    /// each peer, and of all. More may have to come again.
    public static let waitingCitationsPerPeerMax = 128
    /// See `waitingCitationsPerPeerMax`.
    public static let waitingCitationsMax = 1_024
    /// Authors, and hosts, that are counted at a time; of more those are forgotten who used least.
    public static let authorityBudgetsMax = 10_000
    /// Devices that one device, with older ones of the same person, links in a workspace: more than a
    /// life needs, and each is judged.
    public static let devicesLinkedMax = 64
    /// Devices with which somebody asks to come back: more than a person carries.
    public static let returningDevicesMax = 16
    /// Joins that this home waits to be approved: nobody waits for more doors than this.
    public static let pendingJoinsMax = 16
    /// How long this home asks whether it was approved: longer than any invite is answered.
    public static let pendingJoinMilliseconds: UInt64 = 400 * 24 * 3_600 * 1_000

    // MARK: Waiting

    /// Operations of one peer that wait for what they cite.
    public static let waitingPerPeerMax = 10_000
    /// Bytes of one peer's waiting operations.
    public static let waitingBytesPerPeerMax = 16 * 1024 * 1024
    /// The same of those of authority documents, which are small and come in the order of their
    /// citing: what somebody who is out has others bring is bounded by this.
    public static let waitingAuthorityBytesPerPeerMax = 4 * 1024 * 1024
    /// Bytes of all waiting operations.
    public static let waitingBytesMax = 64 * 1024 * 1024

    // MARK: Peers

    /// One encrypted frame: the length prefix is 16 bits.
    public static let frameBytesMax = 65_535
    /// One fragment of a message, so that bulk never delays a live operation for long.
    public static let fragmentBytesMax = 16 * 1024
    /// One sync message.
    public static let messageBytesMax = 256 * 1024
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
    /// Links to one device: one for each store, of a home and its copies. A device that claims more
    /// stores than that gets no more links for it.
    public static let linksPerDeviceMax = 4
    /// Devices of which a node tells that their homes run twice, once each in the life of a process.
    public static let copiesToldMax = 1_024
    /// Accepted links of peers that have no grant here (yet).
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
    /// Dials under way at a time: enough for a start with many peers, few enough for any router.
    public static let dialsInFlightMax = 16
    /// Addresses that are kept of one device: several networks, some of them old.
    public static let addressesPerDeviceMax = 16
    /// Address records that are kept: one for every device of a large workspace, twice.
    public static let addressRecordsMax = 4_096
    /// An address record counts for a week after it was signed.
    public static let addressRecordMilliseconds: UInt64 = 7 * 24 * 60 * 60 * 1_000
    /// Addresses without a device that are dialled because a beacon was heard or a link was read.
    public static let heardAddressesMax = 64

    // MARK: Control socket

    /// One control line, each way.
    public static let controlLineBytesMax = 1024 * 1024
    /// Request line and header fields of an HTTP request, and again its trailers: curl and the
    /// clients of chat services stay below 2 KiB.
    public static let httpHeadBytesMax = 16 * 1024
    /// The line with the size of a chunk, extensions included.
    public static let httpChunkLineBytesMax = 1_024
    /// Body of an HTTP request: as much as a control line.
    public static let httpBodyBytesMax = controlLineBytesMax
    /// What is read and thrown away of a body that was refused, so that its sender, who is still
    /// writing, comes to read why.
    public static let httpDiscardedBytesMax = 8 * 1024 * 1024
    /// Control connections at a time.
    public static let controlClientsMax = 64
    /// Connections beyond those, each of a process that has no other: one program that takes all
    /// must not keep the owner's commands out.
    public static let controlClientsSpareMax = 4
    /// Connections beyond all of those that are told why there is no room, when they have asked
    /// for something.
    public static let controlClientsRefusedMax = 16
    /// How long they have to ask, in milliseconds.
    public static let controlRefusalMilliseconds: UInt64 = 1_000
    /// A connection without a call or a stream may give way to a new one after this silence, in
    /// milliseconds: nobody who reads answers is as slow.
    public static let controlIdleMilliseconds: UInt64 = 10_000
    /// How long a request may take to arrive, in milliseconds: on this machine, whole.
    public static let controlRequestMilliseconds: UInt64 = 30_000
    /// Streams of events on one control connection: each is looked at whenever something happens.
    public static let controlSubscriptionsMax = 64
    /// Requests of one connection that wait for an answer.
    public static let controlRequestsPendingMax = 256
    /// Calls whose keys are remembered however old they look: about 2 MB.
    public static let rememberedCallsMin: Int64 = 16_384
    /// A variable in the environment of a bot's command, in bytes: a message of which every byte is
    /// a control character, each made visible in six. The kernel takes 128 KiB.
    public static let botVariableBytesMax = 6 * messageTextBytesMax
    /// What a program says of an event that it gave up, in bytes: a sentence or two.
    public static let warningBytesMax = 512
    /// An idempotency key, in bytes.
    public static let idempotencyKeyBytesMax = 128
    /// Unsent answers of one control connection after which it is a slow reader.
    public static let controlUnsentBytesMax = 4 * 1024 * 1024
    /// The same of all connections together. Above it, who has something unread is given nothing more.
    public static let controlUnsentTotalBytesMax = 64 * 1024 * 1024
    /// Answers of one turn, about, in bytes; the calls that are left come first in the next one.
    public static let answersPerTurnBytesMax = 1024 * 1024
    /// Those of one connection.
    public static let answersPerClientBytesMax = 256 * 1024

    // MARK: Keys at rest

    /// Memory of one Argon2id run, in bytes; one runs at a time.
    public static let passphraseMemoryBytes = 64 * 1024 * 1024
    /// Passes of one Argon2id run that a file may ask for: a wait of about half a second.
    public static let passphrasePassesMax = 16

    // MARK: Notices

    /// The command that is run for a notice, in bytes; as much as a line of a script.
    public static let noticeCommandBytesMax = 4_096
    /// A variable in the environment of that command, in bytes: a notice shows a beginning. The
    /// whole message is on its standard input.
    public static let noticeVariableBytesMax = 4_096
    /// Notices that wait for the one that is shown; then the oldest is dropped.
    public static let noticesWaitingMax = 64
    /// How long the command of one notice may run.
    public static let noticeMilliseconds: UInt64 = 30_000
    /// Failures of it in a row, after which its owner is told.
    public static let noticeFailuresMax = 3

    // MARK: Search

    /// What somebody looks for, in bytes: a sentence.
    public static let searchQueryBytesMax = 1_024
    /// Operations that come in one turn of a sync in bulk, not of a conversation.
    public static let searchBulkMin: Int64 = 64
    /// How long nothing in bulk has come before the search index goes on.
    public static let searchQuietMilliseconds: UInt64 = 500
    /// Operations that are handed to the search index in one turn: about 3 ms.
    public static let searchedPerTurnMax: Int64 = 256
    /// Operations that a question waits for until the index was handed them: about 50 ms. What is
    /// missing beyond comes of a bulk, and the answer says that it is not complete.
    public static let searchAwaitedMax: Int64 = 4_096
    /// Slices that the search index is given before it has written the first of them: what it
    /// writes in one go, so that opening and writing go on side by side.
    public static let searchBatchesMax = 4
    /// Messages that one turn opens to see whether they are what is looked for: about 2 ms.
    public static let searchCandidatesPerTurn = 128
    /// Bytes of text that one turn opens for that: 16 messages as long as they can be. The last one
    /// may go beyond it.
    public static let searchBytesPerTurn = 256 * 1024
    /// More candidates than a page has room for, which the index is asked for first.
    public static let searchSpareCandidates = 4
    /// Messages among which the best are looked for: about 20 ms.
    public static let searchRankedMax = 1_024
    /// Turns of one question, after which it is answered with what was found: 8,192 messages, or
    /// 16 MiB of text.
    public static let searchTurnsMax = 64
    /// Questions that wait for the index at a time.
    public static let searchesWaitingMax = 256
    /// Bytes of one page of results, so that its line stays below 1 MiB.
    public static let searchPageBytesMax = 768 * 1024
    /// An index in memory is dropped in pieces of 4,096 operations, the oldest first.
    public static let searchMemoryPartBits: Int64 = 12
    /// It keeps so many of them: 32,768 operations, about 16 MB.
    public static let searchMemoryPartsMax = 8
}
