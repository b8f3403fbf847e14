/// Joining, and how much of the authority document one member may write.
extension Limits {
    // MARK: Invites

    /// How many people one invite may admit: more than a company's first day, and a bound on how
    /// many admissions and requests one leaked link can cost everybody.
    public static let inviteUsesMax: UInt64 = 1_000
    /// How long an invite made by hand is valid at most: a year.
    public static let inviteMillisecondsMax: UInt64 = 365 * 24 * 3_600 * 1_000
    /// How long the address of a workspace is valid: ten years, since it ends when the policy does.
    public static let addressMillisecondsMax: UInt64 = 3_650 * 24 * 3_600 * 1_000
    /// Pending requests on an invite for fewer people: the wrong people may ask first.
    public static let requestsPerInviteMin: UInt64 = 16
    /// Authority operations of one member that are accepted at once, in units; half as many are
    /// refilled per hour. A person writes less in a week, and a member who writes more is delayed.
    /// Requests and admissions have a budget of the same size.
    public static let authorityBurstPerMember = 512
    /// Reserve of each device of a member once the member's other devices have used that up: enough
    /// to revoke a stolen device, and to remove those whom it admitted.
    public static let authorityBurstPerDevice = 128
    /// The same for a linked device.
    public static let authorityBurstPerLinkedDevice = 32
    /// A member's linked devices, the strongest first, that have such a share each: more than most
    /// people carry. All others have one share together, for there may be any number.
    public static let linkedDeviceSharesMax = 8
    /// What one member's operations may require of another member's: as much as all shares of that
    /// member and its devices may have admitted elsewhere and not here.
    public static let authorityBurstForOthers = 1_536
    /// After how long operations are requested again that no share could pay for: by then a
    /// sixteenth of a share is refilled.
    public static let authorityRetryMilliseconds: UInt64 = 450_000
    /// Payload bytes that cost as much as one more operation.
    public static let authorityBytesPerUnit = 4_096
    /// What a device may bring at once that has a fault, in units; half as many are refilled per
    /// hour. No node passes such on, so this is more than anybody needs.
    public static let faultBurst = 64
    /// Lookups to find such a fault that cost as much as one more: some 0.2 milliseconds.
    public static let faultLooksPerUnit = 1_024
    /// Seats that one member gives one other in a private document: more than a lifetime of joining
    /// and leaving. Each is judged together with each operation that ended it.
    public static let privateSeatsByOneMax = 256
    /// Additions among them without a removal or departure in between: a member who was out of the
    /// workspace is added again without one.
    public static let privateAdditionsByOneMax = 16
    /// Operations without effect that a host without a member may send in an hour, and their bytes.
    public static let outsiderOperationsHourly = 64
    /// See `outsiderOperationsHourly`.
    public static let outsiderBytesHourly = 1 << 20
    /// Operations of a non-member that wait for what they cite: the member's own admission with its
    /// dependencies.
    public static let waitingPerOutsiderMax = 1_024
    /// What peers may deliver in one turn, in units of about 20 microseconds: the cost of one
    /// operation in bulk. A run costs 16, each citation 2, four branches of its log 1, and an
    /// operation of an authority document 8.
    public static let ingestCostPerTurnMax = 4_096
    /// Operations of an authority document accepted before the turn's budget is checked: each may
    /// affect many others.
    public static let authorityPerPartMax = 64
    /// Lookups while judging others that cost as much as accepting one operation.
    public static let authorityLooksPerOperation = 1_024
    /// Waiting operations that are accepted in one turn once what they cite has arrived: other
    /// calls wait meanwhile.
    public static let releasedPerTurnMax = 256
    /// Operations of logs with many branches that are not pruned because a waiting operation cites
    /// them: per peer, and in all. Others may have to be sent again.
    public static let waitingCitationsPerPeerMax = 128
    /// See `waitingCitationsPerPeerMax`.
    public static let waitingCitationsMax = 1_024
    /// Authors and hosts that have a budget at a time; beyond that the least used are forgotten.
    public static let authorityBudgetsMax = 10_000
    /// Devices that one device links in a workspace, together with older devices of the same
    /// person: more than anybody needs in a lifetime, and each is judged.
    public static let devicesLinkedMax = 64
    /// Recovery phrases that replaced one another behind one that a grant lists: their revocations
    /// count under that grant. The grantor learns of a new phrase long before there are so many.
    public static let phraseSuccessionsMax = 16
    /// Devices of a member who asks to return: more than a person carries.
    public static let returningDevicesMax = 16
    /// Joins of this home that wait for approval: nobody waits for more workspaces.
    public static let pendingJoinsMax = 16
    /// How long this home keeps asking whether it was approved: longer than any invite is answered.
    public static let pendingJoinMilliseconds: UInt64 = 400 * 24 * 3_600 * 1_000

    // MARK: Waiting

    /// Operations of one peer that wait for what they cite.
    public static let waitingPerPeerMax = 10_000
    /// Bytes of one peer's waiting operations.
    public static let waitingBytesPerPeerMax = 16 * 1024 * 1024
    /// The same for authority documents, whose operations are small and arrive in causal order:
    /// this bounds what a removed member can make others send.
    public static let waitingAuthorityBytesPerPeerMax = 4 * 1024 * 1024
    /// Bytes of all waiting operations.
    public static let waitingBytesMax = 64 * 1024 * 1024
}
