import WorkspaceModel

/// The messages at the start of a conversation: opening a workspace, joining, and the small ones.
extension WorkspaceOpening {
    func encode(to body: inout CBOREncoder) {
        body.map(
            count: 4 + (agreedRoot == nil ? 0 : 1) + (documents == nil ? 0 : 1)
                + (seen == nil ? 0 : 1) + (shown == nil ? 0 : 1))
        body.workspace(workspace)
        body.key(2)
        body.byteString(tag)
        body.key(3)
        body.byteString(root)
        if let agreedRoot {
            body.key(4)
            body.byteString(agreedRoot)
        }
        body.key(5)
        body.byteString(mine)
        if let documents {
            body.key(6)
            body.array(count: documents.count)
            for document in documents { body.byteString(document) }
        }
        if let seen {
            body.key(7)
            body.uint(seen)
        }
        if let shown {
            body.key(8)
            body.byteString(shown)
        }
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        let start = body.position
        let count = try body.mapCount(max: 8)
        guard count >= 4 else { throw Malformed(.wrongKeys, at: start) }
        workspace = try body.workspace()
        try body.key(exactly: 2)
        tag = try body.identifier16()
        try body.key(exactly: 3)
        root = try body.identifier32()
        agreedRoot = nil
        var keyStart = body.position
        var key = try body.key()
        if key == 4, count > 4 {
            agreedRoot = try body.identifier32()
            keyStart = body.position
            key = try body.key()
        }
        guard key == 5 else { throw Malformed(.wrongKeys, at: keyStart) }
        mine = try body.identifier32()
        for _ in (agreedRoot == nil ? 4 : 5)..<count {
            keyStart = body.position
            // Keys ascend, so each occurs once.
            switch try body.key() {
            case 6: documents = try body.namedDocuments()
            case 7: seen = try body.uint()
            case 8: shown = try body.identifier16()
            default: throw Malformed(.wrongKeys, at: keyStart)
            }
        }
    }
}

extension CBORDecoder {
    /// The documents that a guest names: strictly ascending, so that each set has one encoding and
    /// can be searched as it is.
    fileprivate mutating func namedDocuments() throws(Malformed) -> [DocumentID] {
        var documents: [DocumentID] = []
        for _ in 0..<(try arrayCount(max: Limits.scopeDocumentsMax)) {
            let start = position
            let document: DocumentID = try identifier32()
            if let last = documents.last, last >= document {
                throw Malformed(.outOfRange, at: start)
            }
            documents.append(document)
        }
        return documents
    }
}

extension JoinRequest {
    func encode(to body: inout CBOREncoder) {
        body.map(count: answering == nil ? 5 : 6)
        body.key(1)
        body.byteString(invite)
        body.key(2)
        body.byteString(member)
        body.key(3)
        body.item(raw: devices[...])
        body.key(4)
        body.byteString(proof.bytes)
        body.key(5)
        body.text(name)
        guard let answering else { return }
        body.key(6)
        body.byteString(answering)
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        let count = try body.mapCount()
        guard count == 5 || count == 6 else { throw Malformed(.wrongKeys, at: body.position) }
        try body.key(exactly: 1)
        invite = try body.identifier32()
        try body.key(exactly: 2)
        member = try body.identifier16()
        try body.key(exactly: 3)
        guard try body.peek() == .array else { throw Malformed(.wrongType, at: body.position) }
        devices = [UInt8](body.bytes[try body.itemRange()])
        try body.key(exactly: 4)
        proof = try body.signature()
        try body.key(exactly: 5)
        name = try body.text(maxBytes: Limits.nameBytesMax)
        guard count == 6 else { return }
        try body.key(exactly: 6)
        answering = try body.identifier32()
    }
}

extension JoinResult {
    func encode(to body: inout CBOREncoder) {
        body.map(
            count: 1 + (workspace == nil ? 0 : 1) + (tips == nil ? 0 : 1)
                + (admission == nil ? 0 : 1))
        body.key(1)
        body.uint(code.rawValue)
        if let workspace {
            body.key(2)
            body.byteString(workspace)
        }
        if let tips {
            body.key(3)
            body.tips(tips)
        }
        if let admission {
            body.key(4)
            body.byteString(admission)
        }
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        let start = body.position
        let count = try body.mapCount(max: 4)
        guard count >= 1 else { throw Malformed(.wrongKeys, at: start) }
        try body.key(exactly: 1)
        self.init(code: try body.code(Code.self))
        for _ in 1..<count {
            let keyStart = body.position
            switch try body.key() {
            case 2: workspace = try body.identifier32()
            case 3: tips = try body.tips()
            case 4: admission = try body.identifier32()
            default: throw Malformed(.wrongKeys, at: keyStart)
            }
        }
    }
}

extension SyncMessage {
    static func workspaceResult(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        try body.key(exactly: 1)
        let tag: WorkspaceTag = try body.identifier16()
        try body.key(exactly: 2)
        return .workspaceResult(tag: tag, try body.code(WorkspaceRefusal.self))
    }

    static func joinHello(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        try body.key(exactly: 1)
        let invite: InviteHash = try body.identifier16()
        try body.key(exactly: 2)
        return .joinHello(invite: invite, proof: try body.signature())
    }

    static func ping(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        try body.key(exactly: 1)
        let number = try body.uint()
        try body.key(exactly: 2)
        return .ping(number: number, isAnswer: try body.bool())
    }

    static func error(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        try body.key(exactly: 1)
        let code = try body.text(maxBytes: errorCodeBytesMax)
        try body.key(exactly: 2)
        return .error(code: code, retryAfterMilliseconds: try body.uint())
    }

    static func peers(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        var records: [AddressRecord] = []
        for _ in 0..<(try body.arrayCount()) {
            records.append(try body.addressRecord())
        }
        return .peers(workspace, records)
    }
}

extension CBOREncoder {
    mutating func peers(_ workspace: WorkspaceNumber, _ records: [AddressRecord]) {
        map(count: 2)
        self.workspace(workspace)
        key(2)
        array(count: records.count)
        for record in records {
            array(count: 4)
            record.encodeSignedFields(to: &self)
            byteString(record.signature.bytes)
        }
    }
}

extension CBORDecoder {
    fileprivate mutating func addressRecord() throws(Malformed) -> AddressRecord {
        try arrayCount(exactly: 4)
        let device: DeviceID = try identifier32()
        let at = try uint()
        var addresses: [String] = []
        for _ in 0..<(try arrayCount(max: SyncMessage.addressesMax)) {
            addresses.append(try text(maxBytes: SyncMessage.addressBytesMax))
        }
        return AddressRecord(
            device: device, at: at, addresses: addresses, signature: try signature())
    }
}
