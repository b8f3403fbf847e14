import BlobStore
import CRDTStore
import WorkspaceModel

/// Files whose bytes go over the connection of a call. The core says which, and never sees them.
extension Files {
    /// The first bytes of a file are ready, or cannot be read.
    func opened(_ id: ErrandID, _ result: Result<Void, BlobError>) {
        guard let errand = errands[id], case .read(_, let object, let range) = errand.work else {
            // Nobody waits for it any more.
            return turn.emit(.blob(.abandon(id)))
        }
        switch result {
        case .failure(let error): end(id, .failure(NodeError(error, file: object.title)))
        case .success:
            errands[id]?.isAnswered = true
            let answer = ReadFileObject(
                file: object, offset: Int64(clamping: range.lowerBound),
                byteCount: Int64(clamping: range.upperBound - range.lowerBound))
            turn.emit(.answer(errand.call, .success(answer.json)))
        }
    }

    // MARK: Parts

    /// Goes on with what waits for parts of a blob, of which more is here.
    func partCame(of blob: BlobName) throws(StorageError) {
        for id in errands.keys.sorted()
        where errands[id]?.waitsFor == blob.root && errands[id]?.work.chunks != nil {
            try begin(id)
        }
        endPart(blob.root)
    }

    /// Begins anew what waits for parts of blobs, when their transfers were ended.
    func fetchPartsAgain() throws(StorageError) {
        for id in errands.keys.sorted()
        where errands[id]?.waitsFor != nil && errands[id]?.work.chunks != nil {
            try begin(id)
        }
    }

    /// Ends the transfer of some chunks, once nobody waits for them.
    func endPart(_ root: BlobRoot) {
        guard transfers[root]?.isPart == true,
            !errands.values.contains(where: { $0.waitsFor == root })
        else { return }
        endTransfer(root)
    }
}

extension SavedContents {
    /// What a manifest says of a file.
    init(_ item: Manifest.Item) {
        switch item.contents {
        case .blob(let root, let shape, let key):
            self = .blob(BlobName(root: root, shape: shape), key)
        case .inline(let bytes): self = .inline(bytes)
        }
    }
}
