import CRDTStore
import WorkspaceModel

/// Who may do what in one private document, with a cache of the answers.
final class PrivateJudgement {
    let authority: PrivateAuthority
    /// The rights by seats, of members who were asked about.
    private var seatRights: [MemberID: PrivateSeatRights] = [:]

    init(_ authority: PrivateAuthority) { self.authority = authority }

    func seatRights(of member: MemberID) -> PrivateSeatRights {
        if let known = seatRights[member] { return known }
        let found = authority.seatRights(of: member)
        seatRights[member] = found
        return found
    }
}

/// The judgements that are in memory. Most of very many conversations are idle, and a judgement
/// takes several kilobytes: so the most recently used ones are cached, and any other is computed
/// again from the same operations on demand.
///
/// Which are cached depends only on the order of the queries, and no answer depends on it.
final class PrivateShelf {
    private struct Place {
        let judgement: PrivateJudgement
        var used: UInt64
    }

    private var places: [UInt64: Place] = [:]
    private let most: Int
    private var uses: UInt64 = 0
    private var lastName: UInt64 = 0
    /// How often an evicted one was computed again; for tests.
    private(set) var remakes = 0

    /// - Parameter most: how many stay, at least one.
    init(most: Int = Limits.privateJudgementsMax) { self.most = max(most, 1) }

    /// How many are there.
    var count: Int { places.count }

    /// A name for the judgement of a document.
    func makeName() -> UInt64 {
        lastName &+= 1
        return lastName
    }

    /// The judgement under a name, which was asked for last from now on.
    func judgement(_ name: UInt64) -> PrivateJudgement? {
        guard let known = places[name]?.judgement else { return nil }
        uses &+= 1
        places[name]?.used = uses
        return known
    }

    func keep(_ judgement: PrivateJudgement, as name: UInt64) {
        uses &+= 1
        places[name] = Place(judgement: judgement, used: uses)
        while places.count > most, let oldest = places.min(by: { $0.value.used < $1.value.used }) {
            places[oldest.key] = nil
        }
    }

    func drop(_ name: UInt64) { places[name] = nil }

    /// Evicts all, so that each is computed again on demand; for tests.
    func dropAll() { places = [:] }

    func noteRemade() { remakes &+= 1 }
}

/// The input to the judgement of one operation that the operation itself does not contain.
struct PrivateBasis {
    let id: OperationID
    /// Whether it was valid in the workspace.
    let isAllowed: Bool
    /// Whether it was opened by then: what arrives later is judged with the next judgement.
    let isOpened: Bool
    /// The ends of memberships that it was known to know.
    let knownEnds: Set<OperationID>

    init(_ operation: PrivateOperation) {
        id = operation.id
        isAllowed = operation.isAllowed
        isOpened = operation.change != nil
        knownEnds = operation.knownEnds
    }
}

/// What lists and peers ask of all private documents at once. It stays in memory when the judgement
/// is evicted.
struct PrivateSummary {
    /// Whether the document has a root that says how it began.
    private(set) var hasRoot = false
    /// Whether that has effect.
    private(set) var isRootValid = false
    /// The valid operation that deletes it.
    private(set) var deletion: OperationID?
    /// Everybody who is in, ascending.
    private(set) var seats: [PrivateSeat] = []

    /// Of a document about which nothing is known.
    init() {}

    init(_ authority: PrivateAuthority) {
        hasRoot = authority.root != nil
        isRootValid = authority.isValid(OperationID(sameBytesAs: authority.document))
        deletion = authority.fields.deletion
        let seated = authority.members.map { PrivateSeat($0.member, $0.role) }
        // Mostly those who were in from the start, whom the root lists already.
        seats = authority.root.map(\.seats) == seated ? authority.root?.seats ?? seated : seated
    }
}

/// What each list asks about one member, mostly the local one.
struct PrivateOwnPlace {
    let member: MemberID
    /// The keys that may be given to them and were not held at that time.
    let missing: [KeyID]
    /// The operations that gave them seats which still hold; only in a channel, since a
    /// conversation exists for its members from its beginning.
    let lasting: [OperationID]
}

extension PrivateDocument {
    /// Whether the root counts.
    var isRootValid: Bool { summary.isRootValid }

    /// The valid operation that deletes it.
    var deletion: OperationID? { summary.deletion }

    /// Whether somebody is in now. Whether the workspace still has them is the workspace's to say.
    func isIn(_ member: MemberID) -> Bool { summary.seats.contains { $0.member == member } }

    /// Everybody who is in now.
    var people: Set<MemberID> { Set(summary.seats.lazy.map(\.member)) }

    /// The owner and the admins, the owner first, then ascending.
    var leaders: [MemberID] {
        summary.seats.filter { $0.role <= .admin }
            .sorted { ($0.role, $0.member) < ($1.role, $1.member) }.map(\.member)
    }
}
