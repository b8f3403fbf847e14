import CRDTStore
import WorkspaceModel

/// Commands that a single room answers.
extension CommandDesk {
    // MARK: Coming in

    func approveRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        try core.enrolment.approveRequest(id, scope)
    }

    func declineInvite(_ text: String, _ scope: CallScope) throws(NodeError) -> DeclinedObject {
        try core.enrolment.declineInvite(text, scope)
    }

    func issueDeviceLink(_ scope: CallScope) throws(NodeError) -> Made<DeviceLinkObject> {
        try core.enrolment.issueDeviceLink(scope)
    }

    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try core.enrolment.joinWorkspace(draft, scope)
    }

    func linkDevice(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try core.enrolment.linkDevice(draft, scope)
    }

    func recoverIdentity(
        _ draft: RecoveryDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try core.enrolment.recoverIdentity(draft, scope)
    }

    func rejectRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        try core.enrolment.rejectRequest(id, scope)
    }

    func renewPhrase(_ words: String?, _ scope: CallScope) throws(NodeError) -> NewPhraseObject {
        try core.enrolment.renewPhrase(words, scope)
    }

    func requests(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<RequestObject> {
        try core.enrolment.requests(request, scope)
    }

    // MARK: The session

    func changePasscode(
        from current: String, to new: String, _ scope: CallScope
    ) throws(NodeError) -> SessionObject {
        try core.session.changePasscode(from: current, to: new, scope)
    }

    func lockNow(_ scope: CallScope) throws(NodeError) -> SessionObject {
        try core.session.lockNow(scope)
    }

    func logOut(
        wiping wipe: String, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> SessionObject {
        try core.session.logOut(wiping: wipe, isForced: isForced, scope)
    }

    func removePasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try core.session.removePasscode(code, scope)
    }

    func setPasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try core.session.setPasscode(code, scope)
    }

    func unlock(passcode code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try core.session.unlock(passcode: code, scope)
    }

    // MARK: Notices

    func notices(_ scope: CallScope) throws(NodeError) -> NoticeObject {
        try core.events.notices(scope)
    }

    func setNoticeCommand(
        _ command: String?, _ scope: CallScope
    ) throws(NodeError) -> NoticeCommandObject {
        try core.events.setNoticeCommand(command, scope)
    }

    func setNotices(_ level: String, _ scope: CallScope) throws(NodeError) -> NoticeObject {
        try core.events.setNotices(level, scope)
    }

    // MARK: The store

    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try core.integrity.check(repairs: repairs, scope)
    }

    func forgetWorkspace(
        _ reference: WorkspaceReference, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let object = try core.integrity.forgetWorkspace(reference, isForced: isForced, scope)
        try stored { () throws(StorageError) in
            for workspace in workspaces.values where PublicID.workspace(workspace.id) == object.id {
                try core.enrolment.forgetJoins(into: workspace.id)
            }
        }
        return object
    }

    // MARK: Names

    func workspaces(having things: [NamedThing]) throws(NodeError) -> [String] {
        try core.queries.workspaces(having: things)
    }
}
