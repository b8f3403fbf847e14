import WorkspaceModel

/// The ids that people and scripts see: a letter for the type, `_`, and base32 of 16 bytes
/// (PROTOCOL.md, 1.1). Every node derives the same ones.
enum PublicID {
    static func workspace(_ id: WorkspaceID) -> String { "w_" + half(id) }
    static func channel(_ id: DocumentID) -> String { "c_" + half(id) }
    /// - Parameter name: the 16 bytes that the id of a channel or direct conversation spells.
    static func conversation(_ name: [UInt8]) -> String { "c_" + Base32.encode(name) }
    static func device(_ id: DeviceID) -> String { "d_" + half(id) }
    static func invite(_ id: OperationID) -> String { "i_" + half(id) }
    static func request(_ id: OperationID) -> String { "r_" + half(id) }
    static func operation(_ id: OperationID) -> String { "o_" + half(id) }
    static func member(_ id: MemberID) -> String { "u_" + Base32.encode(id.bytes) }

    static func message(_ key: MessageKey) -> String {
        "m_"
            + Base32.encode(
                bigEndianBytes(of: key.timestamp.rawValue) + bigEndianBytes(of: key.idPrefix))
    }

    static func note(_ key: MessageKey) -> String { "n_" + Base32.encode(key.bytes) }

    /// The note that `text` names, or `nil` for anything else.
    static func noteKey(_ text: String) -> MessageKey? {
        guard let bytes = bytes(text, prefix: "n_") else { return nil }
        return MessageKey(
            timestamp: HybridTimestamp(rawValue: number(bytes.prefix(8))),
            idPrefix: number(bytes.suffix(8)))
    }

    /// The message that `text` names, or `nil` for anything else.
    static func messageKey(_ text: String) -> MessageKey? {
        guard let bytes = bytes(text, prefix: "m_") else { return nil }
        return MessageKey(
            timestamp: HybridTimestamp(rawValue: number(bytes.prefix(8))),
            idPrefix: number(bytes.suffix(8)))
    }

    /// A file inside a message, at a place from 0 on.
    static func inlineFile(_ key: MessageKey, _ index: Int) -> String {
        "b_" + Base32.encode(key.bytes + [UInt8(clamping: index)])
    }

    /// The message and place that such an id names, `nil` for anything else.
    static func inlineFile(_ text: String) -> (key: MessageKey, index: Int)? {
        guard text.utf8.count <= 64, text.utf8.starts(with: "b_".utf8),
            let bytes = Base32.decode(text.utf8.dropFirst(2)), bytes.count == 17,
            let index = bytes.last
        else { return nil }
        let key = MessageKey(
            timestamp: HybridTimestamp(rawValue: number(bytes[..<8])),
            idPrefix: number(bytes[8..<16]))
        return (key, Int(index))
    }

    /// The 16 bytes behind `prefix`, or `nil` for anything else.
    static func bytes(_ text: String, prefix: String) -> [UInt8]? {
        guard text.utf8.count <= 64, text.utf8.starts(with: prefix.utf8),
            let bytes = Base32.decode(text.utf8.dropFirst(prefix.utf8.count)), bytes.count == 16
        else { return nil }
        return bytes
    }

    private static func half<Named>(_ id: Identifier32<Named>) -> String {
        Base32.encode([UInt8](id.bytes.prefix(16)))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// - Parameter root: of a blob. Half of it names one, and gives nobody the right to it.
    static func blob(_ root: [UInt8]) -> String { "b_" + Base32.encode([UInt8](root.prefix(16))) }

    static func reminder(_ name: ReminderName) -> String { "y_" + Base32.encode(name.bytes) }
}

extension OperationID {
    /// The first 8 bytes, which tell the messages of one moment apart.
    var messagePrefix: UInt64 { leadingWord }
}
