/// What a member may do in a workspace. The smaller role is the stronger one.
///
/// - Wire form: the raw value (PROTOCOL.md, "Authority").
public enum MemberRole: Int, Comparable, CaseIterable, Sendable {
    /// Everything, the deletion of the workspace and the making of other owners included.
    case owner = 0
    /// Invites, removes, sets roles below its own, changes settings and keys.
    case admin = 1
    /// Reads and writes public documents, creates documents, lets people in by open invites.
    case member = 2
    /// Takes part in the private documents it was added to, and in nothing else.
    case guest = 3

    /// Stronger first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
