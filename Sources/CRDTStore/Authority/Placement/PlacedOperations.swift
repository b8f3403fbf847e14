import WorkspaceModel

/// The placed operations of one document: what each cites, its rank, what it may affect, and
/// whether it has a fault.
///
/// All of this follows from an operation and its past alone, so no later arrival changes it.
/// `AuthVerdicts` derives the verdicts, which may change, from it.
struct PlacedOperations: Sendable {
    /// In order of arrival, which is a causal order.
    var records = SharedArray<AuthRecord>()
    var indices: [OperationID: Int] = [:]
    /// The last operation of each branch.
    var branchTips: [Int] = []

    /// The kind of document: what a role may do, and whether devices have to be bound.
    let rules: AuthRules
    /// The rule for what a revocation voids, which belongs to the verdicts, applied to placed
    /// operations. To place one needs the age of devices, and that depends on what is ended
    /// (PROTOCOL.md, 4.0).
    let voiding: @Sendable (PlacedOperations) -> Voiding
    /// In a private document: how often memberships in the workspace have ended.
    var workspaceEnds: [MemberID: Int] = [:]

    // Which operations may affect which. None that has a fault, or is opaque, is in any of them.

    var reach = ReachIndex()
    var people = PeopleIndex()
    var invites = InviteIndex()
    var further = FurtherEnds()
    /// Operations that introduce an epoch key, by the key.
    var introductions: [KeyID: [Int]] = [:]
    /// Features that this version does not know.
    var unknownFeatures: [Int] = []

    /// How many others were examined to place what was added.
    var looks = 0
    /// How many of these were for the members of the devices that it lists, or for bindings that an
    /// end undoes.
    var looksAtRolls = 0

    /// Whether a revocation takes effect from an operation, whether it has effect itself or not;
    /// both are given by the indices of their records.
    typealias Voiding = (_ revocation: Int, _ index: Int) -> Bool

    init(rules: AuthRules, voiding: @escaping @Sendable (PlacedOperations) -> Voiding) {
        self.rules = rules
        self.voiding = voiding
    }
}

/// Which operations may void which.
struct ReachIndex: Sendable {
    /// Revocations by what they are aimed at.
    var revocations: [AuthTarget: [Int]] = [:]
    /// Operations by what may be aimed at them, each by its first record: it stands for all its
    /// records.
    var exposed: [AuthTarget: [Int]] = [:]
    /// Operations that may end a membership, or what somebody has by one, in order of arrival.
    var endings: [Int] = []
    /// Recuts by the revocation that they widen.
    var recuts: [Int: [Int]] = [:]
}

/// Operations about people and their devices.
struct PeopleIndex: Sendable {
    /// Grants by the member who gets something, including those that cannot be judged yet.
    var given: [MemberID: [Int]] = [:]
    /// Grants by the devices that may use them.
    var grantsOfDevice: [DeviceID: [Int]] = [:]
    /// Operations that bind a device to a member, by both.
    var bindings: [DeviceID: [MemberID: [Int]]] = [:]
    /// The root and the admissions, by the member who came in.
    var admitted: [MemberID: [Int]] = [:]
    /// Adddevs, by member.
    var additions: [MemberID: [Int]] = [:]
    /// Adddevs by member and by the device that wrote them.
    var links: [OwnDevice: [Int]] = [:]
    /// Adddevs whose device takes its author's place, by member and by that new device.
    var successions: [OwnDevice: [Int]] = [:]
    /// Transfers, by author.
    var drops: [MemberID: [Int]] = [:]
    /// Revocations of devices, by their author's member.
    var ownRemovals: [MemberID: [Int]] = [:]
    /// Removes and revocations of devices, by member and by device.
    var removals: [AuthTarget: [Int]] = [:]
}

/// A device, as one that belongs to a member.
struct OwnDevice: Hashable {
    let member: MemberID
    let device: DeviceID
}

