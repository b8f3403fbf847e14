import CRDTStore
import WorkspaceModel

/// Tells every listener that something needs attention.
extension NodeCore {
    private static let warningName = Array(EventType.nodeWarning.word.utf8)

    /// Records `node.warning`.
    ///
    /// - Parameter data: its content, beginning with `kind`. It may contain names and sentences, so
    ///   it is sealed on the disk; before there is an identity there are none.
    func warn(_ data: JSONObject) throws(StorageError) {
        let text = JSONValue.object(data).bytes
        guard let home = session.home else {
            return try turn.record(.nodeWarning, workspace: nil, extra: text)
        }
        try turn.record(
            .nodeWarning, workspace: nil,
            extra: home.seal(text, name: Self.warningName, using: turn.environment.random))
    }

    /// The recorded warning, or `null` while the node is locked.
    func warningData(_ event: EventStore.StoredEvent) -> JSONValue {
        guard let extra = event.extra else { return .null }
        let opened = session.home.flatMap { $0.open(extra, name: Self.warningName) }
        // A warning from before there was a key is stored unsealed.
        guard let data = (try? JSONValue(parsing: opened ?? extra))?.objectValue else {
            return .null
        }
        // An earlier build recorded the kind as `reason`.
        guard data["kind"] == nil, let reason = data["reason"] else { return .object(data) }
        var renamed: JSONObject = ["kind": reason]
        for member in data.members where member.key != "reason" {
            renamed.append(member.key, member.value)
        }
        return .object(renamed)
    }
}
