import WorkspaceModel

/// What verifiers have attested about members: every operation, valid or not. Which one counts is
/// computed from all of them (PROTOCOL.md, 3.9).
struct AttestationBook {
    /// One operation.
    struct Assertion: Equatable {
        let id: OperationID
        let timestamp: HybridTimestamp
        /// The number under which it is stored.
        let arrival: Int64
        /// Who wrote it.
        let author: MemberID
        /// Under which grant, and where.
        let grant: OperationID
        let log: LogName
        let branch: Int64
        let sequence: UInt64
        /// What it cites, whatever that is.
        let cited: [OperationID]
        let said: Attestation
        /// Whether it is valid as what members write.
        let isValid: Bool

        var place: Place { Place(said.member, said.kind, said.provider) }
        var range: VerdictRange { VerdictRange(grant: grant, branch: branch) }

        /// By time, then by id.
        static func isEarlier(_ one: Assertion, _ other: Assertion) -> Bool {
            (one.timestamp.rawValue, one.id) < (other.timestamp.rawValue, other.id)
        }
    }

    /// One register.
    struct Place: Hashable, Comparable {
        let member: MemberID
        let kind: Attestation.Kind
        let provider: String?

        init(_ member: MemberID, _ kind: Attestation.Kind, _ provider: String? = nil) {
            (self.member, self.kind, self.provider) = (member, kind, provider)
        }

        static func < (left: Self, right: Self) -> Bool {
            (left.member, left.kind.rawValue, left.provider ?? "")
                < (right.member, right.kind.rawValue, right.provider ?? "")
        }
    }

    /// A value that only one member can have.
    struct Claim: Hashable {
        let kind: Attestation.Kind
        let provider: String?
        let value: String
    }

    /// Why a register says what it does.
    enum State: Equatable {
        /// Its assertion counts.
        case valid
        /// The attestation was withdrawn by this operation.
        case withdrawn
        /// Its author may not attest, or no longer.
        case verifierGone
        /// The same was attested earlier for somebody else.
        case taken
    }

    /// The value of a register.
    struct Finding: Equatable {
        /// The assertion that counts, or would.
        let assertion: Assertion
        let state: State
        /// The assertions that a contradicting one has to overwrite, the latest first; empty where
        /// no author of them was allowed to make one.
        var heads: [Assertion] = []
    }

    /// A range in which all assertions share their verdicts up to one place: under one grant, in
    /// one branch.
    struct VerdictRange: Hashable {
        let grant: OperationID
        let branch: Int64
    }

    /// By register, and by author.
    private var authors: [MemberID: [Place: [MemberID: AuthorAttestations]]] = [:]
    /// Where the operation with an arrival number is.
    private var stored: [Int64: (place: Place, author: MemberID, id: OperationID)] = [:]
    /// Registers that have changed since their values were computed.
    private var changed: Set<Place> = []
    /// How many assertions of one author have standing in one register.
    private let max: Int

    /// - Parameter max: assertions of one author that have standing in one register; tests make it smaller.
    init(max: Int = Limits.attestationsOfOneMax) { self.max = max }

    var isEmpty: Bool { authors.isEmpty }

    /// Folds an operation; one that is known with another verdict is judged again.
    mutating func take(_ assertion: Assertion) {
        let (place, nobody) = (assertion.place, AuthorAttestations())
        authors[place.member, default: [:]][place, default: [:]][assertion.author, default: nobody]
            .take(assertion)
        changed.insert(place)
        stored[assertion.arrival] = (place, assertion.author, assertion.id)
    }

    /// Drops an operation that was redacted, or is no longer stored.
    ///
    /// - Returns: whether it was there.
    mutating func remove(storedAt arrival: Int64) -> Bool {
        guard let (place, author, id) = stored.removeValue(forKey: arrival) else { return false }
        authors[place.member]?[place]?[author]?.remove(id)
        if authors[place.member]?[place]?[author]?.assertions.isEmpty == true {
            authors[place.member]?[place]?[author] = nil
        }
        if authors[place.member]?[place]?.isEmpty == true { authors[place.member]?[place] = nil }
        if authors[place.member]?.isEmpty == true { authors[place.member] = nil }
        changed.insert(place)
        return true
    }

