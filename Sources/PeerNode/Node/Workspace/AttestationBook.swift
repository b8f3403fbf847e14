import WorkspaceModel

/// What verifiers said that members have proved: every operation, whether it counts or not. Which one
/// counts is worked out of all of them (PROTOCOL.md, 3.9).
struct AttestationBook {
    /// One operation.
    struct Word: Equatable {
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

        /// By time, then by id.
        static func isEarlier(_ one: Word, _ other: Word) -> Bool {
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

    /// What several members cannot have.
    struct Claim: Hashable {
        let kind: Attestation.Kind
        let provider: String?
        let value: String
    }

    /// Why a register says what it does.
    enum State: Equatable {
        /// Its word counts.
        case valid
        /// What was said was taken back, by this word.
        case withdrawn
        /// Who said it may not say so, or not any more.
        case verifierGone
        /// The same was attested earlier for somebody else.
        case taken
    }

    /// What a register says.
    struct Finding: Equatable {
        /// The word that counts, or would.
        let word: Word
        let state: State
        /// The words that whoever says something else has to overwrite, the latest first.
        var heads: [Word] = []
    }

    private var words: [Place: [OperationID: Word]] = [:]
    /// Where the operation with an arrival number is.
    private var stored: [Int64: (place: Place, id: OperationID)] = [:]

    var isEmpty: Bool { words.isEmpty }

    /// Takes an operation over; one that is known with another verdict is judged anew.
    mutating func take(_ word: Word) {
        words[word.place, default: [:]][word.id] = word
        stored[word.arrival] = (word.place, word.id)
    }

    /// Forgets an operation that was redacted, or is not stored any more.
    ///
    /// - Returns: whether it was there.
    mutating func remove(storedAt arrival: Int64) -> Bool {
        guard let (place, id) = stored.removeValue(forKey: arrival) else { return false }
        words[place]?[id] = nil
        if words[place]?.isEmpty == true { words[place] = nil }
        return true
    }

    /// Every word of a register that says something, in the order of arrival.
    func values(_ place: Place) -> [Word] {
        (words[place]?.values.filter { $0.said.proof != nil } ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    /// Every word that somebody wrote, in the order of arrival.
    func words(by author: MemberID) -> [Word] {
        words.values.flatMap { $0.values.filter { $0.author == author } }
            .sorted { $0.arrival < $1.arrival }
    }

    // MARK: The fold

    /// What each register says, by W-69 to W-72. It follows from the set of words, and from the two
    /// answers, whatever came first.
    ///
    /// - Parameters:
    ///   - mayAttest: whether the author of a word may say what others have proved.
    ///   - isMember: whether somebody is in the workspace.
    func findings<Failure: Error>(
        mayAttest: (Word) throws(Failure) -> Bool, isMember: (MemberID) -> Bool
    ) throws(Failure) -> [Place: Finding] {
        var found: [Place: Finding] = [:]
        for (place, all) in words where isMember(place.member) {
            var counting: [Word] = []
            for word in all.values where word.isValid {
                if try Self.counts(word, mayAttest) { counting.append(word) }
            }
            found[place] = Self.finding(of: counting, among: all)
        }
        return Self.withOneHolderEach(found)
    }

    private static func counts<Failure: Error>(
        _ word: Word, _ mayAttest: (Word) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        if word.author == word.said.member { return word.said.proof == nil }
        return try mayAttest(word)
    }

    private static func finding(
        of counting: [Word], among all: [OperationID: Word]
    ) -> Finding? {
        let overwritten = Set(counting.flatMap(\.cited))
        let heads = counting.filter { !overwritten.contains($0.id) }
            .sorted { Word.isEarlier($1, $0) }
        if let head = heads.first {
            return Finding(
                word: head, state: head.said.proof == nil ? .withdrawn : .valid, heads: heads)
        }
        let last = all.values.filter {
            $0.isValid && $0.said.proof != nil && $0.author != $0.said.member
        }.max(by: Word.isEarlier)
        return last.map { Finding(word: $0, state: .verifierGone) }
    }

    private static func withOneHolderEach(_ found: [Place: Finding]) -> [Place: Finding] {
        var holders: [Claim: Word] = [:]
        for finding in found.values where finding.state == .valid {
            guard let claim = Claim(of: finding.word.said) else { continue }
            if let known = holders[claim], Word.isEarlier(known, finding.word) { continue }
            holders[claim] = finding.word
        }
        return found.mapValues { finding in
            guard finding.state == .valid, let claim = Claim(of: finding.word.said),
                let holder = holders[claim], holder.id != finding.word.id
            else { return finding }
            return Finding(word: finding.word, state: .taken, heads: finding.heads)
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

/// What registers of attestations say now.
struct AttestationFindings {
    let found: [AttestationBook.Place: AttestationBook.Finding]
    /// Whom values belong to.
    private let holders: [AttestationBook.Claim: MemberID]

    static let none = AttestationFindings([:])

    init(_ found: [AttestationBook.Place: AttestationBook.Finding]) {
        self.found = found
        var holders: [AttestationBook.Claim: MemberID] = [:]
        for finding in found.values where finding.state == .valid {
            guard let claim = AttestationBook.Claim(of: finding.word.said) else { continue }
            holders[claim] = finding.word.said.member
        }
        self.holders = holders
    }

    /// Whom an address is attested for.
    func holder(ofEmail address: String) -> MemberID? {
        holders[.init(kind: .email, provider: nil, value: address)]
    }

    /// The word that counts in a register.
    func valid(_ place: AttestationBook.Place) -> AttestationBook.Word? {
        found[place].flatMap { $0.state == .valid ? $0.word : nil }
    }
}
