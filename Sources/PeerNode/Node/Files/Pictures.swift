import BlobStore
import CRDTStore
import WorkspaceModel

/// Pictures of people, workspaces and channels that are blobs. Which there are follows from what is shown
/// now; no table has them, since each names a key.
extension Files {
    /// Where a picture is shown, which says who may fetch it.
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

    /// A picture, and where it is shown.
    struct ShownPicture {
        let picture: Picture
        var uses: Set<PictureUse> = []
    }

    /// What tells that other pictures may be shown in a workspace.
    struct PictureMark: Equatable {
        let edits: UInt64
        let image: String?
    }

    /// Takes up which pictures are shown now, if others may be. Those that are not here are fetched, also
    /// where they once were, or did not fit.
    func notePictures() throws(StorageError) {
        picturesDue = nil
        guard !turn.isBuilding, !turn.session.lock.isLocked else { return }
        var marks: [Int64: PictureMark] = [:]
        for workspace in core.workspaces.values {
            marks[workspace.number] = PictureMark(
                edits: workspace.people.pictureEdits, image: workspace.fields.image)
        }
        guard marks != pictureMarks else { return }
        // While very much comes, all channels and people are looked through now and then alone.
        let due = picturesNotedAt.map { $0 &+ Limits.picturesMilliseconds } ?? time.monotonic
        guard due <= time.monotonic else {
            picturesDue = due
            return
        }
        picturesNotedAt = time.monotonic
        pictureMarks = marks
        pictures = shownPictures
        guard mayWrite else { return }
        for root in pictures.keys.sorted() {
            guard let blob = pictures[root]?.picture.blob else { continue }
            if let known = try store.blobs.row(blob), known.isWanted || known.held.isWhole {
                continue
            }
            try write()
            let number = try store.blobs.enter(blob, at: time.wall)
            if let row = try store.blobs.row(number), try fits(row) { try want(number) }
        }
    }

    private var shownPictures: [BlobRoot: ShownPicture] {
        var found: [BlobRoot: ShownPicture] = [:]
        func note(_ text: String?, _ use: PictureUse) {
            guard let picture = text.flatMap(Picture.init(untrusted:)) else { return }
            let root = picture.blob.root
            // Of two that claim another size or key of one root the first counts; only one opens.
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

    /// The picture of which a row is, where it is shown.
    func picture(of row: BlobTable.Row) -> ShownPicture? {
        guard let blob = row.blob, let shown = pictures[blob.root], shown.picture.blob == blob
        else { return nil }
        return shown
    }

    /// Whether a message or a picture names a blob.
    func isNamed(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        if picture(of: row) != nil { return true }
        return try store.blobs.isReferenced(row.number)
    }

    /// A file that was added, to be shown as a picture.
    ///
    /// - Parameters:
    ///   - id: comes from outside.
    ///   - field: where it was given.
    func addedPicture(_ id: String, field: String) throws(NodeError) -> Picture {
        let item: Manifest.Item
        if let draft = drafts[id] {
            item = draft.item
        } else if let shown = try? picture(of: row(id)) {
            return shown.picture
        } else {
            throw NodeError.notFound(
                "picture", id, field: field, hint: "first: blob.add with 'picture'")
        }
        if let picture = Picture(item) { return picture }
        throw Self.noPicture(item, field: field)
    }

    /// Why a file is no picture.
    static func noPicture(_ item: Manifest.Item, field: String) -> NodeError {
        let name = NodeError.quoted(item.name.text)
        if !item.type.isPicture {
            return NodeError(
                .badRequest, "\(name) is not a picture",
                hint: "give a PNG, JPEG, GIF or WebP file", reason: "picture.type",
                fields: [.init(name: field, reason: "form")])
        }
        if item.byteCount > Limits.pictureBytesMax { return tooLargePicture(item.name.text) }
        return NodeError(
            .badRequest, "\(name) was not added as a picture",
            hint: "first: blob.add with 'picture'", reason: "picture.inline",
            fields: [.init(name: field, reason: "form")])
    }

    /// A file that is larger than pictures may be.
    static func tooLargePicture(_ name: String) -> NodeError {
        NodeError(
            .tooLarge, "\(NodeError.quoted(name)) is too large for a picture",
            hint: "at most 1 MiB", reason: "picture.too_large")
    }

    /// The text of a picture that somebody chose: a preset, a file that was added, or none.
    ///
    /// - Parameter typed: comes from outside.
    /// - Returns: empty for none.
    func pictureText(_ typed: String, field: String = "image") throws(NodeError) -> String {
        if typed.utf8.starts(with: "b_".utf8) {
            return try addedPicture(typed, field: field).text
        }
        guard !Picture.isBlob(typed), let text = try? ProfileText.checked(typed, for: .image)
        else {
            guard typed.isEmpty else {
                throw NodeError(
                    .badRequest, "'\(field)' is not a picture",
                    hint: "a file, preset:1 to preset:999, or nothing", reason: "image.form",
                    fields: [.init(name: field, reason: "form")])
            }
            return ""
        }
        return text
    }
}
