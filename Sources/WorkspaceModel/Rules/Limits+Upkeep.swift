extension Limits {
    /// Ranges of one member's content that are remembered for their keys to be asked for. Honest
    /// people write under one key at a time: in each channel, and in the profile.
    public static let lackedKeysPerMemberMax = 64
}

/// Confirming what members have made (PROTOCOL.md, 4.0.6).
extension Limits {
    /// What one operation confirms: some 8 KiB of ids.
    public static let confirmedMax = 256
    /// How long the strongest admin waits, so that one operation confirms all that comes together;
    /// each next one waits as long again, and hears of it.
    public static let confirmingMilliseconds: UInt64 = 60 * 1_000
    /// How much longer all of them wait after one: members may make very much, and this is what it has
    /// admins write at most.
    public static let confirmingRestMilliseconds: UInt64 = 10 * 60 * 1_000
    /// How many operations one confirms at least for none of them to wait: it knows 64 ends at most,
    /// some of them for other reasons, so more may wait behind as many.
    public static let confirmedMuchMin = 32
}

/// Changing the group key unasked (PROTOCOL.md, 4.2).
extension Limits {
    /// How long the strongest admin waits, so that one change answers all that comes together.
    public static let keyChangeFirstMilliseconds: UInt64 = 1_000
    /// How much longer each next one waits, and hears of it.
    public static let keyChangeTurnMilliseconds: UInt64 = 4_000
    /// For how long further reasons put a change off.
    public static let keyChangePutOffMilliseconds: UInt64 = 30 * 1_000
    /// How many changes devices of one person write at once: with 32 units each (S-5) half of what
    /// others take of that person.
    public static let keyChangesAtOnce: UInt64 = 8
    /// How often after that: with 32 units each half of what others take in an hour.
    public static let keyChangeMilliseconds: UInt64 = 15 * 60 * 1_000
}

/// What authority operations cost that bear on many others (PROTOCOL.md, 4.0.4, S-5).
extension Limits {
    /// Verdicts that are turned over for the price of one operation more: some 2 milliseconds.
    public static let authorityVerdictsPerUnit = 64
    /// What a part of a removal costs at most where an admin or owner writes it: 64 of them, and the
    /// removal with 32, are 288 of the 512 of a share.
    public static let authorityUnitsPerCutPart = 4
}

/// Naming very many devices (PROTOCOL.md, 3.1 and 4.0.4, S-7).
extension Limits {
    /// Devices that one grant lists.
    public static let grantedDevicesMax = 64
    /// Operations that gather ends for one that names more than it could cite: 60 ends each, and a grant
    /// names 128 devices at most.
    public static let authorityGatheringsMax = 4
}

/// What may come of private documents (PROTOCOL.md, 4.0.4, S-8).
extension Limits {
    /// Operations of kind 3 of one member that are taken in at once, in units, and half as many in an
    /// hour after that: each takes some 10 KB of memory, a document of its own or a new key alike.
    public static let privateBurstPerMember = 1_024
    /// Operations of the profile document of one member that are taken in at once, in units, and half as
    /// many in an hour after that: each takes 1 to 2 KB of memory, and who says each minute what he is
    /// doing writes 60 in an hour.
    public static let profileBurstPerMember = 1_024
    /// Changes of the key that one message may need: each answers 512 ends of devices, and cites 64
    /// operations that do not know of each other.
    public static let privateKeyChangesMax = 32
}

/// Coming in by an invite (PROTOCOL.md, 5.6).
extension Limits {
    /// How long a join in the background waits at one address where there are others: for an admin to
    /// approve, or for what the peer that answers there holds back.
    public static let joinTurnMilliseconds: UInt64 = 10 * 60 * 1_000
    /// How long one address is waited for that says nothing, where there are others and somebody waits
    /// for the answer, half a minute where nothing else is said.
    public static let joinSilenceMilliseconds: UInt64 = 8_000
    /// Invites that are over whose holders are told so, the newest of a workspace.
    public static let endedInvitesAnsweredMax = 64
    /// Invites among which the secrets of strangers are looked for, a millisecond: each is a hash, so
    /// this is some 6 % of a processor.
    public static let invitesLookedPerMillisecond = 100
    /// The same at once: some 5 ms, and as many as a workspace has that invites everybody by name.
    public static let invitesLookedAtOnceMax = 8_192
}

