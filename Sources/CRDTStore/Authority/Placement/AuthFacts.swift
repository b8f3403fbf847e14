import WorkspaceModel

/// The content of an operation, and what follows from its past alone. All its records share it.
struct AuthFacts: Sendable {
    let operation: AuthOperation
    let lamport: UInt64
    let place: AuthPlace
    let past: CausalPast
    var author: MemberID?
    var cited = AuthCitations()
    var aim = AuthRevocationScope.nothing
    var admission: Int?
    var gives = AuthGrantTerms()
    var ownPart: Int?
    var isOwnPart = false
    var isOpaque = false
    var canBeKept = false
    var fault: AuthFault?
    /// Its standing under the grant that it cites.
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

/// How something counts under a grant. All ends that count again in one place share it.
struct AuthStanding: Sendable {
    var grant: Int?
    var actingRole: Role?
    var supports: [Int] = []

    // The rank, except for the parts that depend on the operation itself.

    var author: DeviceRank
    var isOwnEnd = false
    var lamport: UInt64
    var part: UInt8 = 0

    init(author: DeviceRank, lamport: UInt64) {
        self.author = author
        self.lamport = lamport
    }

    /// The standing of ends that count in the place of a device that a grant lists.
    init(under grant: Int, giving role: Role?, author: DeviceRank) {
        self.init(author: author, lamport: 0)
        self.grant = grant
        actingRole = role
        supports = [grant]
    }
}

/// What the action of an operation names, if it is in the past.
struct AuthCitations: Sendable {
    /// The invite, policy or revocation that the action names.
    var reference: Int?
    /// The request that an admission names.
    var request: Int?
    /// The end of a membership that a request names.
    var end: Int?
    /// Of the operations that it confirms, those that are in the past and may be confirmed.
    var confirmed: [Int] = []
    /// The own ends that it answers: no other end of the same that it does not know has effect.
    var answeredEnds: [Int] = []
}

/// What a grant gives, and to whom.
struct AuthGrantTerms: Sendable {
    /// The member to whom it gives a role, when it is a grant.
    var subject: MemberID?
    /// The role that it gives, when it is a grant.
    var role: Role?
    /// The devices that may act under it, when it is a grant, the strongest first.
    var devices: [DeviceID] = []
    /// How many devices precede these in the operation's list.
    var firstPlace = 0
    /// For an adddev that takes its author's place: the place of its device. There are few, so it
    /// is stored elsewhere.
    var succession: AuthSuccession?
}

/// Fields of its facts and its standing, which are written while an operation is placed.
extension AuthRecord {
    var operation: AuthOperation { facts.value.operation }
    /// 1 + the greatest among what it cites. Computed, never read from the wire.
    var lamport: UInt64 { facts.value.lamport }
    /// Its branch and position.
    var place: AuthPlace { facts.value.place }
    var past: CausalPast { facts.value.past }

    /// The member as whom it acts: the subject of the cited grant.
    var author: MemberID? {
        get { facts.value.author }
        set { facts.value.author = newValue }
    }

    /// What its action names, if it is in the past.
    var cited: AuthCitations {
        _read { yield facts.value.cited }
        _modify { yield &facts.value.cited }
    }

    /// What it takes effect from, when it is a revocation.
    var aim: AuthRevocationScope {
        get { facts.value.aim }
        set { facts.value.aim = newValue }
    }

    /// The grant by which another member gave its subject the role: for an adddev that of the grant
    /// that it cites, for everything else the operation itself.
    var admission: Int? {
        get { facts.value.admission }
        set { facts.value.admission = newValue }
    }

    /// What it gives, when it is a grant.
    var gives: AuthGrantTerms {
        _read { yield facts.value.gives }
        _modify { yield &facts.value.gives }
    }

    /// For a transfer the record of what its author keeps.
    var ownPart: Int? {
        get { facts.value.ownPart }
        set { facts.value.ownPart = newValue }
    }

    /// Whether it is such a record: the second one of a transfer.
    var isOwnPart: Bool {
        get { facts.value.isOwnPart }
        set { facts.value.isOwnPart = newValue }
    }

    /// Whether it has a feature in its past that this version does not know. Nothing of it counts.
    var isOpaque: Bool {
        get { facts.value.isOpaque }
        set { facts.value.isOpaque = newValue }
    }

    /// Whether a confirmation keeps it in effect when its author gives up the device that wrote it.
    var canBeKept: Bool {
        get { facts.value.canBeKept }
        set { facts.value.canBeKept = newValue }
    }

    /// Why it can never be valid.
    var fault: AuthFault? {
        get { facts.value.fault }
        set { facts.value.fault = newValue }
    }

    /// The cited grant, if it is a grant, is in the past and lists the device; for an end that
    /// counts again the grant under which it does.
    var grant: Int? {
        get { elsewhere?.value.grant ?? facts.value.standing.grant }
        set { facts.value.standing.grant = newValue }
    }

    /// The author's role: what this grant gives to the device.
    var actingRole: Role? {
        get { elsewhere.map { $0.value.actingRole } ?? facts.value.standing.actingRole }
        set { facts.value.standing.actingRole = newValue }
    }

    /// The operations whose validity it needs: grant, invite, policy.
    var supports: [Int] {
        get { elsewhere?.value.supports ?? facts.value.standing.supports }
        set { facts.value.standing.supports = newValue }
    }

    /// Its rank. Meaningless while `fault` is set.
    var rank: AuthRank {
        get {
            guard let elsewhere else {
                var rank = AuthRank(
                    author: facts.value.standing.author, isOwnEnd: facts.value.standing.isOwnEnd,
                    lamport: facts.value.standing.lamport, id: operation.id)
                rank.part = facts.value.standing.part
                return rank
            }
            // Of the ends that count again only a final end is by the device that it revokes.
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
