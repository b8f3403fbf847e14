public import WorkspaceModel

/// The digest of an address book.
public enum BookSummary {}

/// Which address records of a workspace's devices the sender has: enough for two address books to
/// become equal. The records themselves travel in `peers`.
public struct AddressBookUpdate: Sendable, Equatable {
    /// The version of one device's record.
    public struct Entry: Hashable, Sendable {
        /// The device.
        public let name: DeviceName
        /// When it was signed, milliseconds since 1970.
        public let at: UInt64

        /// The record of a device that was signed at that time.
        public init(_ device: DeviceID, at: UInt64) {
            name = DeviceName(of: device)
            self.at = at
        }

        init(name: DeviceName, at: UInt64) {
            self.name = name
            self.at = at
        }
    }

    /// The digest of all the sender's records.
    public var digest: Identifier16<BookSummary>
    /// All of them, at most `Limits.bookEntriesMax`, or `nil` where only the digest is sent.
    public var entries: [Entry]?
    /// Devices whose records the sender requests, at most `Limits.bookWantsMax`.
    public var wants: [DeviceName]?

    /// A message with the given fields.
    public init(
        _ digest: Identifier16<BookSummary>, entries: [Entry]? = nil, wants: [DeviceName]? = nil
    ) {
        self.digest = digest
        self.entries = entries
        self.wants = wants
    }
}

extension AddressBookUpdate {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 2 + [entries != nil, wants != nil].count { $0 })
        body.workspace(workspace)
        body.key(2)
        body.byteString(digest)
        if let entries {
            body.key(3)
            body.array(count: entries.count)
            for entry in entries {
                body.array(count: 2)
                body.byteString(entry.name.bytes)
                body.uint(entry.at)
            }
        }
        if let wants {
            body.key(4)
            body.names(wants)
        }
    }
}

extension SyncMessage {
    static func book(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        let start = body.position
        let count = try body.mapCount(max: 4)
        guard count >= 2 else { throw Malformed(.wrongKeys, at: start) }
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        var update = AddressBookUpdate(try body.identifier16())
        for _ in 2..<count {
            let start = body.position
            // Keys ascend, so each comes once.
            switch try body.key() {
            case 3: update.entries = try body.bookEntries()
            case 4: update.wants = try body.deviceNames(max: Limits.bookWantsMax)
            default: throw Malformed(.wrongKeys, at: start)
            }
        }
        return .book(workspace, update)
    }
}

extension CBORDecoder {
    fileprivate mutating func bookEntries() throws(Malformed) -> [AddressBookUpdate.Entry] {
        var entries: [AddressBookUpdate.Entry] = []
        for _ in 0..<(try arrayCount(max: Limits.bookEntriesMax)) {
            try arrayCount(exactly: 2)
            entries.append(.init(name: try deviceName(), at: try uint()))
        }
        return entries
    }
}
