import CRDTStore
public import WorkspaceModel

/// The rules of private documents by definition, recursively, with pasts as plain sets.
///
/// Slow, and written from PROTOCOL.md, 4.3 and 4.4, without looking at how `PrivateAuthority`
/// passes an operation to the engine.
public struct PrivateDefinition {
    /// One effect of an operation: a seat that it gives, or whatever else it does.
    struct Part: Hashable {
        let id: OperationID
        let number: Int
    }

    let story: PrivateStory
    let subtype: PrivateSubtype
    private let history: PrivateHistory
    private(set) var lamports: [OperationID: Int] = [:]
    private var verdicts: [Part: Bool] = [:]
    /// By owner's seat the transfer by which it was handed on.
    private var handing: [Part: OperationID] = [:]
    private(set) var wellFormed: Set<Part> = []
    private(set) var roles: [OperationID: Role] = [:]

    /// The rules over what `story` tells.
    public init(_ story: PrivateStory) {
        self.story = story
        guard case .root(let root)? = story[story.root]?.change?.action else {
            preconditionFailure("a story begins with its root")
        }
        subtype = root.subtype
        history = root.history
        for operation in story.operations {
            let past = story.pasts[operation.id] ?? []
            lamports[operation.id] = 1 + (past.compactMap { lamports[$0] }.max() ?? 0)
            roles[operation.id] = actingRole(operation)
            // That a transfer has no fault gives it another part.
            var number = 0
            while number < parts(of: operation).count {
                let part = Part(id: operation.id, number: number)
                if isWellFormed(operation, part) { wellFormed.insert(part) }
                number += 1
            }
        }
        followOwners()
    }

    /// The chain of owners: from the root on, of the transfers under a seat the strongest.
    private mutating func followOwners() {
        var seat = Part(id: story.root, number: 0)
        while true {
            let transfers = story.operations.map { Part(id: $0.id, number: 0) }.filter {
                isTransfer(story[$0.id]) && wellFormed.contains($0) && self.seat(under: $0) == seat
            }
            guard let next = transfers.min(by: { rank($0) < rank($1) }) else { return }
            handing[seat] = next.id
            seat = next
        }
    }

    // MARK: Answers

    /// All operations with some effect.
    public mutating func validOperations() -> Set<OperationID> {
        var valid: Set<OperationID> = []
        for operation in story.operations where isValid(operation) { valid.insert(operation.id) }
        return valid
    }

    /// Who is in and as what.
    public mutating func members() -> [MemberID: Role] {
        var best: [MemberID: (rank: [Rank], role: Role)] = [:]
        for (part, seat) in everySeat where wellFormed.contains(part) && isValid(part) {
            let role = roleNow(of: part, seat)
            let rank = [rankNow(of: part, seat)]
            guard !isEnded(part, seat), !hasLapsed(part, seat),
                replacements(of: part, seat).isEmpty,
                drop(after: part, seat, keepsSeat: true) == nil
            else { continue }
            if let known = best[seat.member], known.rank[0] < rank[0] { continue }
            best[seat.member] = (rank, role)
        }
        return best.mapValues(\.role)
    }

    /// The key that seals, by the words of 4.4.
    public mutating func sealingKey(answering revocations: Set<OperationID>) -> KeyID? {
        let valid = validOperations()
        let ends = valid.filter { story[$0].map(isEnd) ?? false }
        let people = members()
        let circles = history == .all ? [] : people.keys.map { givers(of: $0) }
        let candidates = introductions(valid).filter { candidate in
            let known = (story.pasts[candidate.id] ?? []).union([candidate.id])
            let answered = introductions(valid).filter { other in
                known.contains(other.id) && other.author.map { people[$0] != nil } ?? false
            }.flatMap { answers(of: $0) }
            return known.isSuperset(of: ends) && revocations.isSubset(of: answered)
                && circles.allSatisfy { !known.isDisjoint(with: $0) }
                && candidate.author.map { people[$0] != nil } ?? false
        }
        return candidates.max { isEarlier($0, $1) }?.keyID
    }

    /// The keys that somebody may be given, by the words of 4.4.
    public mutating func keys(for member: MemberID) -> Set<KeyID> {
        let valid = validOperations()
        let givers = givers(of: member)
        guard !givers.isEmpty, members()[member] != nil else { return [] }
        let theirs = introductions(valid).filter { introduction in
            let known = (story.pasts[introduction.id] ?? []).union([introduction.id])
            return history == .all || !known.isDisjoint(with: givers)
        }
        return Set(theirs.map(\.keyID))
    }

