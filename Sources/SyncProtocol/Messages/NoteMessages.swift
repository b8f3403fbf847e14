public import WorkspaceModel

/// A person's live state in a note, sent by one of their devices to others that have the note open
/// too. It is not stored, not relayed, and valid as long as the link it came over.
public struct NotePresenceUpdate: Sendable, Equatable {
    /// A position in the text: behind a scalar.
    public struct Place: Sendable, Equatable {
        /// The operation that inserted the scalar; `nil` for text that the sender has not
        /// published.
        public var operation: MessageKey?
        /// The scalar's index in that operation, below 65,536.
        public var offset: UInt32

        /// Behind the scalar `offset` of an operation.
        public init(_ operation: MessageKey?, offset: UInt32) {
            self.operation = operation
            self.offset = offset
        }
    }

    /// A person's selection, whose end is the cursor; `nil` is the beginning of the note.
    public struct Selection: Sendable, Equatable {
        /// Where it starts.
        public var start: Place?
        /// Where the cursor is.
        public var end: Place?

        /// A selection.
        public init(from start: Place?, to end: Place?) {
            self.start = start
            self.end = end
        }
    }

    /// The channel's document.
    public var document: DocumentID
    /// The note.
    public var note: MessageKey
    /// Whether the sender has it open; if not, all other fields are absent.
    public var isThere: Bool
    /// Whether the sender requests the receiver's state.
    public var asks: Bool
    /// The person's selection in it, as far as known.
    public var selection: Selection?
    /// Their unpublished text, a body of at most `Limits.noteWordDraftBytesMax` (3.7), not
    /// interpreted here.
    public var draft: [UInt8]?
    /// When they asked others to wait, milliseconds since 1970; `nil` where they do not.
    public var lock: UInt64?

    /// A message with the given fields.
    public init(
        _ document: DocumentID, _ note: MessageKey, isThere: Bool = true, asks: Bool = false,
        selection: Selection? = nil, draft: [UInt8]? = nil, lock: UInt64? = nil
    ) {
        self.document = document
        self.note = note
        self.isThere = isThere
        self.asks = asks
        self.selection = selection
        self.draft = draft
        self.lock = lock
    }

    /// What a device may hear that has not said that it has the note open.
    public var withoutWork: Self {
        var update = self
        (update.selection, update.draft) = (nil, nil)
        return update
    }
}

extension NotePresenceUpdate {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.document(
            document, in: workspace,
            pairs: 5 + [selection != nil, draft != nil, lock != nil].count { $0 })
        body.byteString(note.bytes)
        body.key(4)
        body.bool(isThere)
        body.key(5)
        body.bool(asks)
        if let selection {
            body.key(6)
            body.array(count: 2)
            for place in [selection.start, selection.end] {
                guard let place else {
                    body.null()
                    continue
                }
                body.array(count: 2)
                body.byteString(place.operation?.bytes ?? [])
                body.uint(UInt64(place.offset))
            }
        }
        if let draft {
            body.key(7)
            body.byteString(draft)
        }
        if let lock {
            body.key(8)
            body.uint(lock)
        }
    }
}

extension SyncMessage {
    static func note(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        let start = body.position
        let count = try body.mapCount()
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let document: DocumentID = try body.identifier32()
        try body.key(exactly: 3)
        var update = NotePresenceUpdate(document, try messageKey(from: &body))
        try body.key(exactly: 4)
        update.isThere = try body.bool()
        try body.key(exactly: 5)
        update.asks = try body.bool()
        guard (5...8).contains(count) else { throw Malformed(.wrongKeys, at: start) }
        var last: UInt64 = 5
        for _ in 5..<count {
            let place = body.position
            let key = try body.key()
            guard key > last else { throw Malformed(.wrongKeys, at: place) }
            switch key {
            case 6: update.selection = try selection(from: &body)
            case 7: update.draft = try body.byteString(maxCount: Limits.noteWordDraftBytesMax)
            case 8: update.lock = try body.uint()
            default: throw Malformed(.wrongKeys, at: place)
            }
            last = key
        }
        return .note(workspace, update)
    }

    private static func selection(
        from body: inout CBORDecoder
    ) throws(Malformed) -> NotePresenceUpdate.Selection {
        try body.arrayCount(exactly: 2)
        let start = try place(from: &body)
        return NotePresenceUpdate.Selection(from: start, to: try place(from: &body))
    }

    private static func place(
        from body: inout CBORDecoder
    ) throws(Malformed) -> NotePresenceUpdate.Place? {
        try body.nullOr { (body) throws(Malformed) in
            try body.arrayCount(exactly: 2)
            let start = body.position
            let bytes = try body.byteString(maxCount: 16)
            guard bytes.isEmpty || bytes.count == 16 else {
                throw Malformed(.outOfRange, at: start)
            }
            let offset = try body.uint(as: UInt32.self)
            guard offset <= UInt32(UInt16.max) else { throw Malformed(.outOfRange, at: start) }
            return NotePresenceUpdate.Place(
                bytes.isEmpty ? nil : MessageKey(of: bytes), offset: offset)
        }
    }

    private static func messageKey(from body: inout CBORDecoder) throws(Malformed) -> MessageKey {
        MessageKey(of: try body.byteString(exactly: 16))
    }
}

extension MessageKey {
    /// - Precondition: 16 bytes, as `bytes` gives them.
    fileprivate init(of bytes: [UInt8]) {
        func word(_ part: some Sequence<UInt8>) -> UInt64 {
            part.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(
            timestamp: HybridTimestamp(rawValue: word(bytes.prefix(8))),
            idPrefix: word(bytes.suffix(8)))
    }
}
