import BlobStore
import WorkspaceModel

/// A file that was added and that no message names yet. It holds a key, and is not stored.
struct FileDraft {
    let name: FileName
    let type: MediaType
    let contents: Manifest.Item.Contents
    /// Where it was read; `nil` where a connection handed it in.
    let path: String?
    /// When it was put, on the monotonic clock.
    let putAt: UInt64

    var item: Manifest.Item { Manifest.Item(name: name, type: type, contents: contents) }
}

/// Files that were added and that no message names yet, by public id.
final class FileDrafts: FilePart {
    private var drafts: [String: FileDraft] = [:]

    subscript(id: String) -> FileDraft? { drafts[id] }

    /// The roots of those that are blobs.
    var roots: [[UInt8]] { drafts.values.compactMap { $0.item.root?.bytes } }

    /// Adds a file. If there are too many, the oldest is dropped.
    func add(_ draft: FileDraft, as id: String) {
        dropOld()
        drafts[id] = draft
    }

    /// A message names them now.
    func sent(_ ids: [String]) { for id in ids { drafts[id] = nil } }

    /// Forgets files that were put long ago and are in no message; of very many the oldest.
    func dropOld() {
        let now = time.monotonic
        drafts = drafts.filter { $0.value.putAt &+ Limits.fileDraftMilliseconds > now }
        while drafts.count >= Limits.fileDraftsMax,
            let oldest = drafts.min(by: { ($0.value.putAt, $0.key) < ($1.value.putAt, $1.key) })
        {
            drafts[oldest.key] = nil
        }
    }

    /// Forgets all, at a lock: what is in no message has to be put again.
    func forget() { drafts = [:] }

    func goOn(after former: FileDrafts) { drafts = former.drafts }
}
