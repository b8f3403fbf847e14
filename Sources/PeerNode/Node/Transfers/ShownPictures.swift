import BlobStore
import CRDTStore
import WorkspaceModel

/// Where a picture is displayed, which determines who may fetch it.
enum PictureUse: Hashable {
    /// By a member, or by the workspace: every member sees it.
    case members(of: Int64)
    /// By a channel of a workspace, by their short numbers.
    case channel(Int64, in: Int64)

    var workspace: Int64 {
        switch self {
        case .members(let workspace), .channel(_, let workspace): workspace
        }
    }
}

/// A picture, and where it is displayed.
struct ShownPicture {
    let picture: Picture
    var uses: Set<PictureUse> = []
}

/// Pictures of people, workspaces and channels that are blobs. They are computed from what is
/// displayed now; no table has them, since each names a key.
final class ShownPictures: FilePart {
    /// Changes when other pictures may be displayed in a workspace.
    private struct Mark: Equatable {
        let edits: UInt64
        let image: String?
    }

    /// The pictures that are shown now, and what told so, by workspace. They hold keys.
    private var pictures: [BlobRoot: ShownPicture] = [:]
    private var marks: [Int64: Mark] = [:]
    /// When they were looked for last, and when they are again, on the monotonic clock.
    private var lookedAt: UInt64?
    private(set) var due: UInt64?

    /// Takes up which pictures are shown now, if others may be.
    ///
    /// - Returns: whether it was looked.
    func look() -> Bool {
        due = nil
        guard !turn.isBuilding, !turn.session.lock.isLocked else { return false }
        let workspaces = core.workspaces
        // Compared one by one: this is asked each turn, and mostly nothing has changed.
        guard
            workspaces.count != marks.count
                || workspaces.contains(where: { marks[$0.key] != mark(of: $0.value) })
        else { return false }
        // While very much comes, all channels and people are looked through now and then alone.
        let next = lookedAt.map { $0 &+ Limits.picturesMilliseconds } ?? time.monotonic
        guard next <= time.monotonic else {
            due = next
            return false
        }
        lookedAt = time.monotonic
        marks = workspaces.mapValues(mark(of:))
        pictures = shownPictures
        return true
    }

    private func mark(of workspace: Workspace) -> Mark {
        Mark(edits: workspace.people.pictureEdits, image: workspace.fields.image)
    }

    /// Their blobs.
    var blobs: [BlobName] { pictures.sorted { $0.key < $1.key }.map(\.value.picture.blob) }

    func forget() { (pictures, marks, due) = ([:], [:], nil) }

    private var shownPictures: [BlobRoot: ShownPicture] {
        var found: [BlobRoot: ShownPicture] = [:]
        func note(_ text: String?, _ use: PictureUse) {
            guard let picture = text.flatMap(Picture.init(untrusted:)) else { return }
            let root = picture.blob.root
            // If two pictures claim a different size or key for one root, the first counts; only
            // one opens.
            found[root, default: ShownPicture(picture: picture)].uses.insert(use)
        }
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            note(workspace.fields.image, .members(of: workspace.number))
            for (_, fields) in workspace.people.fields.sorted(by: { $0.key < $1.key }) {
                note(fields[.image], .members(of: workspace.number))
            }
            for channel in workspace.channelIndex.all {
                note(channel.image, .channel(channel.number, in: workspace.number))
            }
        }
        return found
    }

    /// The devices of those who see a picture.
    func devices(seeing use: PictureUse) throws(StorageError) -> Set<DeviceID> {
        guard let workspace = core.workspaces[use.workspace] else { return [] }
        switch use {
        case .members:
            return workspace.members.filter { $0.role <= .member }
                .reduce(into: []) { $0.formUnion($1.devices) }
        case .channel(let number, _):
            guard let channel = workspace.channel(numbered: number) else { return [] }
            return try core.syncing.readers(of: channel, sealedUnder: nil, in: workspace)
                .allDevices
        }
    }

    /// The picture that a row belongs to, if it is displayed.
    func picture(of row: BlobTable.Row) -> ShownPicture? {
        guard let blob = row.blob, let shown = pictures[blob.root], shown.picture.blob == blob
        else { return nil }
        return shown
    }
}