    private func introductions(_ valid: Set<OperationID>) -> [PrivateOperation] {
        func key(_ operation: PrivateOperation) -> KeyID? {
            operation.id == story.root ? operation.keyID : operation.change?.action.epoch?.keyID
        }
        func counts(_ operation: PrivateOperation) -> Bool {
            parts(of: operation).contains { wellFormed.contains($0) }
        }
        return story.operations.filter { operation in
            guard valid.contains(operation.id), let own = key(operation) else { return false }
            return !(story.pasts[operation.id] ?? []).contains { id in
                story[id].map { key($0) == own && counts($0) } ?? false
            }
        }
    }

    /// What gave somebody a seat that holds.
    private mutating func givers(of member: MemberID) -> Set<OperationID> {
        var givers: Set<OperationID> = []
        for (part, seat) in everySeat
        where seat.member == member && wellFormed.contains(part) && isValid(part) {
            if !isEnded(part, seat), !hasLapsed(part, seat) { givers.insert(part.id) }
        }
        return givers
    }

    /// About the end of their own membership, only an author who is known to know it says anything.
    private func answers(of operation: PrivateOperation) -> [OperationID] {
        let own = operation.author.flatMap { story.ends[$0] } ?? []
        let answers = operation.change?.action.epoch?.answers ?? []
        return answers.filter { !own.contains($0) || operation.knownEnds.contains($0) }
    }

    // MARK: Lapsing

    /// The ends of the member's membership that neither the operation nor anything in its past is
    /// known to know of.
    private func ends(of member: MemberID, unknownTo id: OperationID) -> Set<OperationID> {
        guard subtype == .channel else { return [] }
        let known = (story.pasts[id] ?? []).union([id]).compactMap { story[$0]?.knownEnds }
        return known.reduce(story.ends[member] ?? []) { $0.subtracting($1) }
    }

    private func hasLapsed(_ part: Part, _ seat: PrivateSeat) -> Bool {
        !ends(of: seat.member, unknownTo: part.id).isEmpty
    }

    /// Whether somebody acts, in a new membership, under a seat of before.
    func actsUnderLapsed(_ operation: PrivateOperation) -> Bool {
        guard let author = operation.author, let seat = operation.change?.seat else { return false }
        return !ends(of: author, unknownTo: seat).isDisjoint(with: operation.knownEnds)
    }

    private func isEarlier(_ left: PrivateOperation, _ right: PrivateOperation) -> Bool {
        (lamports[left.id] ?? 0, left.id) < (lamports[right.id] ?? 0, right.id)
    }

    // MARK: Parts and seats

    private func parts(of operation: PrivateOperation) -> [Part] {
        (0..<max(1, seats(of: operation).count)).map { Part(id: operation.id, number: $0) }
    }

    /// The author's own seat in a root comes first, the others as they are listed. Who hands the
    /// document on, without a fault, keeps a seat of one role less.
    func seats(of operation: PrivateOperation) -> [PrivateSeat] {
        // In a conversation there is nothing but a root and rekeys.
        guard operation.id == story.root || subtype == .channel else { return [] }
        if wellFormed.contains(Part(id: operation.id, number: 0)), isTransfer(operation),
            let author = operation.author
        {
            return operation.seats + [PrivateSeat(author, .admin)]
        }
        let own = operation.seats.filter {
            operation.id == story.root && $0.member == operation.author
        }
        let others = operation.seats.filter {
            operation.id != story.root || $0.member != operation.author
        }
        let isForEver = operation.id == story.root && subtype != .channel
        return own
            + others.filter { isForEver || story.hasLetIn($0.member) || operation.isRole }
    }

    private var everySeat: [(Part, PrivateSeat)] {
        story.operations.flatMap { operation in
            seats(of: operation).enumerated().map {
                (Part(id: operation.id, number: $0.offset), $0.element)
            }
        }
    }

    /// The seat that a part is written under.
    func seat(under part: Part) -> Part? {
        guard let operation = story[part.id] else { return nil }
        if part.id == story.root { return part.number == 0 ? nil : Part(id: part.id, number: 0) }
        guard let id = operation.change?.seat, let giving = story[id],
            (story.pasts[part.id] ?? []).contains(id),
            let number = seats(of: giving).firstIndex(where: { $0.member == operation.author })
        else { return nil }
        return Part(id: id, number: number)
    }

