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

    /// What one author said in one register.
    private struct Voice {
        var words: [OperationID: Word] = [:]
        /// The valid ones with the largest (hlc, id), those first.
        private(set) var latest: [Word] = []
        /// Whether others may have come into their number.
        private var isShort = false

        mutating func take(_ word: Word, max: Int) {
            if words[word.id] != nil { remove(word.id) }
            words[word.id] = word
            guard word.isValid else { return }
            let place = latest.firstIndex { Word.isEarlier($0, word) } ?? latest.count
            guard place < max else { return }
            latest.insert(word, at: place)
            if latest.count > max { latest.removeLast() }
        }

        mutating func remove(_ id: OperationID) {
            words[id] = nil
            guard let place = latest.firstIndex(where: { $0.id == id }) else { return }
            latest.remove(at: place)
            isShort = words.count > latest.count
        }

        mutating func refill(max: Int) {
            guard isShort else { return }
            isShort = false
            latest = Array(
                words.values.filter(\.isValid).sorted { Word.isEarlier($1, $0) }.prefix(max))
        }
    }

    /// By register, and by author.
    private var voices: [MemberID: [Place: [MemberID: Voice]]] = [:]
    /// Where the operation with an arrival number is.
    private var stored: [Int64: (place: Place, author: MemberID, id: OperationID)] = [:]
    /// Registers of which something was taken out since it was worked out what they say.
    private var short: Set<Place> = []
    /// How many words of one author count in one register.
    private let max: Int

    /// - Parameter max: words of one author that count in one register; tests make it smaller.
    init(max: Int = Limits.attestationsOfOneMax) { self.max = max }

    var isEmpty: Bool { voices.isEmpty }

    /// Takes an operation over; one that is known with another verdict is judged anew.
    mutating func take(_ word: Word) {
        let place = word.place
        voices[place.member, default: [:]][place, default: [:]][word.author, default: Voice()]
            .take(word, max: max)
        // One that does not count any more makes room.
        short.insert(place)
        stored[word.arrival] = (place, word.author, word.id)
    }

    /// Forgets an operation that was redacted, or is not stored any more.
    ///
    /// - Returns: whether it was there.
    mutating func remove(storedAt arrival: Int64) -> Bool {
        guard let (place, author, id) = stored.removeValue(forKey: arrival) else { return false }
        voices[place.member]?[place]?[author]?.remove(id)
        if voices[place.member]?[place]?[author]?.words.isEmpty == true {
            voices[place.member]?[place]?[author] = nil
        }
        if voices[place.member]?[place]?.isEmpty == true { voices[place.member]?[place] = nil }
        if voices[place.member]?.isEmpty == true { voices[place.member] = nil }
        short.insert(place)
        return true
    }

    /// Every word of somebody's that says something in a register, in the order of arrival.
    func values(_ place: Place, by author: MemberID) -> [Word] {
        (voices[place.member]?[place]?[author]?.words.values.filter { $0.said.proof != nil } ?? [])
            .sorted { $0.arrival < $1.arrival }
    }

    // MARK: The fold

    /// Takes up what came into the number of those that count; before `findings`.
    mutating func settle() {
        for place in short {
            for author in voices[place.member]?[place].map({ Array($0.keys) }) ?? [] {
                voices[place.member]?[place]?[author]?.refill(max: max)
            }
        }
        short = []
    }

    /// What each register says, by W-73 to W-76. It follows from the set of words, and from the answers,
    /// whatever came first. What others than verifiers say costs next to nothing, however much it is.
    ///
    /// - Parameters:
    ///   - members: who is in the workspace.
    ///   - isVerifier: whether somebody may say what others have proved.
    ///   - counts: whether a word of a verifier was written by one.
    func findings<Failure: Error>(
        of members: some Sequence<MemberID>, isVerifier: (MemberID) -> Bool,
        counts: (Word) throws(Failure) -> Bool
    ) throws(Failure) -> [Place: Finding] {
        var found: [Place: Finding] = [:]
        for member in members {
            for (place, voices) in voices[member] ?? [:] {
                var counting: [Word] = []
                for (author, voice) in voices {
                    if author == member {
                        counting += voice.latest.filter { $0.said.proof == nil }
                    } else if isVerifier(author) {
                        for word in voice.latest where try counts(word) { counting.append(word) }
                    }
                }
                found[place] = Self.finding(of: counting, among: voices)
            }
        }
        return Self.withOneHolderEach(found)
    }

    private static func finding(
        of counting: [Word], among voices: [MemberID: Voice]
    ) -> Finding? {
        let overwritten = Set(counting.flatMap(\.cited))
        let heads = counting.filter { !overwritten.contains($0.id) }
            .sorted { Word.isEarlier($1, $0) }
        if let head = heads.first {
            return Finding(
                word: head, state: head.said.proof == nil ? .withdrawn : .valid, heads: heads)
        }
        let last = voices.values.compactMap { voice in
            voice.latest.first { $0.said.proof != nil && $0.author != $0.said.member }
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
        holder(of: .init(kind: .email, provider: nil, value: address))
    }

    /// For whom an address is verified, as everybody sees it (W-78): attested, and not over at a time,
    /// milliseconds since 1970.
    func verifiedHolder(ofEmail address: String, at wall: UInt64) -> MemberID? {
        guard let holder = holder(ofEmail: address), let word = valid(.init(holder, .email)),
            word.said.proof?.until.map({ $0 > wall }) ?? true
        else { return nil }
        return holder
    }

    /// Whom something is attested for.
    func holder(of claim: AttestationBook.Claim) -> MemberID? { holders[claim] }

    /// The word that counts in a register.
    func valid(_ place: AttestationBook.Place) -> AttestationBook.Word? {
        found[place].flatMap { $0.state == .valid ? $0.word : nil }
    }
}
