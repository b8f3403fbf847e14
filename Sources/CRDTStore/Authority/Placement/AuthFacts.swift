import WorkspaceModel

/// What an operation says, and what follows from its past alone. All its records share it.
struct AuthFacts: Sendable {
    let operation: AuthOperation
    let lamport: UInt64
    let place: AuthPlace
    let past: CausalPast
    var author: MemberID?
    var cited = AuthCitations()
    var aim = AuthAim.nothing
    var admission: Int?
    var gives = AuthGift()
    var ownPart: Int?
    var isOwnPart = false
    var isOpaque = false
    var canBeKept = false
    var fault: AuthFault?
    /// As what it counts under the grant that it cites.
    var standing: AuthStanding

    init(operation: AuthOperation, lamport: UInt64, place: AuthPlace, past: CausalPast) {
        self.operation = operation
        self.lamport = lamport
        self.place = place
        self.past = past
        let author = DeviceRank(grant: .root(operation.id), index: 0)
        standing = AuthStanding(author: author, lamport: lamport)
    }
}

/// As what something counts under a grant. All ends that count again in one place share it.
struct AuthStanding: Sendable {
    var grant: Int?
    var actingRole: Role?
    var supports: [Int] = []

    // How strong it is, but for what the operation itself says.

    var author: DeviceRank
    var isOwnEnd = false
    var lamport: UInt64
    var part: UInt8 = 0

    init(author: DeviceRank, lamport: UInt64) {
        self.author = author
        self.lamport = lamport
    }

    /// As what ends count in the place of a device that a grant lists.
    init(under grant: Int, giving role: Role?, author: DeviceRank) {
        self.init(author: author, lamport: 0)
        self.grant = grant
        actingRole = role
        supports = [grant]
    }
}

/// What the action of an operation names, as far as that is in the past.
struct AuthCitations: Sendable {
    /// The invite, policy or revocation named by the action, when it is in the past.
    var reference: Int?
    /// The request that an admission names, when it is in the past.
    var request: Int?
    /// The end of a membership that a request names, when it is in the past.
    var end: Int?
    /// What it confirms, of operations in the past that others build on.
    var confirmed: [Int] = []
    /// Ends of own parts that it answers: others beside them, which it does not know, have no effect.
    var answeredEnds: [Int] = []
}

/// What a grant gives, and to whom.
struct AuthGift: Sendable {
    /// Whom it gives something, when it is a grant.
    var subject: MemberID?
    /// What it gives, when it is a grant.
    var role: Role?
    /// The devices that may act under it, when it is a grant, the strongest first.
    var devices: [DeviceID] = []
    /// How many devices stand before these in the operation's list.
    var firstPlace = 0
    /// Of an addition that takes a place, where that puts its device. There are few, so it lies elsewhere.
    var succession: AuthSuccession?
}

/// What is read of both, and written while an operation is placed.
extension AuthRecord {
    var operation: AuthOperation { facts.value.operation }
    /// 1 + the greatest among what it cites. Computed, never read from the wire.
    var lamport: UInt64 { facts.value.lamport }
    /// Where it lies.
    var place: AuthPlace { facts.value.place }
    var past: CausalPast { facts.value.past }

    /// Whose authority is used: the subject of the cited grant.
    var author: MemberID? {
        get { facts.value.author }
        set { facts.value.author = newValue }
    }

    /// What its action names, as far as that is in the past.
    var cited: AuthCitations {
        _read { yield facts.value.cited }
        _modify { yield &facts.value.cited }
    }

    /// What it takes the effect from, when it is a revocation.
    var aim: AuthAim {
        get { facts.value.aim }
        set { facts.value.aim = newValue }
    }

    /// The grant by which somebody else let its subject in or gave a role: of an own addition of
    /// devices that of the grant it cites, of everything else the operation itself.
    var admission: Int? {
        get { facts.value.admission }
        set { facts.value.admission = newValue }
    }

    /// What it gives, when it is a grant.
    var gives: AuthGift {
        _read { yield facts.value.gives }
        _modify { yield &facts.value.gives }
    }

    /// Of a transfer the record of what its author keeps.
    var ownPart: Int? {
        get { facts.value.ownPart }
        set { facts.value.ownPart = newValue }
    }

    /// Whether it is such a record: the second half of an operation whose first is another one.
    var isOwnPart: Bool {
        get { facts.value.isOwnPart }
        set { facts.value.isOwnPart = newValue }
    }

    /// Whether it stands behind a feature that this version does not know. Nothing of it counts.
    var isOpaque: Bool {
        get { facts.value.isOpaque }
        set { facts.value.isOpaque = newValue }
    }

    /// Whether it stays, where it is confirmed, when its author gives up the device that wrote it.
    var canBeKept: Bool {
        get { facts.value.canBeKept }
        set { facts.value.canBeKept = newValue }
    }

    /// Why it can never be valid.
    var fault: AuthFault? {
        get { facts.value.fault }
        set { facts.value.fault = newValue }
    }

    /// The cited grant, when it is one, is in the past and lists the device; of an end that counts again
    /// the one under which it does so.
    var grant: Int? {
        get { elsewhere?.value.grant ?? facts.value.standing.grant }
        set { facts.value.standing.grant = newValue }
    }

    /// What the author may do by it: the role that this grant gives to the device.
    var actingRole: Role? {
        get { elsewhere.map { $0.value.actingRole } ?? facts.value.standing.actingRole }
        set { facts.value.standing.actingRole = newValue }
    }

    /// The operations without which this one is not valid: grant, invite, policy.
    var supports: [Int] {
        get { elsewhere?.value.supports ?? facts.value.standing.supports }
        set { facts.value.standing.supports = newValue }
    }

    /// How strong it is. Meaningless while `fault` is set.
    var rank: AuthRank {
        get {
            guard let elsewhere else {
                var rank = AuthRank(
                    author: facts.value.standing.author, isOwnEnd: facts.value.standing.isOwnEnd,
                    lamport: facts.value.standing.lamport, id: operation.id)
                rank.part = facts.value.standing.part
                return rank
            }
            // Of all that counts again a final end alone is by the device that it ends.
            return AuthRank(
                author: elsewhere.value.author, isOwnEnd: again.isFinalEnd,
                generation: again.behind?.generation ?? 0, lamport: lamport, id: operation.id)
        }
        set {
            facts.value.standing.author = newValue.author
            facts.value.standing.isOwnEnd = newValue.isOwnEnd
            facts.value.standing.lamport = newValue.lamport
            facts.value.standing.part = newValue.part
        }
    }
}
