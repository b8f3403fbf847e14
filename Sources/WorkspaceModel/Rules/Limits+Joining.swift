/// Coming in, and how much of the authority document one member may write.
extension Limits {
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
    /// Recovery phrases that took each other's place behind one that a grant lists: what they revoke
    /// counts under that grant. Whoever gives the role hears of a new phrase long before so many.
    public static let phraseSuccessionsMax = 16
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
}
