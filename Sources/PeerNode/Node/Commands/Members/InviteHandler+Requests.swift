import WorkspaceModel

/// Joining by a link, and answering requests to join; both are done in `Enrolment`.
extension InviteHandler {
    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try core.enrolment.joinWorkspace(draft, scope)
    }

    func declineInvite(_ text: String, _ scope: CallScope) throws(NodeError) -> DeclinedObject {
        try core.enrolment.declineInvite(text, scope)
    }

    func requests(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<RequestObject> {
        try core.enrolment.admissions.requests(request, scope)
    }

    func approveRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        try core.enrolment.admissions.approveRequest(id, scope)
    }

    func rejectRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        try core.enrolment.admissions.rejectRequest(id, scope)
    }
}
