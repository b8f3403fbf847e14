import CRDTStore
import NoteText
import WorkspaceModel

/// Implements the commands about notes.
final class NoteHandler: CorePart {
    /// A note that a call names, and where it is.
    struct Aim {
        let workspace: Workspace
        let channel: Workspace.Channel
        let place: ViewStore.NotePlace
        /// The channel's document, or another one of the same conversation.
        let document: DocumentID
    }

    // MARK: Aiming

    /// Finds a note. Its id decides in which workspace, where the call does not.
    func aim(_ reference: NoteReference, _ scope: CallScope) throws(NodeError) -> Aim {
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        let channels: [Workspace.Channel]
        if let named = reference.channel {
            channels = [try core.queries.channel(named, in: workspace, field: "in")]
        } else {
            channels = workspace.channelIndex.all
        }
        let found = try stored { () throws(StorageError) -> [(ViewStore.NotePlace, String)] in
            if let key = PublicID.noteKey(reference.text) {
                return try core.notes.finding.place(of: key, in: workspace).map { [($0, "")] } ?? []
            }
            return try core.notes.finding.places(
                named: reference.text, in: channels, of: workspace)
        }
        guard found.count <= 1 else {
            throw .ambiguous(
                reference.text,
                candidates: found.map { place, title in
                    ["id": .string(PublicID.note(place.key)), "name": .string(title)]
                }, naming: Self.candidatesMax, field: "note")
        }
        guard let place = found.first?.0,
            let channel = core.queries.channel(place.document, in: workspace),
            let document = store.operations.document(numbered: place.document)?.id
        else {
            throw .notFound(
                "note", reference.text, field: "note", hint: "wsx-node note list")
        }
        return Aim(workspace: workspace, channel: channel, place: place, document: document)
    }

    private static let candidatesMax = 10

    /// The same, for a caller that wants to write there.
    func aimToWrite(_ reference: NoteReference, _ scope: CallScope) throws(NodeError) -> Aim {
        let aim = try aim(reference, scope)
        try refuseWriting(in: aim.channel, of: aim.workspace)
        return aim
    }

    /// Where nobody may send a message, nobody writes notes.
    func refuseWriting(
        in channel: Workspace.Channel, of workspace: Workspace
    ) throws(NodeError) {
        guard workspace.fields.deletion == nil else {
            throw .forbidden(
                "the workspace \(NodeError.quoted(workspace.displayName)) was deleted",
                reason: "workspace.deleted", hint: "wsx-node workspace use NAME")
        }
        try core.channels.refuseArchived(channel, in: workspace)
        try core.channels.refuseOutsider(of: channel, in: workspace)
        try core.channels.refuseDeserted(channel, in: workspace)
        guard workspace.ownRole != nil else { throw core.membership.notAllowed(in: workspace) }
    }

    /// A note that nobody can see any more cannot be changed.
    func refuseDeleted(_ aim: Aim) throws(NodeError) {
        guard try stored({ () throws(StorageError) in try core.notes.facts.isDeleted(aim.place) })
        else {
            return
        }
        throw NodeError(
            .conflict, "that note was deleted",
            hint: "to bring it back: wsx-node note delete \(PublicID.note(aim.place.key)) --undo",
            reason: "note.deleted")
    }

    // MARK: Answering

    func object(of aim: Aim) throws(NodeError) -> NoteObject {
        let found = try stored { () throws(StorageError) in
            try core.notes.objects.object(of: aim.place, in: aim.workspace)
        }
        guard let found else {
            throw NodeError(
                .notFound, "the note is no longer there", hint: "wsx-node note list",
                reason: "note.not_found")
        }
        return found
    }

    /// A note to which something is added. A draft of an earlier start that could not be applied to
    /// its text becomes an operation first.
    func openedToWrite(_ aim: Aim) throws(NodeError) -> OpenNote {
        let note = try opened(aim)
        guard note.strandedDraft != nil else { return note }
        let isPublished = try stored { () throws(StorageError) in
            try core.notes.publishing.publishKept(note)
        }
        guard isPublished else { throw core.membership.notAllowed(in: aim.workspace) }
        return try opened(aim)
    }

    func opened(_ aim: Aim) throws(NodeError) -> OpenNote {
        try stored { () throws(StorageError) in
            try core.notes.texts.opened(aim.place, in: aim.workspace)
        }
    }
}
