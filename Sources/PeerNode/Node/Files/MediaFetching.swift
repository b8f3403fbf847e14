import BlobStore
import CRDTStore
import WorkspaceModel

/// When files of one kind are fetched automatically.
private struct MediaRule: Equatable {
    var policy: MediaPolicy
    /// Only files up to this number of bytes.
    var byteCountMax: UInt64?

    /// Small images alone.
    static func usual(_ kind: MediaKind) -> Self {
        kind == .image
            ? Self(policy: .always, byteCountMax: Limits.fetchedImageBytesMax)
            : Self(policy: .manual, byteCountMax: nil)
    }
}

/// Fetches files together with their messages, without anyone asking for them.
final class MediaFetching: FilePart, FileMediaCommands {
    /// When files of a kind are fetched automatically, cached.
    private var rules: [MediaKind: MediaRule] = [:]
    /// Whether the network is metered, if known.
    private var meter: Bool?

    func goOn(after former: MediaFetching) { meter = former.meter }

    /// The prefix of the registry key for the rule of a kind.
    private static let ruleName = "file.media."

    func media() throws(NodeError) -> Page<MediaObject> {
        try stored { () throws(StorageError) in
            var objects: [MediaObject] = []
            for kind in MediaKind.allCases {
                let rule = try rule(kind)
                objects.append(
                    MediaObject(
                        kind: kind.rawValue, policy: rule.policy.rawValue,
                        byteCountMax: rule.byteCountMax.map { Int64(clamping: $0) },
                        isMetered: isMetered))
            }
            return Page(objects)
        }
    }

    func setMedia(_ edit: MediaEdit) throws(NodeError) -> Page<MediaObject> {
        try stored { () throws(StorageError) in
            try write()
            for kind in edit.kinds {
                let most = edit.byteCountMax.map { ":\($0)" } ?? ""
                try store.registry.setValue(
                    [UInt8]((edit.policy.rawValue + most).utf8), of: Self.ruleName + kind.rawValue)
            }
        }
        rules = [:]
        try stored { () throws(StorageError) in try lookAtMeter() }
        return try media()
    }

    private func rule(_ kind: MediaKind) throws(StorageError) -> MediaRule {
        if let known = rules[kind] { return known }
        var rule = MediaRule.usual(kind)
        if let stored = try store.registry.value(Self.ruleName + kind.rawValue) {
            let words = String(decoding: stored, as: UTF8.self).split(separator: ":")
            if let policy = words.first.flatMap({ MediaPolicy(rawValue: String($0)) }) {
                let most = words.count > 1 ? UInt64(words[1]) : nil
                rule = MediaRule(policy: policy, byteCountMax: most)
            }
        }
        rules[kind] = rule
        return rule
    }

    /// Whether a file comes as soon as its message does.
    private func isFetchedUnasked(_ item: Manifest.Item) throws(StorageError) -> Bool {
        let rule = try rule(MediaKind(type: item.type.text))
        guard item.byteCount <= rule.byteCountMax ?? .max else { return false }
        return switch rule.policy {
        case .manual: false
        case .unmetered: !isMetered
        case .always: true
        }
    }

    /// Fetches a file that a message names, if its kind is fetched automatically and it fits.
    func fetchUnasked(_ item: Manifest.Item, _ number: Int64) throws(StorageError) {
        guard try isFetchedUnasked(item), let row = try store.blobs.row(number),
            !row.held.isWhole, !row.isWanted, try room.cache.fits(row)
        else { return }
        try room.transfers.want(number)
    }

    // MARK: Networks that cost

    /// Whether the network costs by the byte. Where nobody says so it does not.
    private var isMetered: Bool { environment.fileDefaults.isMetered ?? meter ?? false }

    /// Asks the loop whether the network is metered, where that matters.
    func lookAtMeter() throws(StorageError) {
        guard environment.fileDefaults.isMetered == nil, home != nil else { return }
        for kind in MediaKind.allCases where try rule(kind).policy == .unmetered {
            return turn.emit(.lookAtMeter)
        }
    }

    /// The loop's answer; `nil` if it is unknown.
    func noteMeter(_ isMetered: Bool?) throws(StorageError) {
        let before = self.isMetered
        meter = isMetered
        if before, !self.isMetered { try fetchMissed() }
    }

    /// Fetches what did not come while the network was metered: of the newest files of each channel.
    private func fetchMissed() throws(StorageError) {
        guard mayWrite, !turn.isBuilding, !turn.session.lock.isLocked else { return }
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            for channel in workspace.channelIndex.all {
                let references = try store.blobs.references(
                    ofDocument: channel.number, before: .max, limit: Limits.filesMissedMax)
                for reference in references {
                    guard let row = try store.blobs.row(reference.blob), !row.held.isWhole,
                        let item = try room.mentions.item(of: row.number)
                    else { continue }
                    try fetchUnasked(item, row.number)
                }
            }
        }
    }
}
