import CRDTStore
import WorkspaceModel

/// What a policy is to become, and what of it is another one than before.
struct PolicyChange {
    let mayInvite: InviteRight
    let mayAttest: InviteRight
    let join: JoinRule
    private let before: WorkspaceFields

    /// - Parameter draft: from outside; what it leaves out stays.
    init(_ draft: PolicyDraft, from before: WorkspaceFields) {
        mayInvite = draft.mayInvite.flatMap(InviteRight.init(word:)) ?? before.mayInvite
        mayAttest = draft.mayAttest.flatMap(InviteRight.init(word:)) ?? before.mayAttest
        join = draft.join.flatMap(JoinRule.init(word:)) ?? before.join
        self.before = before
    }

    /// Whether only the owner may do this. An address is an invite; and what an owner keeps for
    /// themselves only they give away.
    var isOwners: Bool {
        let attesting = [mayAttest, before.mayAttest]
        return [mayInvite, before.mayInvite].contains(.owner)
            || (mayAttest != before.mayAttest && attesting.contains(.owner))
    }

    /// What is to be written; `nil` for nothing.
    var settings: AuthorityPayload.WorkspaceSettings? {
        let isEntranceChanged = mayInvite != before.mayInvite || join != before.join
        guard isEntranceChanged || mayAttest != before.mayAttest else { return nil }
        var settings = AuthorityPayload.WorkspaceSettings()
        if isEntranceChanged {
            settings.whoMayInvite = mayInvite.rawValue
            settings.join = join.rawValue
        }
        if mayAttest != before.mayAttest { settings.whoMayAttest = mayAttest.rawValue }
        return settings
    }
}
