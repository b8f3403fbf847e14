import CRDTStore
import WorkspaceModel

/// What was found out about redactions in one pass over what is to be judged.
final class RedactionPass {
    /// A valid redaction or undo.
    struct Spoken {
        let operation: StoredOperation
        let member: MemberID
        var power: Int?
        /// The right that its author had when it was written, as its clock says.
        var formerPower: Int?

        /// Who had the right when it was written keeps what was deleted by it. Clocks can be wrong
        /// on purpose, so this reaches nothing that was written later than it says.
        func voice(about target: StoredOperation?) -> NodeCore.RedactionVoice? {
            guard power == nil, let target,
                target.entry.timestamp.rawValue < operation.entry.timestamp.rawValue
            else { return .init(member: member, power: power) }
            return .init(member: member, power: formerPower)
        }
    }

    struct Undone: Hashable {
        let redaction: Int64
        let power: Int?
    }

    /// By arrival number; the inner `nil` for what is not valid.
    var spoken: [Int64: Spoken?] = [:]
    var undone: [Undone: Bool] = [:]
}
