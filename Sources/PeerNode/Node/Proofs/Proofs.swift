import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Addresses that people prove to each other by codes in letters (PROTOCOL.md, 5.11): what this
/// person wants to prove, and what others want to prove to the owner of this node.
///
/// Codes are held in memory only, hashed at the verifier. This person's pending claims are sealed
/// in the store without their codes, so that they continue after a restart.
final class Proofs: Component {
    /// What this person wants to prove, by the workspace's short number.
    var own: [Int64: OwnClaim] = [:]
    /// Whether it has been loaded from the store.
    var isLoaded = false
    /// The workspaces in which the member's address was changed since a letter was sent.
    var voided: Set<Int64> = []
    /// What others want to prove here.
    var foreign: [ForeignClaim.Place: ForeignClaim] = [:]
    /// Letters that are being sent, by their numbers.
    var sending: [UInt64: LetterPurpose] = [:]
    var lettersMade: UInt64 = 0
    var letterBudget = LetterBudget()
    /// How often the command for letters has failed since it last did not.
    var failures = 0
    /// The same of accounts elsewhere.
    private(set) lazy var accounts = AccountProofs(core)

    /// The purpose of a letter.
    enum LetterPurpose {
        /// It has the code of a claim.
        case code(ForeignClaim.Place, ClaimName)
        /// It has the link of an invite, for which this call waits.
        case invite(CallID, InviteObject)
    }

    override var nextDeadline: UInt64? {
        var first = Earliest(accounts.nextDeadline)
        for claim in own.values {
            first.take(claim.asked?.due)
            first.take(claim.code?.due)
            for call in claim.calls { first.take(call.due) }
        }
        return first.moment
    }

    override func tick() throws(StorageError) {
        let now = time.monotonic
        if !own.isEmpty { for number in own.keys.sorted() { passTime(of: number, now) } }
        if !foreign.isEmpty { foreign = foreign.filter { $0.value.due > now } }
        try accounts.tick()
    }

    override func forgetSecrets() {
        for number in own.keys.sorted() {
            answer(number, .failure(.locked(turn.session.lock.phase)))
        }
        (own, isLoaded, voided) = ([:], false, [])
        foreign = [:]
        for (_, purpose) in sending.sorted(by: { $0.key < $1.key }) {
            if case .invite(let call, let made) = purpose {
                turn.emit(.answer(call, .success(made.json)))
            }
        }
        sending = [:]
        accounts.forgetSecrets()
    }

    override func forgetWorkspaces() { forgetSecrets() }

    override func goOn(after former: Component) {
        guard let former = former as? Proofs else { return }
        (own, isLoaded, voided) = (former.own, former.isLoaded, former.voided)
        // Waiting callers were told to ask again, and all links are closed.
        for number in own.keys {
            own[number]?.calls = []
            own[number]?.asked = nil
        }
        (foreign, sending, lettersMade) = (former.foreign, former.sending, former.lettersMade)
        sending = sending.filter { if case .code = $0.value { true } else { false } }
        (letterBudget, failures) = (former.letterBudget, former.failures)
        accounts.goOn(after: former.accounts)
    }

    /// Asks verifiers who are there now, and answers who waits in vain.
    func endTurn() throws(StorageError) {
        guard home != nil, mayWrite else { return }
        try load()
        for number in own.keys.sorted() { try goOn(with: number) }
        try accounts.endTurn()
    }

    /// The member at the other end of a link, if they are another member of the workspace and not a
    /// guest.
    func companion(on link: PeerLink, in workspace: Workspace) -> MemberStanding? {
        guard let device = link.peer?.device, link.syncs[workspace.number]?.standing == .full,
            let standing = workspace.members.first(where: { $0.devices.contains(device) }),
            standing.member != workspace.member, standing.role <= .member
        else { return nil }
        return standing
    }

    /// Whether somebody with this role may say what others have proved.
    func mayAttest(_ role: Role?, in workspace: Workspace) -> Bool {
        role.map { $0 <= workspace.fields.mayAttest.leastRole } ?? false
    }
}

/// How many letters may be sent, or tokens checked: per hour for one member, and per hour in total.
/// Older ones are dropped.
struct LetterBudget {
    private let ofOneMax: Int
    private let inAllMax: Int
    private var all: [UInt64] = []
    private var ofMembers: [MemberID: [UInt64]] = [:]
    /// Letters that were not sent. They have a bound of their own, so that a mistyped address does
    /// not use up the letters for the right one.
    private var failed: [MemberID: [UInt64]] = [:]

    init(ofOne: Int = Limits.lettersOfOneHourly, inAll: Int = Limits.lettersHourly) {
        (ofOneMax, inAllMax) = (ofOne, inAll)
    }

    /// How long to wait before a letter for `member` may be sent, milliseconds; 0 for not at all.
    ///
    /// - Parameter member: `nil` for the owner's own letters, which count in all alone.
    mutating func wait(for member: MemberID?, at now: UInt64) -> UInt64 {
        let hour = Limits.letterHourMilliseconds
        all.removeAll { $0 &+ hour <= now }
        ofMembers = Self.recent(ofMembers, hour, now)
        failed = Self.recent(failed, hour, now)
        var wait: UInt64 = 0
        if all.count >= inAllMax, let first = all.first {
            wait = first &+ hour &- now
        }
        guard let member else { return wait }
        for times in [ofMembers[member] ?? [], failed[member] ?? []] where times.count >= ofOneMax {
            if let first = times.first { wait = max(wait, first &+ hour &- now) }
        }
        return wait
    }

    private static func recent(
        _ times: [MemberID: [UInt64]], _ hour: UInt64, _ now: UInt64
    ) -> [MemberID: [UInt64]] {
        times.mapValues { $0.filter { $0 &+ hour > now } }.filter { !$0.value.isEmpty }
    }

    mutating func note(_ member: MemberID?, at now: UInt64) {
        all.append(now)
        if let member { ofMembers[member, default: []].append(now) }
    }

    /// The last letter for a member was not sent.
    mutating func noteFailed(_ member: MemberID) {
        guard let time = ofMembers[member]?.popLast() else { return }
        failed[member, default: []].append(time)
    }
}
