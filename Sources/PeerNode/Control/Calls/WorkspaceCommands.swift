public import WorkspaceModel

/// The commands for workspaces.
public protocol WorkspaceCommands {
    /// Makes a workspace and selects it.
    func createWorkspace(_ draft: WorkspaceDraft, _ scope: CallScope) throws(NodeError)
        -> Made<WorkspaceObject>
    /// The names of the other workspaces in which there is all of that, if the selected one lacks
    /// some.
    func workspaces(having things: [NamedThing]) throws(NodeError) -> [String]
    /// The workspaces of this home, those one was removed from included.
    func workspaces(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<WorkspaceObject>
    /// The workspace of the scope.
    func workspace(counted: Bool, _ scope: CallScope) throws(NodeError) -> WorkspaceObject
    /// Removes a workspace that the caller left from this device; where nobody else knows yet that
    /// they did, only if it `isForced`.
    func forgetWorkspace(
        _ workspace: WorkspaceReference, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject
    /// Makes `workspace` the one that calls act in.
    func selectWorkspace(_ workspace: WorkspaceReference, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Changes what is given of a workspace.
    func editWorkspace(_ draft: WorkspaceEdit, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Makes another member the owner; the caller becomes an admin.
    func transferWorkspace(to member: MemberReference, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Names who gets the workspace when its owner leaves; `nil` for nobody.
    func setSuccessor(_ member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Ends a workspace, whose name must be given exactly.
    func deleteWorkspace(name: String, _ scope: CallScope) throws(NodeError) -> WorkspaceObject
    /// Ends the caller's membership.
    func leaveWorkspace(_ scope: CallScope) throws(NodeError) -> WorkspaceObject
    /// Changes the key for contents and names.
    func changeWorkspaceKey(withDiscovery: Bool, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
}
