extension Limits {
    /// Stretches of one member's content that are remembered for their keys to be asked for. Honest
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
}

/// What a node does with its store while nobody asks for anything.
extension Limits {
    /// How long what lies beyond a removal's cuts is kept: until then whoever removed its author
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
}
