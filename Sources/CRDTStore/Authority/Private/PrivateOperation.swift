public import WorkspaceModel

/// The facts that `PrivateAuthority` needs about one operation of kind 3.
///
/// The caller has checked form and signature, has opened what it has keys for, and asks the
/// workspace whether the operation stands; the rest is decided here.
public struct PrivateOperation: Sendable {
    /// The hash of the header. Breaks ties.
    public let id: OperationID
    /// The member that the workspace grant in the header names; `nil` when it names none.
    public let author: MemberID?
    /// The nearest earlier operation of kind 3 on the same branch of its log; `nil` where there
    /// is none.
    public let previous: OperationID?
    /// The operations of kind 3 that it cites, in any order. Those of other kinds are left out.
    public let dependencies: [OperationID]
    /// The epoch key in the header.
    public let keyID: KeyID
    /// What it says; `nil` while no key is held, and where what opens means nothing. It keeps its
    /// place in the graph all the same: citations are not sealed.
    public let change: PrivateChange?
    /// Whether the workspace lets it stand: it is valid content of a guest or more under the
    /// grant in its header (`AuthEvaluator.isContentValid`).
    public let isAllowed: Bool
    /// Of the ends of memberships in the workspace those that the grant in its header knows of, or one
    /// that it names among the answers of a key.
    public let knownEnds: Set<OperationID>
    /// Those whom the workspace ever let in, as far as the document names them; `nil` for everybody.
    /// Nobody else gets a seat in a channel.
    public let people: Set<MemberID>?
    /// What it leaves of logs, if it takes somebody out.
    public let cuts: CutTable

    /// Takes over the checked fields.
    ///
    /// - Parameter cuts: what it leaves of logs, where `change` does not say that.
    public init(
        id: OperationID, author: MemberID?, previous: OperationID?, dependencies: [OperationID],
        keyID: KeyID, change: PrivateChange?, isAllowed: Bool,
        knownEnds: Set<OperationID> = [], people: Set<MemberID>? = nil, cuts: CutTable? = nil
    ) {
        self.id = id
        self.author = author
        self.previous = previous
        self.dependencies = dependencies
        self.keyID = keyID
        self.change = change
        self.isAllowed = isAllowed
        self.knownEnds = knownEnds
        self.people = people
        self.cuts = cuts ?? CutTable(change?.action.cuts ?? [])
    }

    /// The same, which the workspace does not let stand.
    var refused: Self {
        Self(
            id: id, author: author, previous: previous, dependencies: dependencies, keyID: keyID,
            change: change, isAllowed: false, knownEnds: knownEnds, people: people, cuts: cuts)
    }
}

extension PrivateOperation {
    /// The key that it introduces if it is valid, `nil` when it introduces none. A root introduces
    /// the one that it is sealed under.
    var introduced: PrivateEpoch? {
        if case .root? = change?.action { return PrivateEpoch(keyID: keyID) }
        return change?.action.epoch
    }

    /// Whether it could have an effect judging by its own contents: a key must be introduced by an
    /// operation sealed under it, so that readers of the introduction hold the key.
    var isSound: Bool {
        guard let change, author != nil else { return false }
        return change.action.epoch.map { $0.keyID == keyID } ?? true
    }

    /// The seats that it gives, besides the author's own in a root.
    private var others: [PrivateSeat] {
        (change?.action.seats ?? []).filter { seat in
            seat.member != rootAuthor
                && (isForEver || people?.contains(seat.member) != false)
        }
    }

    /// Whether it makes a conversation or an own document, whose members never change.
    private var isForEver: Bool {
        if case .root(let root)? = change?.action { root.subtype != .channel } else { false }
    }

    private var rootAuthor: MemberID? {
        if case .root? = change?.action { author } else { nil }
    }

    /// Its effects, each as the engine knows them: first the author's own seat for a root, then
    /// one for each seat that it gives; one for everything else.
    ///
    /// - Parameter subtype: nothing but a channel ever changes its members or its fields.
    func actions(in subtype: PrivateSubtype) -> [AuthAction] {
        guard isSound, let action = change?.action else { return [.unknown] }
        switch action {
        case .root:
            let own = author.map { [AuthAction.create(member: $0, devices: [$0.asDevice])] } ?? []
            return own + others.map { .grant(RoleGrant($0)) }
        case .rekey:
            return [.rekey]
        case _ where subtype != .channel:
            return [.unknown]
        case .add:
            let others = others
            // It keeps its place in every past all the same.
            return others.isEmpty ? [.unknown] : others.map { .grant(RoleGrant($0)) }
        case .remove(let member, _, _):
            return [.remove(member: member)]
        case .leave:
            return [.leave]
        case .role(let member, let role, let drops):
            var grant = RoleGrant(PrivateSeat(member, role))
            grant.replaces = !drops
            grant.drops = drops ? [author].compactMap { $0?.asDevice } : nil
            return [.grant(grant)]
        case .set(let settings):
            // The engine asks for the right that it takes; what is set is read from the change.
            return [settings.archived == nil ? .setDocument : .deleteDocument]
        case .delete:
            return [.deleteDocument]
        }
    }

    /// Which of `actions` is the seat of `member`, `nil` when none is.
    func seat(of member: MemberID) -> Int? {
        switch change?.action {
        case .root:
            guard member != author else { return 0 }
            return others.firstIndex { $0.member == member }.map { $0 + 1 }
        case .add:
            return others.firstIndex { $0.member == member }
        case .role(let seated, _, let drops):
            return seated == member || drops && member == author ? 0 : nil
        default:
            return nil
        }
    }
}

extension RoleGrant {
    fileprivate init(_ seat: PrivateSeat) {
        self.init(member: seat.member, devices: [seat.member.asDevice], role: seat.role)
    }
}
