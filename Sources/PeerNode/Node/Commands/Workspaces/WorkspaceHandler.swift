import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Implements the commands that create, select and leave workspaces.
final class WorkspaceHandler: CorePart, WorkspaceCommands {
    func createWorkspace(
        _ draft: WorkspaceDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<WorkspaceObject> {
        if let made = try core.replay(scope) {
            guard let id = WorkspaceID(untrusted: made),
                let known = workspaces.values.first(where: { $0.id == id })
            else { throw .internalFailure(reason: "replay") }
            return Made(
                try stored { () throws(StorageError) in try core.queries.object(of: known) },
                isReplayed: true)
        }
        let name = try NewNames.workspace(draft.name, field: "name")
        let channel = try NewNames.channel(draft.firstChannel, field: "first_channel")
        if workspaces.values.contains(where: {
            $0.standing == .member && !core.membership.isOver($0)
                && NameFolding.matches($0.displayName, name)
        }) {
            throw NodeError(
                .duplicate, "there is already a workspace \(NodeError.quoted(name)) here",
                hint: "wsx-node workspace use \(NodeError.shellWord(name))",
                reason: "workspace.exists",
                fields: [.init(name: "name", reason: "duplicate")])
        }
        let tender = try LedgerHandler(core).tender(from: draft.paidFrom)
        let image = try draft.image.map { (typed) throws(NodeError) in
            try core.files.pictureChoice.text(typed)
        }
        let workspace = try stored { () throws(StorageError) in
            let workspace = try core.enrolment.founding.found(
                name: name, description: draft.description, firstChannel: channel)
            if let image, !image.isEmpty {
                try core.enrolment.founding.show(image, of: workspace)
            }
            try core.membership.select(workspace)
            try core.profiles.introduce(in: workspace)
            try core.ledgers.pay(tender, for: workspace)
            return workspace
        }
        draft.image.map { core.files.drafts.sent([$0]) }
        try core.remember(scope, made: workspace.id.bytes)
        core.links.workspaceListChanged()
        return Made(
            try stored { () throws(StorageError) in try core.queries.object(of: workspace) })
    }

    func workspaces(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<WorkspaceObject> {
        let all = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        let (items, next) = try core.queries.page(all, request)
        return Page(
            try stored { () throws(StorageError) in
                var objects: [WorkspaceObject] = []
                for workspace in items { objects.append(try core.queries.object(of: workspace)) }
                return objects
            }, next: next)
    }

    /// - Parameter counted: whether its messages are counted, which takes the longer the more there are.
    func workspace(counted: Bool, _ scope: CallScope) throws(NodeError) -> WorkspaceObject {
        let workspace = try core.queries.shownWorkspace(scope)
        return try stored { () throws(StorageError) in
            var object: WorkspaceObject = try self.core.queries.object(of: workspace)
            object.payment = try core.ledgers.payment(of: workspace)
            guard counted else { return object }
            var count: Int64 = 0
            for channel in workspace.channelIndex.all {
                for document in [channel.number] + channel.others {
                    count += try store.view.shownCount(in: document)
                }
            }
            object.messages = count
            return object
        }
    }

    func selectWorkspace(
        _ reference: WorkspaceReference, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace = try core.queries.workspace(reference)
        guard !core.membership.isOver(workspace) else { throw over(workspace) }
        return try stored { () throws(StorageError) in
            try core.membership.select(workspace)
            return try core.queries.object(of: workspace)
        }
    }

    /// No automatic action happens in a workspace that is over; its content is shown to callers
    /// that name it.
    private func over(_ workspace: Workspace) -> NodeError {
        let name = NodeError.quoted(workspace.displayName)
        let isDeleted = workspace.fields.deletion != nil
        return NodeError(
            .notFound,
            isDeleted ? "the workspace \(name) was deleted" : "you left the workspace \(name)",
            hint: isDeleted
                ? "wsx-node workspace list" : "read it with -w, or ask for a new invite",
            reason: isDeleted ? "workspace.deleted" : "workspace.left",
            fields: [.init(name: "workspace", reason: "over")])
    }
}

extension NodeError {
    /// A text that breaks a rule: the rule's sentence as the clause that a message is.
    static func badText(
        _ problem: TextProblem, field: String, hint: String?, reason: String
    ) -> NodeError {
        let sentence = problem.description
        let clause = sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast()
        return NodeError(
            .badRequest, "'\(field)': \(clause)", hint: hint, reason: reason,
            fields: [.init(name: field, reason: problem == .tooManyBytes ? "too_long" : "form")])
    }
}
