import CRDTStore
import WorkspaceModel

/// Nobody gains more than a person gave them: G17. The design's goals forbid losses; this one
/// forbids gains.
extension AttackGoals {
    func g17PowerThatNobodyGave() -> String? {
        for id in judge.valid {
            guard let operation = history[id], let by = author(operation),
                let grant = operation.grant,
                let acting = all.role(ofGrant: grant, device: operation.device)
            else { continue }
            if let needed = needed(for: operation, by: by), acting > needed {
                return "\(label(id)) as \(acting) takes more"
            }
            if case .request(_, let member, _, let end?) = operation.action,
                !hasEnded(member, end)
            {
                return "\(label(id)) asks back who has not gone"
            }
            guard written(id)?.isHonest == false else { continue }
            if acting < ceiling(by) { return "\(label(id)) acts as \(acting), given by nobody" }
            if let how = opensDoor(operation, acting) ?? undoes(operation, by) { return how }
        }
        for device in record.secrets.sorted() {
            guard let standing = judge.standing(of: device) else { continue }
            if standing.role < ceiling(standing.member) {
                return "a device of the attackers is \(standing.role), given by nobody"
            }
        }
        return nil
    }

    /// The strongest role that somebody honest gave; plain members let each other in.
    private func ceiling(_ member: MemberID) -> Role {
        if record.hasOwner { return .owner }
        var best = Role.member
        for written in record.written where isByHonest(written.operation.id) {
            switch written.operation.action {
            case .create(member, _): best = .owner
            case .grant(let words) where words.member == member: best = min(best, words.role)
            default: break
            }
        }
        return best
    }

    /// The weakest role that an operation's effect asks for; `nil` where anybody may.
    private func needed(for operation: AuthOperation, by author: MemberID) -> Role? {
        switch operation.action {
        case .invite(let terms): return terms.policy == nil ? .admin : .member
        case .request, .createDocument, .setDocument, .deleteDocument: return .member
        case .admit(let invite, _, _, _):
            return terms(invite)?.needsApproval == true ? .admin : .member
        case .grant(let words): return words.drops == nil ? .admin : .owner
        case .remove, .setWorkspace, .rekey: return .admin
        case .revokeInvite(let invite):
            return history[invite].flatMap { self.author($0) } == author ? .member : .admin
        case .deleteWorkspace, .feature: return .owner
        case .removeDevice(let device):
            let holder = record.people.values.first { $0.devices.contains(device) }
            return isHonest(device) && holder?.member != author ? .admin : nil
        default: return nil
        }
    }

    private func hasEnded(_ member: MemberID, _ end: OperationID) -> Bool {
        guard let operation = history[end] else { return false }
        switch operation.action {
        case .remove(member): return true
        case .leave: return author(operation) == member
        default: return false
        }
    }

    func terms(_ invite: OperationID) -> InviteTerms? {
        if case .invite(let terms)? = history[invite]?.action { terms } else { nil }
    }

    // MARK: Inviting

    /// Inviting against what an owner said last, or because of what nobody said.
    private func opensDoor(_ operation: AuthOperation, _ acting: Role) -> String? {
        guard case .invite(let terms) = operation.action, acting > .owner else { return nil }
        if terms.role <= (terms.policy == nil ? acting : .admin) {
            return "\(label(operation.id)) offers \(terms.role) as \(acting)"
        }
        let past = history.pasts[operation.id] ?? []
        let words = past.filter { right($0) != nil && judge.isValid($0) }
        let last = words.filter { word in
            isByOwner(word)
                && words.allSatisfy { $0 == word || history.pasts[word]?.contains($0) == true }
        }.first.flatMap { right($0) }
        let isAsked = terms.policy != nil
        if last == .owner || (last == .admins && isAsked) {
            return "\(label(operation.id)) invites against the owner's word"
        }
        if isAsked, !words.contains(where: { right($0) == .members }) {
            return "\(label(operation.id)) invites though nobody lets members do that"
        }
        return nil
    }

    private func right(_ id: OperationID) -> InviteRight? {
        if case .setWorkspace(let right)? = history[id]?.action { right } else { nil }
    }

    private func isByOwner(_ id: OperationID) -> Bool {
        isByHonest(id) && written(id)?.author == "owner" && record.transfers.isEmpty
    }

    /// What an owner has written is ended, or given back, by somebody weaker.
    private func undoes(_ operation: AuthOperation, _ author: MemberID) -> String? {
        guard !record.hasOwner, author != record.people["owner"]?.member else { return nil }
        switch operation.action {
        case .revokeInvite(let other) where isByOwner(other):
            return "\(label(operation.id)) ends the owner's \(label(other))"
        case .recut(let other) where isByOwner(other):
            return "\(label(operation.id)) gives back what the owner's \(label(other)) took"
        default: return nil
        }
    }
}
