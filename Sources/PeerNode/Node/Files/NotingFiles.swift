import BlobStore
import CRDTStore
import WorkspaceModel

/// What messages say of files.
extension Files {
    /// Where a message that names files is.
    struct Place {
        let arrival: Int64
        let document: Int64
        /// Whether people see it.
        let isShown: Bool
        /// Whether it comes from before this node was there.
        let isBackfill: Bool
    }

    /// Takes up the files of a message that was opened. Of a hidden one, too: its verdict may change.
    func note(_ message: ContentPayload.Message, at place: Place) throws(StorageError) {
        for (index, item) in message.files.enumerated() {
            try write()
            guard case .blob(let root, let shape, _) = item.contents else {
                try store.blobs.refer(
                    .init(
                        arrival: place.arrival, item: Int64(index), blob: Self.inlineNumber,
                        document: place.document))
                continue
            }
            let number = try store.blobs.enter(
                BlobName(root: root, shape: shape), at: time.wall)
            try store.blobs.refer(
                .init(
                    arrival: place.arrival, item: Int64(index), blob: number,
                    document: place.document))
            guard place.isShown, !turn.isBuilding else { continue }
            if !place.isBackfill { try fetchUnasked(item, number) }
            try noteCopies(number, in: place.document)
        }
    }

    /// The devices of those who can read a message that names a blob. Nobody else may hear of its root.
    ///
    /// - Returns: also a workspace in which there is such a message.
    func readers(of number: Int64) throws(StorageError) -> (Set<DeviceID>, workspace: Int64?) {
        var devices: Set<DeviceID> = []
        var found: Int64?
        let shown = try store.blobs.row(number).flatMap(picture(of:))
        for use in shown?.uses ?? [] {
            devices.formUnion(try self.devices(seeing: use))
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
            guard row.kind == .privateDocument else {
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
        if let shown = try store.blobs.row(number).flatMap(picture(of:)) {
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
