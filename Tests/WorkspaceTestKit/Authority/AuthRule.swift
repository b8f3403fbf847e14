/// The rules of PROTOCOL.md, 4, and their parts, so that each can be disabled separately: a rule
/// whose absence goes unnoticed is not tested.
///
/// Not listed is what `RecombiningAttacker` itself needs: that a reference exists at all.
public enum AuthRule: String, CaseIterable, Sendable {
    // 4.0.1. What a signature covers is judged by who knows keys: the attacker's world.
    case a1Type, a1Workspace, a1Context, a1Answerer, a1Member, a1List, a2, a3, a4
    // 4.0.2
    case a6, a7, a8Role, a8Weaker, a9Role, a9Policy, a9Weaker, a10Role, a10Count, a11, a12End
    case a12Bound, a12Tied, a12Barred, a13Role, a13Member, a13Device, a13Uses, a13Removed, a14
    case a15Admin
    case a15Request, a15Time, a16, a17Taken, a17Barred, a17Count, a17Older, a18, a19Role, a19Own,
        a19Weaker,
        a19Bound
    case a19Barred, a20Acts, a20Gives, a20Heir, a20Empty, a20Bound, a20Barred, a21Role, a21Own
    case a22Bound, a22Whose, a23, a24Role, a24Rank, a25, a30Role, channelRole, settingsRole,
        wsdelRole
    // 4.0: what counts of what a past binds
    case countsAdmits, countsLinks, countsConfirmed, countsOthers, countsUnended, barsKnown
    // 4.0.3: the rows of the table, and what makes an exception
    case stronger, authorStronger, ownEnd, answeredEnd, answeredBefore, known, removeMember
    case removeInvites
    case removeExempt, rmdev
    case rmdevWhose, rmdevExempt, leave, leaveChain, rvinv, replaces, replacesAdmit, drops
    case v1Grant, v1Invite, v1Policy, v1Allowed, v3, v3Strength, v3Recovery, v4, v4Device,
        v5Stronger, v6, v6Stronger, v6Invite, v6Chain, v6Again, v6Final, v6Displaced, v7Chosen, v10,
        v10Own,
        v10Answer, v11,
        v11Stronger, v11Unlisted, v11Together, v11Admits, v12, v12Gone, v13, v13Confirmed, v13Others
    // 4.0.4: what a node stores and cites
    case s2, s7

    /// What each is about: a part of a rule is told by its end.
    public var isAboutSignatures: Bool {
        [.a1Type, .a1Workspace, .a1Context, .a1Answerer, .a1Member, .a1List, .a2, .a3, .a4]
            .contains(self)
    }
}

/// The enabled rules.
public struct AuthRuleSet: Hashable, Sendable {
    /// The rules that were taken away.
    public var missing: Set<AuthRule> = []
    /// Whether giving a role up is judged as it was once: by what an operation has in its past,
    /// valid or not, and without naming the devices that go on. An owner might leave, then, where
    /// the past had a second one, and somebody be admitted again.
    public var isOld = false

    /// Those of PROTOCOL.md.
    public static let current = AuthRuleSet()

    /// All but one.
    public static func without(_ rule: AuthRule) -> Self { Self(missing: [rule]) }

    /// The rules as they were built first: a signature served every list, invite and answerer.
    public static let builtBefore = AuthRuleSet(
        missing: [
            .a1Type, .a1Workspace, .a1Context, .a1Answerer, .a1List, .a2, .a11, .a12Barred,
            .a13Member, .a13Device, .a14, .a17Barred, .a18, .a19Barred, .a20Acts, .a20Gives,
            .a20Heir, .a20Empty, .a20Bound, .a20Barred, .a22Bound, .a22Whose, .a23, .replacesAdmit,
            .s2,
        ], isOld: true)

    /// Whether the rule holds.
    public func has(_ rule: AuthRule) -> Bool { !missing.contains(rule) }
}
