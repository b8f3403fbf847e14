import WorkspaceModel

/// The operations of one document where they lie: what each cites, how strong that makes it, what may
/// bear on what, and what can never be valid.
///
/// All of it follows from an operation and its past alone, so no later arrival changes it; verdicts,
/// which may change, are made from it by `AuthVerdicts`.
struct PlacedOperations: Sendable {
    /// In the order of arrival, which is a causal order.
    var records = SharedArray<AuthRecord>()
    var indices: [OperationID: Int] = [:]
    /// The last operation of each branch.
    var branchTips: [Int] = []

    /// Which document it is: what a role may do, and whether devices have to be bound.
    let rules: AuthRules
    /// The rule of what a revocation voids, which the verdicts have, for some placed operations. To place
    /// one means to ask how old a device is, and that means to ask what is ended (PROTOCOL.md, 4.0).
    let voiding: @Sendable (PlacedOperations) -> Voiding
    /// In a private document: how often memberships in the workspace have ended.
    var workspaceEnds: [MemberID: Int] = [:]

    // Which operations bear on which. None that is faulty, or opaque, is in any of them.

    var reach = ReachIndex()
    var people = PeopleIndex()
    var invites = InviteIndex()
    var further = FurtherEnds()
    /// Operations that make an epoch key, by the key.
    var introductions: [KeyID: [Int]] = [:]
    /// Features that this version does not know.
    var unknownFeatures: [Int] = []

    /// How many others were examined to place what was added.
    var looks = 0
    /// How many of these were for whose the devices are that it lists, or that an end takes along.
    var looksAtRolls = 0

    /// Whether a revocation takes the effect from an operation, both given by the places of their records,
    /// whether it has effect itself or not.
    typealias Voiding = (_ revocation: Int, _ index: Int) -> Bool

    init(rules: AuthRules, voiding: @escaping @Sendable (PlacedOperations) -> Voiding) {
        self.rules = rules
        self.voiding = voiding
    }
}

/// Which operations may void which.
struct ReachIndex: Sendable {
    /// Revocations by what they reach.
    var revocations: [AuthTarget: [Int]] = [:]
    /// Operations by what reaches them, each by its first record: what reaches that may reach all its records.
    var exposed: [AuthTarget: [Int]] = [:]
    /// Whatever may end a membership, or what somebody holds by one, in the order of arrival.
    var endings: [Int] = []
    /// Widenings by the revocation they widen.
    var recuts: [Int: [Int]] = [:]
}

/// Operations about people and their devices.
struct PeopleIndex: Sendable {
    /// Whatever gives somebody something, by whom; what nobody can judge yet is among it.
    var given: [MemberID: [Int]] = [:]
    /// Grants by the devices that may use them.
    var grantsOfDevice: [DeviceID: [Int]] = [:]
    /// Operations that bind a device to a member, by both.
    var bindings: [DeviceID: [MemberID: [Int]]] = [:]
    /// The root and the admissions, by who came in.
    var admitted: [MemberID: [Int]] = [:]
    /// Additions of devices, by whose.
    var additions: [MemberID: [Int]] = [:]
    /// The same by whose and by which device wrote them.
    var links: [OwnDevice: [Int]] = [:]
    /// Those that put a device in its author's place, by whose and by the device that they put there.
    var successions: [OwnDevice: [Int]] = [:]
    /// Grants by which their author gave up a role, by author.
    var drops: [MemberID: [Int]] = [:]
    /// Revocations of devices, by whose author's member.
    var ownRemovals: [MemberID: [Int]] = [:]
    /// Removals by member and by device.
    var removals: [AuthTarget: [Int]] = [:]
}

/// A device as one of a member's.
struct OwnDevice: Hashable {
    let member: MemberID
    let device: DeviceID
}

/// Operations about invites.
struct InviteIndex: Sendable {
    /// Invites, which those bear on that are in their past.
    var all: [Int] = []
    /// Operations that say who may invite.
    var policies: [Int] = []
    /// Admissions by invite.
    var admissions: [Int: [Int]] = [:]
    /// Requests by invite.
    var requests: [Int: [Int]] = [:]
}

