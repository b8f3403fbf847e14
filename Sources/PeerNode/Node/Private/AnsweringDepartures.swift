import CRDTStore
import WorkspaceModel

/// In a private channel every operation under a stronger seat answers the departures that it knows,
/// so that a person who has left cannot write a second departure that pretends to precede something
/// they did. When an owner or admin leaves and nobody stronger happens to write anything, someone
/// writes an operation for this purpose alone (PROTOCOL.md, 4.3).
extension PrivateAuthoring {
    /// Schedules it for a document that was just judged: its owner acts within a minute, then the
    /// admins one after another, and each only if it is still due.
    func planAnswering(of document: PrivateDocument, in workspace: Workspace) {
        let name = JudgingQueue.Name(workspace: workspace.number, document: document.id)
        guard home != nil, document.authority.hasOpenDeparture(weakerThan: workspace.member) else {
            if core.membership.confirmations.departures[name] != nil {
                core.membership.confirmations.departures[name] = nil
            }
            return
        }
        guard core.membership.confirmations.departures[name] == nil else { return }
        let leaders = document.leaders
        let place = leaders.firstIndex(of: workspace.member) ?? leaders.count
        core.membership.confirmations.departures[name] =
            time.monotonic &+ Limits.confirmingMilliseconds &* UInt64(1 + min(place, 64))
    }

    func answerDeparturesWhenDue() throws(StorageError) {
        let departures = core.membership.confirmations.departures
        guard !departures.isEmpty else { return }
        let due = departures.filter { $0.value <= time.monotonic }.keys
        for name in due.sorted(by: { ($0.workspace, $0.document) < ($1.workspace, $1.document) }) {
            core.membership.confirmations.departures[name] = nil
            guard mayWrite, let workspace = core.workspaces[name.workspace],
                workspace.standing == .member,
                let document = workspace.sealed.documents[name.document],
                document.deletion == nil,
                document.authority.hasOpenDeparture(weakerThan: workspace.member)
            else { continue }
            try changeKey(of: document, in: workspace)
        }
    }
}
