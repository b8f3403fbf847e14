import WorkspaceModel

@testable import PeerNode

/// Changes of a workspace, and joining: small fixed answers.
extension TableNode {
    func editWorkspace(_ draft: WorkspaceEdit, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    {
        try note("editWorkspace \(draft.name ?? "-") \(draft.description ?? "-")", scope)
        return workspace
    }
    func transferWorkspace(to member: MemberReference, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    {
        try require(member)
        try note("transfer \(member)", scope)
        return workspace
    }
    func setSuccessor(_ member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    {
        try note("successor \(member.map { "\($0)" } ?? "-")", scope)
        if let member { try require(member) }
        return workspace
    }
    func deleteWorkspace(name: String, _ scope: CallScope) throws(NodeError) -> WorkspaceObject {
        try note("deleteWorkspace \(name)", scope)
        return workspace
    }
    func policy(_ scope: CallScope) throws(NodeError) -> PolicyObject {
        try note("policy", scope)
        return policy
    }
    func setPolicy(_ edit: PolicyEdit, _ scope: CallScope) throws(NodeError) -> PolicyObject {
        let attesting = edit.whoMayAttest.map { " \($0)" } ?? ""
        try note("setPolicy \(edit.whoMayInvite ?? "-") \(edit.join ?? "-")\(attesting)", scope)
        return policy
    }
    func declineInvite(_ link: String, _ scope: CallScope) throws(NodeError) -> DeclinedObject {
        try note("decline \(link)", scope)
        return DeclinedObject(workspace: "w_acme0000", wasPending: false)
    }
    func requests(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<RequestObject>
    {
        try note("requests \(page.limit)", scope)
        return Page([request])
    }
    func approveRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        try note("approve \(id)", scope)
        return request
    }
    func rejectRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        try note("reject \(id)", scope)
        return request
    }
}
