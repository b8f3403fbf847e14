import BlobStore
import CRDTStore
import WorkspaceModel

/// Chooses pictures from those that were added or are displayed.
final class PictureChoice: FilePart {
    /// A file that was added, to be shown as a picture.
    ///
    /// - Parameters:
    ///   - id: comes from outside.
    ///   - field: where it was given.
    private func added(_ id: String, field: String) throws(NodeError) -> Picture {
        let item: Manifest.Item
        if let draft = room.drafts[id] {
            item = draft.item
        } else if let shown = try? room.pictures.picture(of: room.names.row(id)) {
            return shown.picture
        } else {
            throw NodeError.notFound(
                "picture", id, field: field, hint: "first: blob.add with 'picture'")
        }
        if let picture = Picture(item) { return picture }
        throw Self.noPicture(item, field: field)
    }

    /// Why a file is no picture.
    private static func noPicture(_ item: Manifest.Item, field: String) -> NodeError {
        let name = NodeError.quoted(item.name.text)
        if !item.type.isPicture {
            return NodeError(
                .badRequest, "\(name) is not a picture",
                hint: "give a PNG, JPEG, GIF or WebP file", reason: "picture.type",
                fields: [.init(name: field, reason: "form")])
        }
        if item.byteCount > Limits.pictureBytesMax { return tooLarge(item.name.text) }
        return NodeError(
            .badRequest, "\(name) was not added as a picture",
            hint: "first: blob.add with 'picture'", reason: "picture.inline",
            fields: [.init(name: field, reason: "form")])
    }

    /// A file that is larger than pictures may be.
    static func tooLarge(_ name: String) -> NodeError {
        NodeError(
            .tooLarge, "\(NodeError.quoted(name)) is too large for a picture",
            hint: "at most 1 MiB", reason: "picture.too_large")
    }

    /// The text of a picture that somebody chose: a preset, a file that was added, or none.
    ///
    /// - Parameter typed: comes from outside.
    /// - Returns: empty for none.
    func text(_ typed: String, field: String = "image") throws(NodeError) -> String {
        if typed.utf8.starts(with: "b_".utf8) {
            return try added(typed, field: field).text
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
