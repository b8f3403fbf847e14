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
        if isRejection(end, of: owner, by: invite, home.device, in: workspace) {
            throw Self.refusal(.invalid)
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

    /// Whether a removal was the answer to this very request, by an admin who did not know that
    /// another had approved it: to ask again by the same invite would not take no for an answer.
    private func isRejection(
        _ end: OperationID, of member: MemberID, by invite: OperationID, _ device: DeviceID,
        in workspace: Workspace
    ) -> Bool {
        let evaluator = workspace.judged.evaluator
        guard case .remove? = workspace.authority[end]?.payload else { return false }
        let asked = (workspace.invites.requests[invite] ?? []).contains { id in
            workspace.authority[id]?.payload.joiner?.member == member
                && evaluator.isAncestor(id, of: end)
        }
        let wasIn = evaluator.binding(of: device, to: member)
            .map { evaluator.isAncestor($0, of: end) }
        return asked && wasIn != true
    }

    /// The deepest removal or departure that counts against a member.
    func lastEnd(of member: MemberID, in workspace: Workspace) -> OperationID? {
        (workspace.memberEnds[member] ?? []).max {
            (workspace.judged.evaluator.lamport(of: $0) ?? 0, $0)
                < (workspace.judged.evaluator.lamport(of: $1) ?? 0, $1)
        }
    }

    private static let boundByPhrase = NodeError(
        .conflict, "your recovery phrase already belongs to a member of this workspace",
        hint: "rejoin as that member: wsx-node identity recover",
        reason: "join.recovery")

    private static let deviceWasRevoked = NodeError(
        .deviceRevoked, "this device was revoked in this workspace, and can never come back",
        hint: "use a new home: wsx-node --home FOLDER join LINK", reason: "device.revoked")
}
