import CRDTStore
import WorkspaceModel

/// The public channels of a workspace, from its valid authority operations: a pure fold.
enum ChannelFolding {
    /// Every channel, with the fields of the docset that wins for each of them: of those that
    /// name a field, the one with the largest (lam, rank, id).
    static func channels(
        of workspace: Workspace, numbers: OperationStore
    ) -> [DocumentID: Workspace.Channel] {
        var channels: [DocumentID: Workspace.Channel] = [:]
        for id in workspace.authorityOrder where workspace.evaluator.isValid(id) {
            guard case .createDocument(1, _)? = workspace.authority[id]?.payload,
                let channel = created(id, in: workspace, numbers: numbers)
            else { continue }
            channels[channel.id] = channel
        }
        for (setting, settings) in settings(of: workspace) {
            guard channels[settings.document] != nil else { continue }
            apply(settings, of: setting, to: &channels[settings.document], in: workspace)
        }
        let first = channels.values.min {
            ($0.rank.lamport, $0.rank.id) < ($1.rank.lamport, $1.rank.id)
        }
        if let first { channels[first.id]?.isDefault = true }
        return channels
    }

    private static func created(
        _ id: OperationID, in workspace: Workspace, numbers: OperationStore
    ) -> Workspace.Channel? {
        let document = DocumentID(sameBytesAs: id)
        guard let record = workspace.authority[id],
            let row = numbers.document(document, in: workspace.number),
            let lamport = workspace.evaluator.lamport(of: id)
        else { return nil }
        return Workspace.Channel(
            id: document, number: row.number,
            creator: workspace.evaluator.subject(ofGrant: record.grant),
            createdAt: record.timestamp.milliseconds, rank: (lamport, id))
    }

    /// The settings that count, weakest claim first, so that later ones overwrite.
    private static func settings(
        of workspace: Workspace
    ) -> [(OperationID, AuthorityPayload.DocumentSettings)] {
        var found: [(claim: Claim, settings: AuthorityPayload.DocumentSettings)] = []
        for id in workspace.authorityOrder where workspace.evaluator.isValid(id) {
            guard let record = workspace.authority[id],
                case .setDocument(let settings) = record.payload,
                let lamport = workspace.evaluator.lamport(of: id),
                let rank = workspace.evaluator.rank(ofGrant: record.grant),
                maySet(settings.document, by: record.grant, in: workspace)
            else { continue }
            found.append((Claim(lamport: lamport, rank: rank, id: id), settings))
        }
        return found.sorted { $0.claim < $1.claim }.map { ($0.claim.id, $0.settings) }
    }

    private struct Claim: Comparable {
        let lamport: UInt64
        let rank: GrantRank
        let id: OperationID

        static func < (left: Self, right: Self) -> Bool {
            (left.lamport, left.rank, left.id) < (right.lamport, right.rank, right.id)
        }
    }

    /// The channel's creator and the workspace's admins may change it.
    private static func maySet(
        _ document: DocumentID, by grant: OperationID, in workspace: Workspace
    ) -> Bool {
        guard let role = workspace.evaluator.role(ofGrant: grant) else { return false }
        if role <= .admin { return true }
        let creation = workspace.authority[OperationID(sameBytesAs: document)]
        guard let creation else { return false }
        return workspace.evaluator.subject(ofGrant: creation.grant)
            == workspace.evaluator.subject(ofGrant: grant)
    }

    private static func apply(
        _ settings: AuthorityPayload.DocumentSettings, of id: OperationID,
        to channel: inout Workspace.Channel?, in workspace: Workspace
    ) {
        if let name = workspace.name(settings.name, key: 5, of: id) { channel?.name = name }
        if let topic = workspace.name(settings.topic, key: 6, of: id) { channel?.topic = topic }
        if let text = workspace.name(settings.description, key: 7, of: id) {
            channel?.description = text
        }
        if let archived = settings.archived { channel?.isArchived = archived }
    }
}
