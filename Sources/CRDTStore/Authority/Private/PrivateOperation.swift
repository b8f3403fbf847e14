public import WorkspaceModel

/// The facts that `PrivateAuthority` needs about one operation of kind 3.
///
/// The caller has checked form and signature, has opened what it has keys for, and has asked
/// whether the operation is valid in the workspace; the rest is decided here.
public struct PrivateOperation: Sendable {
    /// The hash of the header. Breaks ties.
    public let id: OperationID
    /// The member to whom the workspace grant in the header belongs; `nil` when the grant names
    /// none.
    public let author: MemberID?
    /// The nearest earlier operation of kind 3 on the same branch of its log; `nil` if there is
    /// none.
    public let previous: OperationID?
    /// The operations of kind 3 that it cites, in any order. Those of other kinds are left out.
    public let dependencies: [OperationID]
    /// The epoch key in the header.
    public let keyID: KeyID
    /// Its content; `nil` while no key is held, and if what opens has no meaning. The operation
    /// keeps its place in the graph all the same: citations are not sealed.
    public let change: PrivateChange?
    /// Whether the workspace lets it stand: it is valid content of a guest or more under the grant
    /// in its header (`AuthEvaluator.contentLimit`).
    public let isAllowed: Bool
    /// Those ends of memberships in the workspace that the grant in its header knows, or a grant
    /// that it names among the answers of a key.
    public let knownEnds: Set<OperationID>
    /// The members whom the workspace ever let in, as far as the document names them; `nil` for
    /// everybody. Nobody else gets a seat in a channel (D-2).
    public let people: Set<MemberID>?
    /// What it keeps of logs, if it removes a member.
    public let cuts: CutTable

    /// Takes over the checked fields.
    ///
    /// - Parameter cuts: what it keeps of logs, if `change` does not contain that.
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

    /// The same operation, marked as not valid in the workspace.
    var refused: Self {
        Self(
            id: id, author: author, previous: previous, dependencies: dependencies, keyID: keyID,
            change: change, isAllowed: false, knownEnds: knownEnds, people: people, cuts: cuts)
    }
}

extension PrivateOperation {
    /// The key that it introduces if it is valid, `nil` when it introduces none. A root introduces
    /// the key that it is sealed under.
    var introduced: PrivateEpoch? {
        if case .root? = change?.action { return PrivateEpoch(keyID: keyID) }
        return change?.action.epoch
    }

    /// Whether it could have an effect by its own contents: an operation that introduces a key must
    /// be sealed under it, so that readers of the introduction hold the key.
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

    /// Whether it creates a conversation or an own document, whose members never change.
    private var isForEver: Bool {
        if case .root(let root)? = change?.action { root.subtype != .channel } else { false }
    }

    private var rootAuthor: MemberID? {
        if case .root? = change?.action { author } else { nil }
    }

    /// Its effects, in the engine's terms: for a root first the author's own seat, then one for
    /// each seat that it gives; otherwise one action.
    /// - Parameter subtype: only a channel ever changes its members or its fields.
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
            // It keeps its place in every past nevertheless.
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
            // The engine asks for the right that it needs; the values are read from the change.
            return [settings.archived == nil ? .setDocument : .deleteDocument]
        case .delete:
            return [.deleteDocument]
        }
    }

    /// The position in `actions` of the seat of `member`; `nil` when there is none.
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