    // MARK: Ranks

    struct Rank: Comparable {
        let role: Int
        let seat: (depth: Int, id: OperationID, number: Int)
        /// 0 for a leave.
        var kind = 1
        let own: (depth: Int, id: OperationID, number: Int)

        static func == (left: Rank, right: Rank) -> Bool { !(left < right) && !(right < left) }

        static func < (left: Rank, right: Rank) -> Bool {
            if left.role != right.role { return left.role < right.role }
            if left.seat != right.seat { return left.seat < right.seat }
            if left.kind != right.kind { return left.kind < right.kind }
            return left.own < right.own
        }
    }

    private func rank(_ part: Part) -> Rank {
        let own = (lamports[part.id] ?? 0, part.id, part.number)
        guard let under = seat(under: part), let role = roles[part.id] else {
            return Rank(role: -1, seat: (0, .zero, 0), own: own)
        }
        var rank = Rank(
            role: Int(role.rawValue), seat: (lamports[under.id] ?? 0, under.id, under.number),
            own: own)
        if case .leave? = story[part.id]?.change?.action { rank.kind = 0 }
        return rank
    }

    /// Of whatever is written under a seat now: weaker than all that was.
    private mutating func rankNow(of part: Part, _ seat: PrivateSeat) -> Rank {
        let own = (Int.max, OperationID.zero, 0)
        guard let drop = drop(after: part, seat) else {
            return Rank(
                role: Int(seat.role.rawValue),
                seat: (lamports[part.id] ?? 0, part.id, part.number), own: own)
        }
        let depth = max(lamports[part.id] ?? 0, lamports[drop.id] ?? 0)
        return Rank(role: Int(less(seat.role).rawValue), seat: (depth, drop.id, 0), own: own)
    }

    // MARK: Validity

    private mutating func isValid(_ operation: PrivateOperation) -> Bool {
        var isValidSomewhere = false
        for part in parts(of: operation) where isValid(part) { isValidSomewhere = true }
        return isValidSomewhere
    }

    private mutating func isValid(_ part: Part) -> Bool {
        if let verdict = verdicts[part] { return verdict }
        let verdict = decide(part)
        verdicts[part] = verdict
        return verdict
    }

    private mutating func decide(_ part: Part) -> Bool {
        guard wellFormed.contains(part) else { return false }
        guard let under = seat(under: part) else { return part.id == story.root }
        guard isValid(under) else { return false }
        // Who has handed the document on writes nothing more as its owner.
        if let next = handing[under], next != part.id,
            story.pasts[next]?.contains(part.id) != true
        {
            return false
        }
        if part.number > 0, isTransfer(story[part.id]) {
            return isValid(Part(id: part.id, number: 0))
        }
        for other in story.operations {
            let revocation = Part(id: other.id, number: 0)
            guard !(story.pasts[other.id] ?? []).contains(part.id) else { continue }
            if answersAnotherEnd(other, than: part) { return false }
            guard wellFormed.contains(revocation), rank(revocation) < rank(part),
                !(story.pasts[under.id] ?? []).contains(other.id),
                isAimed(other, at: part), isValid(revocation)
            else { continue }
            return false
        }
        return true
    }

    /// Whether an operation with effect, under a stronger seat, knows another departure under the same
    /// seat, of which the first is not known to this one.
    private mutating func answersAnotherEnd(_ other: PrivateOperation, than part: Part) -> Bool {
        guard case .leave? = story[part.id]?.change?.action, let under = seat(under: part),
            let author = story[part.id]?.author, other.author != author
        else { return false }
        let ends = (story.pasts[other.id] ?? []).filter { id in
            guard case .leave? = story[id]?.change?.action, story[id]?.author == author else {
                return false
            }
            let end = Part(id: id, number: 0)
            return wellFormed.contains(end) && seat(under: end) == under
        }.map { Part(id: $0, number: 0) }
        guard let first = ends.min(by: { rank($0) < rank($1) }),
            story.pasts[part.id]?.contains(first.id) != true
        else { return false }
        for answer in parts(of: other)
        where wellFormed.contains(answer) && rank(answer) < rank(part) && isValid(answer) {
            return true
        }
        return false
    }

