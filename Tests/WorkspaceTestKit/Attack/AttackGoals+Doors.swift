import CRDTStore
import WorkspaceModel

/// Admissions and their bounds: G8, G11, and of G13 which key a newcomer is given.
extension AttackGoals {
    /// An invite with uses left admits nobody; or it admits more people than it allows, or somebody
    /// without its link.
    func g8InviteUsedUp() -> String? {
        if let how = broken("G8") { return how }
        for id in judge.valid {
            guard let operation = history[id] else { continue }
            switch operation.action {
            case .admit(let invite, let member, _, let request):
                if let how = misused(operation, invite, member, request) {
                    return "\(label(id)) \(how)"
                }
            case .removeDevice(let device):
                let past = history.pasts[id] ?? []
                let isKnown = history.operations.contains {
                    past.contains($0.id) && history.devices(of: $0).contains(device)
                }
                if !isKnown { return "\(label(id)) ends a device before it comes" }
            default: break
            }
        }
        return nil
    }

    private func misused(
        _ operation: AuthOperation, _ invite: OperationID, _ member: MemberID,
        _ request: OperationID?
    ) -> String? {
        guard let terms = terms(invite), let written = written(operation.id) else { return nil }
        let proof = AttackProof(invite: invite, member: member, entries: written.entries)
        if written.proof != proof { return "shows no link" }
        if !judge.isValid(invite) { return "comes in by what has no effect" }
        let past = history.pasts[operation.id] ?? []
        let others = Set(
            past.compactMap { id -> MemberID? in
                guard case .admit(invite, let other, _, _)? = history[id]?.action else {
                    return nil
                }
                return other
            })
        if others.count >= terms.uses { return "is one more than the invite allows" }
        if terms.needsApproval, request == nil { return "lets in who never asked" }
        // A newcomer who lies about the time joins at any time.
        let asked = terms.needsApproval ? request.flatMap { history[$0] } : operation
        if let asked, let expires = terms.expires, self.written(asked.id)?.isHonest == true,
            asked.timestamp > expires
        {
            return "came too late"
        }
        return nil
    }

    /// A node that knows all that counts stores nothing more; and what counts has its bounds.
    func g11TakesRoom() -> String? {
        let counting = history.closure(of: judge.valid)
        var node = AttackNode(makeJudge(), rules: rules)
        node.offer(history.operations.filter { counting.contains($0.id) })
        for operation in history.operations where !counting.contains(operation.id) {
            let past = history.pasts[operation.id] ?? []
            node.offer(history.operations.filter { past.contains($0.id) } + [operation])
        }
        if let more = node.stored.subtracting(counting).sorted().first {
            return "\(label(more)) is stored for nothing"
        }
        return history.operations.lazy.compactMap { overflow($0) }.first
    }

    private func overflow(_ operation: AuthOperation) -> String? {
        guard !isBehind(operation.id) else { return nil }
        let past = history.operations.filter {
            history.pasts[operation.id]?.contains($0.id) == true
        }
        switch operation.action {
        case .request(let invite, _, _, _):
            let gone = past.compactMap { earlier -> MemberID? in
                if case .remove(let member) = earlier.action { member } else { nil }
            }
            let waiting = past.filter {
                guard case .request(invite, let member, _, _) = $0.action else { return false }
                return !gone.contains(member)
            }
            guard waiting.count >= max(16, Int(terms(invite)?.uses ?? 0)) else { return nil }
            return "\(label(operation.id)) waits behind \(waiting.count)"
        case .addDevices:
            // What others of the same member link takes no room from this one.
            let linked = past.filter {
                guard case .addDevices = $0.action else { return false }
                return author($0) == author(operation) && $0.device == operation.device
            }
            guard linked.count >= 64 else { return nil }
            return "\(label(operation.id)) is linked behind \(linked.count)"
        default: return nil
        }
    }

    /// Who comes in is given a key that somebody has introduced before.
    func g13KeyFromNowhere() -> String? {
        for id in judge.valid {
            guard let named = history[id]?.namedKey else { continue }
            let past = history.pasts[id] ?? []
            guard past.contains(where: { history[$0]?.introducedKey == named }) else {
                return "\(label(id)) names a key from nowhere"
            }
        }
        return nil
    }
}