    /// Every assertion of somebody's that says something in a register, in the order of arrival.
    func values(_ place: Place, by author: MemberID) -> [Assertion] {
        (authors[place.member]?[place]?[author]?.assertions.values.filter { $0.said.proof != nil }
            ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    // MARK: The fold

    /// Takes up what came or was taken out; before `findings`.
    mutating func settle() {
        for place in changed {
            for author in authors[place.member]?[place].map({ Array($0.keys) }) ?? [] {
                authors[place.member]?[place]?[author]?.settle()
            }
        }
        changed = []
    }

    /// The value of each register, by W-73 to W-76 and W-97. It is a function of the set of
    /// assertions and of the closures' results, independent of order. Assertions by members who are
    /// not verifiers cost next to nothing, however many there are.
    ///
    /// - Parameters:
    ///   - members: who is in the workspace.
    ///   - isVerifier: whether a member may attest now.
    ///   - bound: the last sequence number of the assertion's range that a verifier wrote; `nil`
    ///     where a verifier wrote no part of it.
    func findings<Failure: Error>(
        of members: some Sequence<MemberID>, isVerifier: (MemberID) -> Bool,
        bound: (Assertion) throws(Failure) -> UInt64?
    ) throws(Failure) -> [Place: Finding] {
        var found: [Place: Finding] = [:]
        for member in members {
            for (place, authors) in authors[member] ?? [:] {
                var standing: [Assertion] = []
                for (author, attestations) in authors {
                    standing += try attestations.standing(max: max) { (assertion) throws(Failure) in
                        if author == member { return UInt64.max }
                        return try bound(assertion)
                    }
                }
                found[place] =
                    Self.finding(of: standing, isVerifier)
                    ?? authors.values.compactMap { $0.latestValue(max: max) }
                    .max(by: Assertion.isEarlier).map {
                        Finding(assertion: $0, state: .verifierGone)
                    }
            }
        }
        return Self.withOneHolderEach(found)
    }

    /// The register's value among the valid assertions. If its author is no longer a verifier, the
    /// assertions that it replaced do not come back.
    private static func finding(
        of standing: [Assertion], _ isVerifier: (MemberID) -> Bool
    ) -> Finding? {
        let overwritten = Set(standing.flatMap(\.cited))
        let heads = standing.filter { !overwritten.contains($0.id) }
            .sorted { Assertion.isEarlier($1, $0) }
        guard let head = heads.first else { return nil }
        guard head.said.proof != nil else {
            return Finding(assertion: head, state: .withdrawn, heads: heads)
        }
        let state: State = isVerifier(head.author) ? .valid : .verifierGone
        return Finding(assertion: head, state: state, heads: heads)
    }

    private static func withOneHolderEach(_ found: [Place: Finding]) -> [Place: Finding] {
        var holders: [Claim: Assertion] = [:]
        for finding in found.values where finding.state == .valid {
            guard let claim = Claim(of: finding.assertion.said) else { continue }
            if let known = holders[claim], Assertion.isEarlier(known, finding.assertion) {
                continue
            }
            holders[claim] = finding.assertion
        }
        return found.mapValues { finding in
            guard finding.state == .valid, let claim = Claim(of: finding.assertion.said),
                let holder = holders[claim], holder.id != finding.assertion.id
            else { return finding }
            return Finding(assertion: finding.assertion, state: .taken, heads: finding.heads)
        }
    }
}

extension AttestationBook.Claim {
    /// What an attestation gives to one member; `nil` of one that takes back.
    init?(of said: Attestation) {
        guard let proof = said.proof else { return nil }
        self.init(kind: said.kind, provider: said.provider, value: proof.value)
    }
}