    private func isAimed(_ revocation: PrivateOperation, at part: Part) -> Bool {
        guard let target = story[part.id] else { return false }
        switch revocation.change?.action {
        case .remove(let member, _, _):
            return target.author == member
        case .leave:
            return target.author == revocation.author
        case .role(let member, _, let drops):
            if !drops {
                guard let under = seat(under: part), target.author == member else { return false }
                return (story.pasts[revocation.id] ?? []).contains(under.id)
            }
            return target.author == revocation.author
                && seat(under: part)?.id != revocation.id
        default:
            return false
        }
    }

    private mutating func roleNow(of part: Part, _ seat: PrivateSeat) -> Role {
        drop(after: part, seat) == nil ? seat.role : less(seat.role)
    }

    /// The latest valid transfer by the member that the seat does not know of, and is not the rest
    /// of.
    ///
    /// - Parameter keepsSeat: only one that gives the member another seat.
    private mutating func drop(
        after part: Part, _ seat: PrivateSeat, keepsSeat: Bool = false
    ) -> PrivateOperation? {
        guard keepsSeat || seat.role <= .admin else { return nil }
        let said = Rank(
            role: Int(seat.role.rawValue), seat: (lamports[part.id] ?? 0, part.id, part.number),
            own: (Int.max, OperationID.zero, 0))
        var latest: PrivateOperation?
        for other in story.operations where other.author == seat.member && isTransfer(other) {
            guard other.id != part.id || seats(of: other)[part.number].member != seat.member,
                !(story.pasts[part.id] ?? []).contains(other.id),
                keepsSeat || rank(Part(id: other.id, number: 0)) < said,
                isValid(Part(id: other.id, number: 0))
            else { continue }
            if let known = latest, isEarlier(other, known) { continue }
            latest = other
        }
        return latest
    }

    static func isEnd(_ operation: PrivateOperation, of member: MemberID) -> Bool {
        switch operation.change?.action {
        case .remove(member, _, _): true
        case .leave: operation.author == member
        default: false
        }
    }

    private static func isReplacing(_ operation: PrivateOperation, _ member: MemberID) -> Bool {
        if case .role(member, _, false)? = operation.change?.action { true } else { false }
    }

    /// The valid operations that are stronger than what is written under the seat now, do not lie
    /// in its past, and are about the member.
    private mutating func hitting(
        _ part: Part, _ seat: PrivateSeat, _ isWanted: (PrivateOperation) -> Bool
    ) -> [PrivateOperation] {
        let now = rankNow(of: part, seat)
        var hitting: [PrivateOperation] = []
        for other in story.operations where isWanted(other) {
            let revocation = Part(id: other.id, number: 0)
            var isLeave = false
            if case .leave? = other.change?.action { isLeave = true }
            // Who leaves leaves every seat of the role in which that is said, or a weaker one.
            let reaches =
                isLeave
                ? Int(roles[other.id]?.rawValue ?? 9) <= now.role : rank(revocation) < now
            guard reaches,
                !(story.pasts[part.id] ?? []).contains(other.id), isValid(revocation)
            else { continue }
            hitting.append(other)
        }
        return hitting
    }

    private mutating func replacements(of part: Part, _ seat: PrivateSeat) -> [PrivateOperation] {
        hitting(part, seat) { other in
            Self.isReplacing(other, seat.member)
        }.filter { (story.pasts[$0.id] ?? []).contains(part.id) }
    }

    /// Whether a removal or departure hits the seat, or one that has replaced it.
    private mutating func isEnded(_ part: Part, _ seat: PrivateSeat) -> Bool {
        let ends = hitting(part, seat, { Self.isEnd($0, of: seat.member) })
        if !ends.isEmpty { return true }
        for other in replacements(of: part, seat) {
            guard case .role(let member, let role, _)? = other.change?.action else { continue }
            if isEnded(Part(id: other.id, number: 0), PrivateSeat(member, role)) { return true }
        }
        // What was kept of a transfer stands in the place of the seats that it takes.
        return drop(after: part, seat, keepsSeat: true).map {
            isEnded(Part(id: $0.id, number: 1), PrivateSeat(seat.member, .admin))
        } ?? false
    }
}

extension PrivateOperation {
    var isRole: Bool { if case .role? = change?.action { true } else { false } }
}
