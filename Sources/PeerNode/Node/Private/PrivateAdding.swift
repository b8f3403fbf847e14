import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// A planned addition to a private document, and who needs which key.
struct PrivateAddingPlan {
    let new: [MemberID]
    var payload: PrivateAddition
    /// The key that it introduces, where it introduces one.
    var fresh: SymmetricKey?
    /// The key that seals already.
    let sealing: SymmetricKey?
}

extension PrivateAuthoring {
    /// The operation that adds people. Those who see only later messages, or return, are added with
    /// a new key; so is everybody while one is due.
    func addition(
        of new: [MemberID], to document: PrivateDocument, in workspace: Workspace
    ) -> PrivateAddingPlan {
        let sealing = sealingKey(of: document, in: workspace)
        var plan = PrivateAddingPlan(
            new: new, payload: PrivateAddition(seats: new.map { PrivateSeat($0, .member) }),
            sealing: sealing?.key)
        let wasOut = Set(new.flatMap { workspace.memberEnds[$0] ?? [] })
        let comesBack =
            new.contains { !document.authority.ends(of: $0).isEmpty }
            || !wasOut.isSubset(of: document.authority.knownEnds)
        if comesBack || document.root?.history == .fromJoin || sealing == nil {
            let (key, epoch) = newEpoch(of: document, for: new, in: workspace)
            plan.payload.epoch = epoch
            plan.fresh = key
        }
        tellGuests(&plan.payload, of: new, document, in: workspace)
        return plan
    }

    /// Sends the key to those who do not have it.
    func mail(
        _ plan: PrivateAddingPlan, of document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        guard let key = plan.fresh ?? plan.sealing else { return }
        let receivers = plan.fresh == nil ? Set(plan.new) : document.people
        try core.keys.mail(key, of: document.id, to: receivers, in: workspace)
    }

    /// A guest cannot decrypt other people's names. So an addition of a guest carries the names of
    /// all members, and an addition to a document with guests carries the names of the new members.
    private func tellGuests(
        _ addition: inout PrivateAddition, of new: [MemberID], _ document: PrivateDocument,
        in workspace: Workspace
    ) {
        let isGuest = { (member: MemberID) in workspace.role(of: member) == .guest }
        let bringsGuests = new.contains(where: isGuest)
        guard bringsGuests || document.people.contains(where: isGuest) else { return }
        // The newcomers first: of very many people the rest stays numbers.
        let others = bringsGuests ? document.people.subtracting(new).sorted() : []
        let named = (new + others).prefix(Limits.namesToldMax)
        addition.displayNames = named.sorted().compactMap { member in
            let name = workspace.displayName(of: member)
            guard (try? CheckedName.checkWire(name)) != nil else { return nil }
            return PrivateDisplayName(member, name)
        }
        if bringsGuests { addition.workspaceName = workspace.displayName }
    }
}
