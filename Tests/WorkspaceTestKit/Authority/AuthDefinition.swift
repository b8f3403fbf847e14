public import CRDTStore
public import WorkspaceModel

/// The rules of authority as in PROTOCOL.md, 4, recursively, with pasts as plain sets.
///
/// Slow, and written from the text alone, without looking at `AuthEvaluator`: their results for the
/// same operations must agree. Comments name the rules by number. The decisions of the layer that
/// knows keys (A-1 to A-4, parts of cuts) are in `AuthOperation.isWellBound`.
public final class AuthDefinition {
    /// Which rules hold: all of them, unless a test takes some away.
    public let rules: AuthRuleSet
    /// What was taken, in the order of arrival; each is named by its place here.
    var facts: [Fact] = []
    var places: [OperationID: Int] = [:]
    /// What is judged once more, by the grant under which it is (V-10).
    var again: [Int: [Int]] = [:]
    /// What was refused, and why (S-1).
    public private(set) var refusals: [OperationID: AuthRefusal] = [:]
    /// Whether a verdict was ever asked for while it was being made: the rules would be circular.
    public internal(set) var foundCycle = false
    private var visiting: [Int]?
    private var cached: PlainSet?

    /// What is said of one operation by its own bytes and its past; never changes.
    struct Fact {
        let operation: AuthOperation
        let past: PlainSet
        let lam: Int
        /// What the cited grant gives to the author's device; `nil` in create, and behind an
        /// unknown feature.
        var author: Given?
        var rank = Rank(own: 0, id: .zero)
        /// Whether an unknown feature is in its past, so that nothing of it counts.
        var isBehind = false
        /// What has to be valid for it (V-1).
        var supports: [Int] = []
        /// What takes its validity if it is valid itself; earlier and later arrivals.
        var hitBy: [Int] = []
        /// Of a final end that is judged once more, under another grant, the place of the end (V-10).
        var again: Int?
        /// Where its device stands behind another one there (V-12).
        var behind: Behind?
    }

    /// Nothing yet.
    public init(_ rules: AuthRuleSet = .current) { self.rules = rules }

    /// The rules over `history`, visited in an order of the generator's choice.
    public convenience init(
        _ history: AuthHistory, rules: AuthRuleSet = .current,
        visitingWith generator: inout SeededGenerator
    ) {
        self.init(rules)
        for operation in history.operations { add(operation) }
        visiting = Array(facts.indices).shuffled(using: &generator)
    }

    /// Takes an operation, all of whose citations were offered before.
    ///
    /// - Returns: why it was refused; `nil` when it was taken, or is here.
    @discardableResult
    public func add(_ operation: AuthOperation) -> AuthRefusal? {
        if places[operation.id] != nil { return nil }
        if let known = refusals[operation.id] { return known }
        let refusal = take(operation)
        if let refusal { refusals[operation.id] = refusal }
        cached = nil
        return refusal
    }

    private func take(_ operation: AuthOperation) -> AuthRefusal? {
        var past = PlainSet()
        var lam = 0
        for id in operation.dependencies + (operation.previous.map { [$0] } ?? []) {
            guard let place = places[id] else { return .citesRefused(id) }
            past.formUnion(facts[place].past)
            past.insert(place)
            lam = max(lam, facts[place].lam)
        }
        var fact = Fact(operation: operation, past: past, lam: lam + 1)
        fact.isBehind = rules.has(.a6) && past.contains(where: isUnknownFeature)
        if let fault = framed(&fact) { return .fault(fault) }
        // behind an unknown feature A-5 is all that is judged.
        guard !fact.isBehind else { return enter(fact) }
        fact.rank = rank(of: fact)
        if let fault = fault(of: fact) { return .fault(fault) }
        fact.supports = supports(of: fact)
        return enter(fact)
    }

    private func enter(_ fact: Fact) -> AuthRefusal? {
        let place = facts.count
        places[fact.operation.id] = place
        append(fact)
        guard !fact.isBehind else { return nil }
        for again in endsAgain(by: place) { append(again) }
        for again in endsBehind(by: place) + endsBefore(by: place) { append(again) }
        return nil
    }

    private func append(_ fact: Fact) {
        let place = facts.count
        facts.append(fact)
        guard !fact.isBehind else { return }
        if fact.again != nil, let grant = fact.author?.grant {
            again[grant, default: []].append(place)
        }
        for other in facts.indices.dropLast() where !facts[other].isBehind {
            if hits(place, other) { facts[other].hitBy.append(place) }
            if hits(other, place) { facts[place].hitBy.append(other) }
        }
    }

    private func isUnknownFeature(_ place: Int) -> Bool {
        if case .feature(isKnown: false) = facts[place].operation.action { true } else { false }
    }

    // MARK: Verdicts

    /// All valid operations.
    public func validOperations() -> Set<OperationID> {
        Set(validPlaces().map { facts[$0].operation.id })
    }

    /// The places of all valid operations.
    public func validPlaces() -> PlainSet {
        if let cached { return cached }
        let valid = valid(among: PlainSet(below: facts.count))
        cached = valid
        return valid
    }

    /// The valid ones of a causally closed set: what a node thinks that has only those.
    public func valid(among known: PlainSet) -> PlainSet {
        let known = withEndsAgain(known)
        var judgement = Judgement(known: known)
        var valid = PlainSet()
        for place in visiting ?? Array(facts.indices) where known.contains(place) {
            if isValid(place, &judgement) { valid.insert(place) }
        }
        return valid
    }

    /// Verdicts in the making.
    struct Judgement {
        let known: PlainSet
        var verdicts: [Int: Bool] = [:]
        var open: Set<Int> = []
    }

    func isValid(_ place: Int, _ judgement: inout Judgement) -> Bool {
        if let verdict = judgement.verdicts[place] { return verdict }
        guard judgement.known.contains(place) else { return false }
        guard judgement.open.insert(place).inserted else {
            foundCycle = true
            return false
        }
        let verdict = decide(place, &judgement)
        judgement.open.remove(place)
        judgement.verdicts[place] = verdict
        return verdict
    }

    /// V-1.
    private func decide(_ place: Int, _ judgement: inout Judgement) -> Bool {
        let fact = facts[place]
        guard !fact.isBehind else { return false }
        let isConfirmed = !endsOwnPhrase(place) && isConfirmed(place, &judgement)
        for support in fact.supports where !isValid(support, &judgement) {
            guard isConfirmed, support == fact.author?.grant, stands(support, &judgement) else {
                return false
            }
            if rules.has(.v6Displaced), case .removeDevice = fact.operation.action,
                isDisplaced(support, &judgement)
            {
                return false
            }
        }
        if !isConfirmed, restsOnKept(place, &judgement) { return false }
        if let behind = fact.behind, !hasFollowed(place, behind, { isValid($0, &judgement) }) {
            return false
        }
        if rules.has(.v1Allowed), !isAllowed(place, &judgement) { return false }
        if let end = endCuttingOff(place, &judgement), !isConfirmed || !givesUp(end, place) {
            return false
        }
        return fact.hitBy.allSatisfy { other in
            isConfirmed && givesUp(other, place) || !isValid(other, &judgement)
                || isNamed(place, beforeBy: other, &judgement)
        }
    }
}

/// Why an operation is not stored, relayed or counted (S-1).
public enum AuthRefusal: Hashable, Sendable {
    /// It has a fault; the rule that it breaks.
    case fault(String)
    /// It cites what is not here, because that was refused.
    case citesRefused(OperationID)
}
