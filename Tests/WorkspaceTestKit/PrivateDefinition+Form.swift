import CRDTStore
import WorkspaceModel

/// The rules on an operation and its past alone: whether it has a fault.
extension PrivateDefinition {
    func actingRole(_ operation: PrivateOperation) -> Role? {
        guard operation.id != story.root else { return .owner }
        guard let under = seat(under: Part(id: operation.id, number: 0)),
            let giving = story[under.id]
        else { return nil }
        return seats(of: giving)[under.number].role
    }

    func less(_ role: Role) -> Role {
        switch role {
        case .owner: .admin
        case .admin: .member
        default: role
        }
    }

    func isWellFormed(_ operation: PrivateOperation, _ part: Part) -> Bool {
        guard operation.isAllowed, !actsUnderLapsed(operation),
            let action = operation.change?.action,
            let role = roles[operation.id]
        else { return false }
        if let epoch = action.epoch, epoch.keyID != operation.keyID { return false }
        if operation.id == story.root {
            let seat = seats(of: operation)[part.number]
            return part.number == 0 || seat.role > .owner
        }
        if case .rekey = action { return true }
        guard subtype == .channel else { return false }
        switch action {
        case .add:
            let given = seats(of: operation)
            guard part.number < given.count else { return false }
            let seat = given[part.number]
            return role <= .admin && seat.member != operation.author && seat.role > role
                && mayGive(operation, seat.member) && mayAdd(operation, seat.member)
        case .remove(let member, _, _):
            guard let author = operation.author, author != member, role <= .admin else {
                return false
            }
            let gone = ends(by: operation, of: member).count
            return gone < seats(of: member, before: operation).count
                + seats(of: author, before: operation).count
        case .leave:
            guard let author = operation.author, role != .owner else { return false }
            let gone = ends(by: operation, of: author).count
            return gone < seats(of: author, before: operation).count
        case .role(let member, let given, let drops):
            guard member != operation.author, mayGive(operation, member),
                !seats(of: member, before: operation).isEmpty
            else { return false }
            if drops { return role == .owner && given == .owner }
            return role <= .admin && given > role
        case .set(let settings):
            return settings.archived == nil ? role <= .admin : role == .owner
        case .delete:
            return role == .owner
        case .root, .rekey:
            return false
        }
    }

    /// The parts in the past of an operation, without fault, that give the member a seat.
    func seats(of member: MemberID, before operation: PrivateOperation) -> [Part] {
        (story.pasts[operation.id] ?? []).flatMap { id -> [Part] in
            guard let other = story[id] else { return [] }
            return seats(of: other).enumerated().filter { $0.element.member == member }
                .map { Part(id: id, number: $0.offset) }.filter { wellFormed.contains($0) }
        }
    }

    /// Whether the author has given the member fewer seats than there may be.
    func mayGive(_ operation: PrivateOperation, _ member: MemberID) -> Bool {
        let given = seats(of: member, before: operation).filter {
            story[$0.id]?.author == operation.author
        }
        return given.count < Limits.privateSeatsByOneMax
    }

    /// The same of additions, of which more are allowed with each end.
    func mayAdd(_ operation: PrivateOperation, _ member: MemberID) -> Bool {
        let past = (story.pasts[operation.id] ?? []).compactMap { story[$0] }
        let given = seats(of: member, before: operation).compactMap { story[$0.id] }.filter {
            $0.author == operation.author && !$0.isRole
        }
        let ends = past.filter { other in
            Self.isEnd(other, of: member) && wellFormed.contains(Part(id: other.id, number: 0))
        }
        let outside = story.ends[member]?.count ?? 0
        return given.count < Limits.privateAdditionsByOneMax + ends.count + outside
    }

    /// What the author did before, without fault, that put the member out.
    func ends(
        by operation: PrivateOperation, of member: MemberID
    ) -> [PrivateOperation] {
        (story.pasts[operation.id] ?? []).compactMap { story[$0] }.filter { other in
            guard other.author == operation.author,
                wellFormed.contains(Part(id: other.id, number: 0))
            else { return false }
            switch other.change?.action {
            case .remove(let removed, _, _): return removed == member
            case .leave: return other.author == member
            default: return false
            }
        }
    }

    func isTransfer(_ operation: PrivateOperation?) -> Bool {
        if case .role(_, _, true)? = operation?.change?.action { true } else { false }
    }

    func isEnd(_ operation: PrivateOperation) -> Bool {
        switch operation.change?.action {
        case .remove, .leave: true
        default: false
        }
    }
}