/// Ends of devices that count again, under other grants than they cite: see `placeEndsAgain`.
struct FurtherEnds: Sendable {
    /// How many looks a further record counts as: 5 microseconds to make one, and as much for what follows
    /// from it.
    static let looksPerRecord = 64

    /// What may end a device under several grants, by who wrote it.
    var endsByDevice: [DeviceID: [Int]] = [:]
    /// The further records of each, the strongest first.
    var endsAgain: [Int: [Int]] = [:]
    /// Of each that has effect by such records the strongest of these: what the others hit, that one does.
    var strongest: [Int: Int] = [:]
    /// Of a revocation the latest ones of the same device by the same one that it knows.
    var earlierEnds: [Int: [Int]] = [:]
    /// The further records that undo bindings, by their grant, the strongest first.
    var undoing: [Int: [Int]] = [:]
    /// The same by the end of which each is a record, in the order in which they were made.
    var undoingOf: [Int: [Int]] = [:]
    /// By grant, of each binding that valid ones of these undo the strongest one that does.
    var firstUndoing: [Int: [Int: Int]] = [:]
    /// By grant, of each device to which nothing leads any more which of these is the one that cuts it off.
    var cutOff: [Int: [DeviceID: Int]] = [:]
    /// Of a grant what binds its member's devices, as far as it knows, and counts: made when it is needed.
    var links: [Int: [DeviceRoll.Link]] = [:]
    /// Confirmations of revocations of devices, by these.
    var confirms: [Int: [Int]] = [:]
    /// Confirmations that name final ends of a phrase, by that phrase, the strongest first.
    var choices: [OwnDevice: [Int]] = [:]
    /// Final ends by whose phrase they end.
    var finalEnds: [MemberID: [Int]] = [:]
    /// The device that each final end names.
    var successors: [Int: DeviceID] = [:]
    /// The ends by devices that stand behind a phrase, by that phrase.
    var endsBehind: [DeviceID: [EndBehind]] = [:]
    /// The phrases behind which the device of an end stands, the nearest first.
    var lines: [Int: [DeviceID]] = [:]
    /// As what ends count in each place, and how many do.
    private(set) var standings: [AuthPosition: SharedStanding] = [:]
    /// The further records of whom stands behind a listed phrase, by where that is.
    var behind: [AuthFollowing: [Int]] = [:]
    /// How many valid final ends, or further records of such, name a device there.
    var followed: [AuthFollowing: Int] = [:]

    /// An end whose device stands behind a phrase.
    struct EndBehind: Sendable {
        let end: Int
        /// How many phrases behind that one: at least 1.
        let generation: Int8
    }

    /// What the records of one place share.
    struct SharedStanding {
        let standing: SharedValue<AuthStanding>
        var count = 0
    }

    /// Notes that one more end counts in a place.
    mutating func enter(_ position: AuthPosition, _ standing: SharedValue<AuthStanding>) {
        standings[position, default: SharedStanding(standing: standing)].count += 1
    }

    /// Notes that one fewer does.
    mutating func leave(_ position: AuthPosition) {
        standings[position]?.count -= 1
        if standings[position]?.count == 0 { standings[position] = nil }
    }

    mutating func place(_ index: Int, at place: AuthFollowing) {
        behind[place, default: []].append(index)
    }

    /// Takes back the one that was placed last.
    mutating func unplace(at place: AuthFollowing) {
        behind[place]?.removeLast()
        if behind[place]?.isEmpty == true { behind[place] = nil }
    }
}

/// Where ends count under a grant: in the place of a device that it lists, or so many phrases behind it.
struct AuthPosition: Hashable {
    let grant: Int
    let listed: DeviceID
    /// 0 for the device itself, and less where the phrase of the end stands behind none.
    let generation: Int8
}

/// A device that stands behind a listed one under a grant.
struct AuthFollowing: Hashable {
    let grant: Int
    let behind: AuthBehind
    let device: DeviceID
}
