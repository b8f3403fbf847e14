import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The identity and the devices with which this home asks to be admitted.
struct JoinEntrance {
    let member: MemberID
    let devices: [DeviceEntry]
    /// The end of the membership of before, or the admission that has no effect; `nil` for a newcomer,
    /// and for who is in.
    var answering: OperationID?
}

extension Enrolment {
    /// What this home tells the device that answers: an identity that it had here before stays the
    /// same, and a former member asks to be readmitted (PROTOCOL.md, 5.6).
    func entrance(
        to workspace: Workspace, by invite: OperationID, before answerer: DeviceID?
    ) throws(NodeError) -> JoinEntrance {
        guard let home = core.membership.enteringHome, let answerer else {
            throw Self.refusal(.invalid)
        }
        guard let owner = workspace.member(of: home) ?? formerMember(of: home, in: workspace)
        else {
            let phrases = [home.recovery, home.laterRecovery].compactMap { $0?.device }
            if phrases.contains(where: { workspace.owner(of: $0) != nil }) {
                throw Self.boundByPhrase
            }
            let member = home.member(salt: workspace.id.bytes)
            return JoinEntrance(
                member: member,
                devices: home.deviceEntries(
                    entering: .joining(
                        workspace.id, by: invite, before: answerer, member: member)))
        }
        if workspace.judged.evaluator.bestGrant(of: home.device, as: owner) != nil {
            // The answer is what let this device in, and nobody looks at the signature.
            return JoinEntrance(
                member: owner,
                devices: [
                    home.deviceEntry(
                        entering: .joining(
                            workspace.id, by: invite, before: answerer, member: owner))
                ])
        }
        guard !workspace.judged.evaluator.isBarred(home.device),
            let end = lastEnd(of: owner, in: workspace)
                ?? workspace.judged.evaluator.ineffectiveAdmission(of: owner)
        else { throw Self.deviceWasRevoked }
        guard !isTurnedDown(owner, by: invite, after: end, home.device, in: workspace) else {
            throw Self.declined
        }
        return JoinEntrance(
            member: owner,
            devices: [
                home.deviceEntry(
                    entering: .returning(
                        to: workspace.id, after: end, before: answerer, member: owner))
            ], answering: end)
    }

    /// The member that this device belonged to, or would have, by an operation without effect that
    /// others have cited: no admission is valid for it any more. For a current member, the other
    /// devices are asked.
    private func formerMember(
        of home: HomeIdentity, in workspace: Workspace
    ) -> MemberID? {
        workspace.judged.evaluator.citedMember(of: home.device)
            .flatMap { workspace.role(of: $0) == nil ? $0 : nil }
    }

    /// Whether an admin has rejected this very request, maybe without knowing that another one had
    /// approved it: to ask again by the same invite would not take no for an answer.
    private func isTurnedDown(
        _ member: MemberID, by invite: OperationID, after end: OperationID, _ device: DeviceID,
        in workspace: Workspace
    ) -> Bool {
        // A newcomer's request names no end.
        let wasNeverIn = FormerMembership(of: member, in: workspace).ends.isEmpty
        return workspace.joinRequests(by: member).contains { group in
            let joiner = group.joiner
            return joiner.invite == invite
                && (joiner.answering == end || wasNeverIn && joiner.answering == nil)
                && joiner.devices.contains { $0.device == device }
                && admissions.state(of: group, in: workspace) == .rejected
        }
    }

    /// The deepest removal or departure that ended a member's membership. A rejection is one only
    /// where there is nothing else that a request could name.
    func lastEnd(of member: MemberID, in workspace: Workspace) -> OperationID? {
        let former = FormerMembership(of: member, in: workspace)
        if let end = former.ends.last { return end }
        guard workspace.judged.evaluator.ineffectiveAdmission(of: member) == nil else { return nil }
        return former.rejections.last
    }

    /// What a person hears whose request was rejected.
    static let declined = NodeError(
        .inviteInvalid, "your request to join was declined",
        hint: "to ask once more, get a new invite: wsx-node join LINK",
        reason: "request.declined")

    /// What a person hears whose request nobody has decided in time.
    static let endedUndecided = NodeError(
        .inviteExpired, "the invite ended before an admin decided",
        hint: "ask for a new one: wsx-node join LINK", reason: "request.void")

    private static let boundByPhrase = NodeError(
        .conflict, "your recovery phrase already belongs to a member of this workspace",
        hint: "rejoin as that member: wsx-node identity recover",
        reason: "join.recovery")

    private static let deviceWasRevoked = NodeError(
        .deviceRevoked, "this device was revoked in this workspace, and can never come back",
        hint: "use a new home: wsx-node --home FOLDER join LINK", reason: "device.revoked")
}
