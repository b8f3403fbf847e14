import CRDTStore
import WorkspaceModel

/// The effective state of one public channel, updated with each operation.
///
/// It is folded again when more of it has become readable: whether a text opens is tried only once.
struct ChannelFold {
    /// Who may do what, and which settings count.
    private(set) var ledger: ChannelLedger
    /// Which of those name it.
    private(set) var texts = ChannelTexts()

    /// Nothing was said so far.
    init(of document: DocumentID, in workspace: Workspace) {
        ledger = workspace.judged.evaluator.ledger(of: document)
    }

    /// Takes up claims that are new, or whose verdict has changed.
    mutating func update(with claims: [ChannelClaim], in workspace: Workspace) {
        let change = workspace.judged.evaluator.update(&ledger, with: claims)
        for id in change.removed { texts.drop(id, in: workspace) }
        for id in change.added { texts.take(id, in: workspace) }
    }
}

/// The name and topic settings of a channel that can be read here. The last of each kind wins.
struct ChannelTexts {
    private var names: [OperationID] = []
    private var topics: [OperationID] = []
    private var descriptions: [OperationID] = []
    private var images: [OperationID] = []
    private var copies: [OperationID] = []

    /// Takes up a setting that counts.
    mutating func take(_ id: OperationID, in workspace: Workspace) {
        guard let settings = Self.settings(id, in: workspace) else { return }
        if let name = workspace.name(settings.name, key: 5, of: id),
            (try? CheckedName.checkWire(name)) != nil
        {
            Self.insert(id, into: &names, in: workspace)
        }
        if workspace.name(settings.topic, key: 6, of: id) != nil {
            Self.insert(id, into: &topics, in: workspace)
        }
        if workspace.name(settings.description, key: 7, of: id) != nil {
            Self.insert(id, into: &descriptions, in: workspace)
        }
        if workspace.name(settings.image, key: 11, of: id) != nil {
            Self.insert(id, into: &images, in: workspace)
        }
        if settings.copies != nil { Self.insert(id, into: &copies, in: workspace) }
    }

    /// Drops a setting that no longer counts.
    mutating func drop(_ id: OperationID, in workspace: Workspace) {
        Self.remove(id, from: &names, in: workspace)
        Self.remove(id, from: &topics, in: workspace)
        Self.remove(id, from: &descriptions, in: workspace)
        Self.remove(id, from: &images, in: workspace)
        Self.remove(id, from: &copies, in: workspace)
    }

    /// Names a channel.
    func apply(to channel: inout Workspace.Channel, in workspace: Workspace) {
        func lastWord(
            _ list: [OperationID], _ key: UInt64,
            _ field: (AuthorityPayload.DocumentSettings) -> SealedField?
        ) -> String? {
            list.last.flatMap { id in
                Self.settings(id, in: workspace)
                    .flatMap { workspace.name(field($0), key: key, of: id) }
            }
        }
        channel.name = lastWord(names, 5, \.name)
        let topic = lastWord(topics, 6, \.topic)
        channel.topic = topic?.isEmpty == true ? nil : topic
        let text = lastWord(descriptions, 7, \.description)
        channel.description = text?.isEmpty == true ? nil : text
        let image = lastWord(images, 11, \.image)
        channel.image = image?.isEmpty == true ? nil : image
        let count = copies.last.flatMap { Self.settings($0, in: workspace)?.copies } ?? 0
        channel.copies = Int(clamping: count)
    }

    private static func settings(
        _ id: OperationID, in workspace: Workspace
    ) -> AuthorityPayload.DocumentSettings? {
        guard case .setDocument(let settings)? = workspace.authority[id]?.payload else {
            return nil
        }
        return settings
    }

    // MARK: Order

    private static func insert(
        _ id: OperationID, into list: inout [OperationID], in workspace: Workspace
    ) {
        list.insert(id, at: place(of: id, in: list, workspace))
    }

    private static func remove(
        _ id: OperationID, from list: inout [OperationID], in workspace: Workspace
    ) {
        let place = place(of: id, in: list, workspace)
        if place < list.count, list[place] == id { list.remove(at: place) }
    }

    /// The first place whose setting is not overwritten by one. Mostly it is behind the last.
    private static func place(
        of id: OperationID, in list: [OperationID], _ workspace: Workspace
    ) -> Int {
        let evaluator = workspace.judged.evaluator
        guard let last = list.last, !evaluator.isOverwritten(last, by: id) else {
            return list.count
        }
        var (low, high) = (0, list.count)
        while low < high {
            let middle = low + (high - low) / 2
            if evaluator.isOverwritten(list[middle], by: id) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