/// Operations about invites.
struct InviteIndex: Sendable {
    /// Invites, which depend on the policies in their past.
    var all: [Int] = []
    /// Operations that set who may invite.
    var policies: [Int] = []
    /// Admissions by invite.
    var admissions: [Int: [Int]] = [:]
    /// Requests by invite.
    var requests: [Int: [Int]] = [:]
}

/// Ends of devices that count again, under other grants than they cite: see `placeEndsAgain`.
struct FurtherEnds: Sendable {
    /// How many looks cost as much as a further record: 5 microseconds to make one, and as much for
    /// what follows from it.
    static let looksPerRecord = 64

    /// Ends of devices that may count under several grants, by author's device.
    var endsByDevice: [DeviceID: [Int]] = [:]
    /// The further records of each end, the strongest first.
    var endsAgain: [Int: [Int]] = [:]
    /// For each end that has effect by such records, the strongest of these: it hits all that the
    /// others hit.
    var strongest: [Int: Int] = [:]
    /// For each revocation, the latest ones of the same device by the same device that it knows.
    var earlierEnds: [Int: [Int]] = [:]
    /// The further records that undo bindings, by their grant, the strongest first.
    var undoing: [Int: [Int]] = [:]
    /// The same by the end of which each is a record, in the order in which they were made.
    var undoingOf: [Int: [Int]] = [:]
    /// By grant, for each binding that valid ones of these undo, the strongest that does.
    var firstUndoing: [Int: [Int: Int]] = [:]
    /// By grant, for each device to which no chain leads any longer, the end that cuts it off.
    var cutOff: [Int: [DeviceID: Int]] = [:]
    /// For a grant, the counting bindings of its member's devices that it knows: made when needed.
    var links: [Int: [DeviceRoll.Link]] = [:]
    /// Confirmations of revocations of devices, by these revocations.
    var confirms: [Int: [Int]] = [:]
    /// Confirmations that name final ends of a phrase, by that phrase, the strongest first.
    var choices: [OwnDevice: [Int]] = [:]
    /// Final ends by the member whose phrase they end.
    var finalEnds: [MemberID: [Int]] = [:]
    /// The successor that each final end names.
    var successors: [Int: DeviceID] = [:]
    /// The ends by devices that stand behind a phrase, by that phrase.
    var endsBehind: [DeviceID: [EndBehind]] = [:]
    /// The phrases behind which the device of an end stands, the nearest first.
    var lines: [Int: [DeviceID]] = [:]
    /// The standing of ends in each place, and how many count there.
    private(set) var standings: [AuthPosition: SharedStanding] = [:]
    /// The further records of ends by phrases that stand behind a listed one, by their place.
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

    /// Counts one more end in a place.
    mutating func enter(_ position: AuthPosition, _ standing: SharedValue<AuthStanding>) {
        standings[position, default: SharedStanding(standing: standing)].count += 1
    }

    /// Counts one end less in a place.
    mutating func leave(_ position: AuthPosition) {
        standings[position]?.count -= 1
        if standings[position]?.count == 0 { standings[position] = nil }
    }

    mutating func place(_ index: Int, at place: AuthFollowing) {
        behind[place, default: []].append(index)
    }

    /// Takes back the record that was placed last.
    mutating func unplace(at place: AuthFollowing) {
        behind[place]?.removeLast()
        if behind[place]?.isEmpty == true { behind[place] = nil }
    }
}

/// Where ends count under a grant: in the place of a device that it lists, or so many phrases
/// behind it.
struct AuthPosition: Hashable {
    let grant: Int
    let listed: DeviceID
    /// 0 for the device itself, and less if the phrase of the end stands behind none.
    let generation: Int8
}

/// A device that stands behind a listed one under a grant.
struct AuthFollowing: Hashable {
    let grant: Int
    let behind: AuthSuccessorPlace
    let device: DeviceID
}
