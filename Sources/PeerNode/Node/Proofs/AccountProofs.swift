import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Accounts elsewhere that people link (PROTOCOL.md, 5.12): what this person wants to link, and
/// whose tokens this node has checked.
///
/// Tokens are held in memory only; a verifier passes them only to the process that checks them.
final class AccountProofs: CorePart {
    /// An account that is being linked: one at a time per workspace and provider.
    struct Place: Hashable, Comparable {
        let workspace: Int64
        let provider: String

        static func < (left: Self, right: Self) -> Bool {
            (left.workspace, left.provider) < (right.workspace, right.provider)
        }
    }

    /// A claim of a device, which proves once.
    struct ForeignName: Hashable {
        let device: DeviceID
        let claim: ClaimName
    }

    /// A token of somebody else that is being looked at.
    struct Check {
        let name: ForeignName
        let workspace: Int64
        let member: MemberID
        let provider: AccountProvider
    }

    /// A claim that has proved something.
    struct UsedClaim {
        let attestation: OperationID
        /// The number under which that is stored.
        let arrival: Int64?
        /// Until when its token could be shown again, on the monotonic clock.
        let due: UInt64
    }

    var own: [Place: OwnAccount] = [:]
    var checks: [UInt64: Check] = [:]
    var lastCheck: UInt64 = 0
    var used: [ForeignName: UsedClaim] = [:]
    var budget = LetterBudget(ofOne: Limits.tokensOfOneHourly, inAll: Limits.tokensHourly)
    /// The problems that keep this node from checking tokens and were reported to the owner, by
    /// provider.
    var toldTrouble: [String: TokenCheckError] = [:]

    /// When something is due, on the monotonic clock.
    var nextDeadline: UInt64? {
        var first = Earliest()
        for claim in own.values {
            first.take(claim.due)
            first.take(claim.asked?.due)
            first.take(claim.retry)
            for call in claim.calls { first.take(call.due) }
        }
        return first.moment
    }

    func tick() throws(StorageError) {
        guard !own.isEmpty || !used.isEmpty else { return }
        let now = time.monotonic
        let places = own.keys.sorted()
        for place in places { passTime(of: place, now) }
        used = used.filter { $0.value.due > now }
        // A verifier that has not answered in time is not waited for any longer.
        for place in places { try goOn(with: place) }
    }

    /// Drops the tokens. Which claims have been used is kept, since that reveals nothing.
    func forgetSecrets() {
        for place in own.keys.sorted() {
            answer(place, .failure(.locked(turn.session.lock.phase)))
        }
        (own, checks) = ([:], [:])
    }

    func goOn(after former: AccountProofs) {
        own = former.own
        for place in own.keys {
            own[place]?.calls = []
            own[place]?.asked = nil
        }
        (checks, lastCheck, used) = (former.checks, former.lastCheck, former.used)
        (budget, toldTrouble) = (former.budget, former.toldTrouble)
    }

    /// Asks verifiers who are there now, and answers who waits in vain.
    func endTurn() throws(StorageError) {
        for place in own.keys.sorted() { try goOn(with: place) }
    }

    /// The nonce that a token has to have (PROTOCOL.md, Z-20).
    static func nonce(
        _ claim: ClaimName, of member: MemberID, by device: DeviceID
    ) -> String {
        Base64URL.encode(
            Hash.personal("wsx-oidc1", member.bytes, device.bytes, claim.bytes))
    }

    /// The value that represents an account in an attestation (PROTOCOL.md, W-72).
    static func value(issuer: String, subject: String) -> String {
        var account = CBOREncoder()
        account.array(count: 2)
        account.text(issuer)
        account.text(subject)
        return Hexadecimal.text(Hash.personal("wsx-acct1", account.bytes))
    }
}

/// An account that this person links.
struct OwnAccount {
    let claim: ClaimName
    /// Until when a token may be provided, on the monotonic clock.
    let due: UInt64
    /// The token, once provided and while no verifier has checked it.
    var token: String?
    /// The links on which it was shown in vain.
    var triedOn: Set<LinkID> = []
    /// The link on which it was shown and nothing was answered, and until when that is waited for.
    var asked: (link: LinkID, due: UInt64)?
    /// The calls that wait, and until when.
    var calls: [(call: CallID, due: UInt64)] = []
    /// Why nobody has taken it so far.
    var refusal: AccountAnswer.Result?
    /// When it is shown again on all links; `nil` while there is one where it was not shown.
    var retry: UInt64?

    /// Lets it be shown on all links again.
    mutating func beginAnew() { (triedOn, refusal, retry) = ([], nil, nil) }
}