/// Telling each other where the devices of a workspace are (PROTOCOL.md, 5.3, 95).
extension Limits {
    /// Dials under way at a time to the devices of one person, who may link many, and to what beacons
    /// tell: a quarter of all.
    public static let dialsInFlightOfOneMax = 4
    /// How long one address of a peer is waited for before the next one is tried beside it.
    public static let dialHeadStartMilliseconds: UInt64 = 250
    /// Records that one message lists: one for each device of the largest workspace.
    public static let bookEntriesMax = 2_048
    /// Records that one message asks for.
    public static let bookWantsMax = 256
    /// How long news of others' addresses are gathered before they are told, and as much again by
    /// chance, so that one of many tells first.
    public static let bookGatherMilliseconds: UInt64 = 1_000
    /// After how long a record that was asked for of one peer is asked for of another.
    public static let bookAnswerMilliseconds: UInt64 = 5_000
    /// After how long a node's own addresses are signed again though they are the same: half the
    /// time for which a record counts.
    public static let addressRenewalMilliseconds = addressRecordMilliseconds / 2
    /// How seldom they are signed again because somebody has a newer record of this device: a home
    /// that was restored does so once, one that runs twice for as long as that lasts.
    public static let addressAgainMilliseconds: UInt64 = 10 * 60 * 1_000
}

/// What is kept so that it need not be worked out again.
extension Limits {
    /// Names of channels and people whose folded forms are kept, some 300 bytes each: as many as the
    /// largest workspaces have. Of more all are worked out anew.
    public static let foldedNamesMax = 16_384
    /// Former names of one member that lead to them, the latest: nobody takes more in a month but to
    /// take them from others.
    public static let formerNamesMax = 8
    /// For how long a name leads to who had it: until colleagues have seen the new one.
    public static let formerNameMilliseconds: UInt64 = 30 * 24 * 60 * 60 * 1_000
}

/// Judging what is deleted (PROTOCOL.md, 4.6).
extension Limits {
    /// Redactions that are looked at in one turn; to read one counts as 16: some 40 milliseconds.
    public static let redactionsWeighedPerTurnMax = 32_768
    /// Operations that a walk through redactions remembers as judged, some 100 bytes each.
    public static let redactionsWalkedMax = 65_536
}

/// What a node does with its store while nobody asks for anything.
extension Limits {
    /// How long what lies beyond a removal's cuts is kept: until then the remover of its author
    /// may still keep it.
    public static let voidMilliseconds: UInt64 = 30 * 24 * 60 * 60 * 1_000
    /// How often it is looked for: erasing a day later does no harm.
    public static let voidErasureMilliseconds: UInt64 = 12 * 60 * 60 * 1_000

    /// Operations, and rows of what is derived, that a round through the store looks at in one turn:
    /// some 20 milliseconds of a loop that has nothing else to do.
    public static let patrolledPerTurnMax = 512
    /// How long it rests between two turns. A page of the store holds some ten operations, so this
    /// is about a page a second.
    public static let patrolMilliseconds: UInt64 = 60 * 1_000
    /// How long it rests between two rounds: rot is found within a day where all of the store is
    /// looked at in less.
    public static let patrolRoundMilliseconds: UInt64 = 24 * 60 * 60 * 1_000
    /// When the first round begins: not at once, for a start is busy enough.
    public static let patrolStartMilliseconds: UInt64 = 10 * 60 * 1_000
    /// Damaged rows that are remembered one by one; what is said is that there are so many or more.
    public static let patrolFindingsMax = 1_000
    /// After how long another backup is due: what was said is with others as well, but the keys are
    /// nowhere else, and people are not to be nagged every week.
    public static let backupAgeMilliseconds: UInt64 = 30 * 24 * 60 * 60 * 1_000
    /// For so long a device is new to others: somebody who was away over a weekend hears of it still.
    public static let newDeviceMilliseconds: UInt64 = 3 * 24 * 60 * 60 * 1_000
    /// So many of the latest operations about who is in a workspace are looked through for new
    /// devices: a first screen is asked for often, and must not take longer in an old workspace.
    public static let newDeviceOperationsMax = 1_000
    /// So many new devices are told of: more than a screen has room for.
    public static let newDevicesShownMax = 20
}

/// Logs that begin (PROTOCOL.md, 4.0.4, S-9).
extension Limits {
    /// Logs of one member that begin in a document at once, and half as many in an hour after that: each
    /// takes 1 to 2 KB of memory permanently. People have one for each device, and one more for
    /// each time that its home was restored or its clock set back.
    public static let logsBurstPerMember = 64
    /// What is left for each device of a member where others of its have used that up.
    public static let logsBurstPerDevice = 8
    /// What one member's words may need of another's logs: twice what others cite of them.
    public static let logsBurstForOthers = 32
    /// Logs of a member in a document, up to which others cite what the clock does not order.
    public static let citedLogsPerMemberMax = 16
}
