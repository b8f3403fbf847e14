import BlobStore
import CRDTStore
import WorkspaceModel

/// Records the files that messages name.
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

    /// Records the files of a message that was opened. Of a hidden one, too: its verdict may
    /// change.
    func note(_ message: ContentPayload.Message, at place: Place) throws(StorageError) {
        for (index, item) in message.files.enumerated() {
            try write()
            guard case .blob(let root, let shape, _) = item.contents else {
                try store.blobs.refer(
                    .init(
                        arrival: place.arrival, item: Int64(index), blob: FileMentions.inlineNumber,
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
            if !place.isBackfill { try media.fetchUnasked(item, number) }
            try copies.note(number, in: place.document)
        }
    }
}
