import CRDTStore
import WorkspaceModel

/// Results about redactions during one pass over what has to be judged, which is spread over
/// several turns.
final class RedactionPass {
    /// A valid redaction or undo.
    struct ValidRedaction {
        let operation: StoredOperation
        let member: MemberID
        var power: Int?
        /// The right that its author had when it was written, as its clock says.
        var formerPower: Int?

        /// A deletion stays in force if its author had the right when it was written. Clocks can be
        /// wrong on purpose, so it affects nothing that was written after its own timestamp.
        func redactor(about target: StoredOperation?) -> Messages.RedactionAuthor? {
            guard power == nil, let target,
                target.entry.timestamp.rawValue < operation.entry.timestamp.rawValue
            else { return .init(member: member, power: power) }
            return .init(member: member, power: formerPower)
        }
    }

    /// Under which grant in which document, by their numbers.
    struct Place: Hashable {
        let grant: Int64
        let document: Int64
    }

    /// The member behind a grant, and what they may do.
    struct Right {
        let member: MemberID
        /// Whether anything under it may delete what others wrote.
        let reachesOthers: Bool
    }

    struct Undone: Hashable {
        let redaction: Int64
        let power: Int?
    }

    /// By arrival number; the inner `nil` for what is not valid.
    var validRedaction: [Int64: ValidRedaction?] = [:]
    var undone: [Undone: Bool] = [:]
    /// The inner `nil` for grants of nobody.
    var rights: [Place: Right?] = [:]
    /// The redactions that were examined in this turn and are known to name something; reading one
    /// costs more.
    private(set) var cost = 0

    /// The cost of reading a redaction, in examinations.
    private static let readingCost = 16

    /// Forgets what the turn before has cost, and everything where that has become very much.
    func beginTurn() {
        cost = 0
        guard validRedaction.count + undone.count > Limits.redactionsWalkedMax else { return }
        validRedaction = [:]
        undone = [:]
    }

    func noteLook() { cost += 1 }

    func noteReading() { cost += Self.readingCost }
}
