import CRDTStore
import WorkspaceModel

/// The new policy, and which of its fields have changed.
struct PolicyChange {
    /// Whether it says anything about joining.
    let isEntrance: Bool
    let mayInvite: InviteRight
    let mayAttest: InviteRight
    let join: JoinRule
    /// Files that one message may have.
    let attachments: UInt64
    private let before: WorkspaceFields

    /// - Parameter edit: from outside; what it leaves out stays.
    init(_ edit: PolicyEdit, from before: WorkspaceFields) {
        isEntrance = edit.whoMayInvite != nil || edit.join != nil
        mayInvite = edit.whoMayInvite.flatMap(InviteRight.init(word:)) ?? before.mayInvite
        mayAttest = edit.whoMayAttest.flatMap(InviteRight.init(word:)) ?? before.mayAttest
        join = edit.join.flatMap(JoinRule.init(word:)) ?? before.join
        attachments = UInt64(clamping: edit.attachments ?? Int64(before.attachments))
        self.before = before
    }

    /// Whether only the owner may do this. An address is an invite; and what an owner keeps for
    /// themselves only they give away.
    var isOwners: Bool {
        let attesting = [mayAttest, before.mayAttest]
        return (isEntrance && [mayInvite, before.mayInvite].contains(.owner))
            || (mayAttest != before.mayAttest && attesting.contains(.owner))
    }

    /// The settings to write; `nil` for none.
    var settings: AuthorityPayload.WorkspaceSettings? {
        var settings = AuthorityPayload.WorkspaceSettings()
        if mayInvite != before.mayInvite || join != before.join {
            settings.whoMayInvite = mayInvite.rawValue
            settings.join = join.rawValue
        }
        if mayAttest != before.mayAttest { settings.whoMayAttest = mayAttest.rawValue }
        if attachments != UInt64(clamping: before.attachments) {
            settings.attachments = attachments
        }
        return settings == AuthorityPayload.WorkspaceSettings() ? nil : settings
    }
}
