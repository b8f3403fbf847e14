import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The public channels of one workspace, and what operations say about them.
final class ChannelBook {
    /// Public channels by document, deleted ones left out.
    var channels: [DocumentID: Workspace.Channel] = [:]
    /// Channels under a deletion that counts.
    var deleted: [DocumentID: Workspace.DeletedChannel] = [:]
    /// The channel everybody is in.
    var defaultChannel: DocumentID?
    /// The operations that make channels, valid or not.
    var creations: [OperationID] = []
    /// Those that are valid.
    var made = MadeChannels()
    /// What operations say about each channel, valid or not.
    var claims: [DocumentID: [ChannelClaim]] = [:]
    /// The places that those operations name, up to which a right was used.
    var cuts: [LogName: Set<UInt64>] = [:]
    /// Who had rights in each channel before; see `ChannelPast`.
    var pasts: [DocumentID: ChannelPast] = [:]
    /// The effective state of the channels that were used.
    var folds: [DocumentID: ChannelFold] = [:]
}

extension Workspace {
    typealias Channel = PeerNode.Channel
    typealias PrivateMembership = PeerNode.PrivateMembership

    /// The conversation that a document belongs to, by its short number, as far as it is shown.
    func channel(numbered number: Int64?) -> Channel? {
        number.flatMap { channelIndex.channel($0) }
    }

    /// Whether people are told of what happens in a document: to a private channel that they see, and
    /// to a public one that is not deleted.
    func isTold(of document: OperationStore.DocumentRow) -> Bool {
        switch document.kind.access {
        case .insiders: channelIndex.channel(document.number) != nil
        case .unsealed, .workspace, .boxes, .undecided: book.deleted[document.id] == nil
        }
    }
}
