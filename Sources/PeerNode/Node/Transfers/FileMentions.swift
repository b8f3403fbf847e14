import BlobStore
import CRDTStore
import WorkspaceModel

/// Which blobs messages and pictures name.
final class FileMentions: FilePart {
    /// The blob number that means a file inside its message, in the table of which messages name
    /// blobs.
    static let inlineNumber: Int64 = 0

    /// The devices of those who can read a message that names a blob. Nobody else may hear of its root.
    ///
    /// - Returns: also a workspace in which there is such a message.
    func readers(of number: Int64) throws(StorageError) -> (Set<DeviceID>, workspace: Int64?) {
        var devices: Set<DeviceID> = []
        var found: Int64?
        let shown = try store.blobs.row(number).flatMap(room.pictures.picture(of:))
        for use in shown?.uses ?? [] {
            devices.formUnion(try room.pictures.devices(seeing: use))
            found = min(found ?? use.workspace, use.workspace)
        }
        var seen: Set<Int64> = []
        for reference in try store.blobs.references(
            to: number, limit: Limits.blobReferencesReadMax)
        where seen.insert(reference.document).inserted {
            guard let row = store.operations.document(numbered: reference.document),
                let workspace = core.workspaces[row.workspace]
            else { continue }
            found = found ?? workspace.number
            guard row.kind.access == .insiders else {
                for member in workspace.members where member.role <= .member {
                    devices.formUnion(member.devices)
                }
                continue
            }
            guard let channel = workspace.channel(numbered: reference.document),
                let stored = try store.operations.operation(reference.arrival, hasPayload: false)
            else { continue }
            devices.formUnion(
                try core.syncing.readers(
                    of: channel, sealedUnder: stored.entry.keyID, in: workspace
                ).allDevices)
        }
        turn.session.ownDevice.map { _ = devices.remove($0) }
        return (devices, found)
    }

    /// Those of the devices that are online, and the link to each.
    func onlineReaders(
        of number: Int64
    ) throws(StorageError) -> [(device: DeviceID, link: PeerLink)] {
        let (readers, _) = try readers(of: number)
        var seen: Set<DeviceID> = []
        return network.ordered.filter(\.mayCarryBlobs).compactMap { link in
            guard let device = link.peer?.device, readers.contains(device),
                seen.insert(device).inserted
            else { return nil }
            return (device, link)
        }
    }

    /// The message with an arrival number; `nil` where it is deleted, or cannot be opened.
    func readableMessage(
        _ arrival: Int64
    ) throws(StorageError) -> (message: ContentPayload.Message, stored: StoredOperation)? {
        guard let stored = try store.operations.operation(arrival),
            try store.view.redactions.deletion(of: arrival) == nil,
            let document = store.operations.document(numbered: stored.document),
            let workspace = core.workspaces[document.workspace],
            case .message(let message)? = try core.keys.content(of: stored, in: workspace)
        else { return nil }
        return (message, stored)
    }

    /// The item of a manifest that names a blob, from a message that can be opened; `nil` where there is
    /// none.
    func item(of number: Int64) throws(StorageError) -> Manifest.Item? {
        if let shown = try store.blobs.row(number).flatMap(room.pictures.picture(of:)) {
            return shown.picture.item
        }
        for reference in try store.blobs.references(
            to: number, limit: Limits.blobReferencesReadMax)
        {
            guard let items = try readableMessage(reference.arrival)?.message.files else {
                continue
            }
            guard items.indices.contains(Int(clamping: reference.item)) else { continue }
            return items[Int(clamping: reference.item)]
        }
        return nil
    }

    /// Whether a message or a picture names a blob.
    func isNamed(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        if room.pictures.picture(of: row) != nil { return true }
        return try store.blobs.isReferenced(row.number)
    }
}

extension ContentPayload.Message {
    /// Its files; none where its manifest makes no sense.
    var files: [Manifest.Item] {
        guard let manifest, let known = try? Manifest(decoding: manifest) else { return [] }
        return known.items
    }

    /// What its sender calls them.
    var fileNames: [String] { files.map(\.name.text) }
}
