/// The number under which every change but a root names its seat.
private let seatKey: UInt64 = 15

extension PrivateChange {
    /// The plaintext before padding and sealing: `Enc` array [type, map].
    public var encoded: [UInt8] {
        var fields = FieldWriter(type: action.type)
        switch action {
        case .root(let root): root.write(to: &fields)
        case .add(let addition): addition.write(to: &fields)
        case .remove(let member, let cuts, let epoch):
            fields.field(1) { $0.byteString(member) }
            fields.field(2) { $0.cuts(cuts) }
            fields.field(3) { $0.epoch(epoch) }
        case .leave(let cuts):
            fields.field(1) { $0.cuts(cuts) }
        case .role(let member, let role, let drops):
            fields.field(1) { $0.byteString(member) }
            fields.field(2) { $0.uint(role.rawValue) }
            fields.field(3) { $0.bool(drops) }
        case .set(let settings): settings.write(to: &fields)
        case .rekey(let epoch):
            fields.field(1) { $0.epoch(epoch) }
        case .delete:
            break
        }
        fields.optional(seatKey, seat) { $0.byteString($1) }
        return fields.bytes
    }

    /// Reads a plaintext and refuses every form but the one that `encoded` writes.
    ///
    /// - Throws: `Malformed`, also for a type of a later version (`unsupported`).
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 2)
        let type = try decoder.uint()
        guard (1...8).contains(type) else { throw Malformed(.unsupported, at: 1) }
        var fields = try FieldReader(decoder)
        action = try Self.action(type, &fields)
        seat =
            type == 1
            ? nil
            : try fields.required(seatKey) { (d) throws(Malformed) in try d.identifier32() }
        try fields.finish()
    }

    private static func action(
        _ type: UInt64, _ fields: inout FieldReader
    ) throws(Malformed) -> PrivateAction {
        switch type {
        case 1: return .root(try PrivateRoot(&fields))
        case 2: return .add(try PrivateAddition(&fields))
        case 3:
            return .remove(
                try fields.required(1) { (d) throws(Malformed) in try d.identifier16() },
                cuts: try fields.privateCuts(2), epoch: try fields.epoch(3))
        case 4: return .leave(cuts: try fields.privateCuts(1))
        case 5:
            return .role(
                try fields.required(1) { (d) throws(Malformed) in try d.identifier16() },
                try fields.required(2) { (d) throws(Malformed) in try d.role() },
                drops: try fields.required(3) { (d) throws(Malformed) in try d.bool() })
        case 6: return .set(try PrivateSettings(&fields))
        case 7: return .rekey(try fields.epoch(1))
        default: return .delete
        }
    }
}

extension PrivateRoot {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.uint(subtype.rawValue) }
        fields.field(2) { $0.seats(seats) }
        fields.field(3) { $0.uint(history.rawValue) }
        fields.optional(4, name) { $0.text($1) }
        fields.optional(5, topic) { $0.text($1) }
        fields.optional(6, description) { $0.text($1) }
    }

    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        let start = fields.decoder.position
        let subtypeNumber = try fields.required(1) { (d) throws(Malformed) in try d.uint() }
        seats = try fields.required(2) { (d) throws(Malformed) in try d.seats() }
        let historyNumber = try fields.required(3) { (d) throws(Malformed) in try d.uint() }
        guard let subtype = PrivateSubtype(rawValue: subtypeNumber),
            let history = PrivateHistory(rawValue: historyNumber)
        else { throw Malformed(.outOfRange, at: start) }
        self.subtype = subtype
        self.history = history
        name = try fields.name(4)
        topic = try fields.longText(5)
        description = try fields.longText(6)
    }
}

extension PrivateAddition {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.seats(seats) }
        fields.optional(2, epoch) { $0.epoch($1) }
        fields.optional(3, workspaceName) { $0.text($1) }
        fields.optional(4, displayNames) { encoder, names in
            encoder.list(names) { encoder, entry in
                encoder.array(count: 2)
                encoder.byteString(entry.member)
                encoder.text(entry.name)
            }
        }
    }

    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        seats = try fields.required(1) { (d) throws(Malformed) in try d.seats() }
        epoch = try fields.optional(2) { (d) throws(Malformed) in try d.epoch() }
        workspaceName = try fields.name(3)
        displayNames = try fields.optional(4) { (d) throws(Malformed) in try d.displayNames() }
    }
}

extension PrivateSettings {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.optional(1, name) { $0.text($1) }
        fields.optional(2, topic) { $0.text($1) }
        fields.optional(3, description) { $0.text($1) }
        fields.optional(4, archived) { $0.bool($1) }
        fields.optional(5, image) { $0.text($1) }
        fields.optional(6, copies) { $0.uint($1) }
    }

    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        name = try fields.name(1)
        topic = try fields.longText(2)
        description = try fields.longText(3)
        archived = try fields.optional(4) { (d) throws(Malformed) in try d.bool() }
        image = try fields.optional(5) { (d) throws(Malformed) in
            let start = d.position
            let text = try d.text(maxBytes: Limits.pictureTextBytesMax)
            guard !text.hasNUL else { throw Malformed(.badText, at: start) }
            return text
        }
        copies = try fields.optional(6) { (d) throws(Malformed) in
            try d.uint(max: UInt64(Limits.fileCopiesMax))
        }
    }
}

extension FieldReader {
    fileprivate mutating func privateCuts(_ key: UInt64) throws(Malformed) -> [CutEntry] {
        try required(key) { (d) throws(Malformed) in try d.cuts(max: Limits.privateCutsMax) }
    }

    fileprivate mutating func epoch(_ key: UInt64) throws(Malformed) -> PrivateEpoch {
        try required(key) { (d) throws(Malformed) in try d.epoch() }
    }

    fileprivate mutating func name(_ key: UInt64) throws(Malformed) -> String? {
        try optional(key) { (d) throws(Malformed) in try d.wireName() }
    }

    fileprivate mutating func longText(_ key: UInt64) throws(Malformed) -> String? {
        try optional(key) { (d) throws(Malformed) in
            let start = d.position
            let text = try d.text(maxBytes: Limits.privateTextBytesMax)
            guard !text.hasNUL else { throw Malformed(.badText, at: start) }
            return text
        }
    }
}

extension CBOREncoder {
    fileprivate mutating func seats(_ seats: [PrivateSeat]) {
        list(seats) { encoder, seat in
            encoder.array(count: 2)
            encoder.byteString(seat.member)
            encoder.uint(seat.role.rawValue)
        }
    }

    fileprivate mutating func epoch(_ epoch: PrivateEpoch) {
        array(count: 3)
        byteString(epoch.keyID)
        list(epoch.older) { encoder, older in
            encoder.array(count: 3)
            encoder.byteString(older.keyID)
            encoder.uint(older.form.rawValue)
            encoder.byteString(older.sealed)
        }
        list(epoch.answers) { $0.byteString($1) }
    }
}

extension CBORDecoder {
    /// A list that is not empty and contains each member once, ascending.
    fileprivate mutating func seats() throws(Malformed) -> [PrivateSeat] {
        let start = position
        let seats = try list(max: Limits.privateSeatsMax) {
            (d) throws(Malformed) -> PrivateSeat in
            try d.arrayCount(exactly: 2)
            return PrivateSeat(try d.identifier16(), try d.role())
        }
        guard !seats.isEmpty else { throw Malformed(.countExceeded, at: start) }
        guard isAscending(seats.map(\.member)) else {
            throw Malformed(.keysOutOfOrder, at: start)
        }
        return seats
    }

    fileprivate mutating func displayNames() throws(Malformed) -> [PrivateDisplayName] {
        let start = position
        let names = try list(max: Limits.privateSeatsMax) {
            (d) throws(Malformed) -> PrivateDisplayName in
            try d.arrayCount(exactly: 2)
            return PrivateDisplayName(try d.identifier16(), try d.wireName())
        }
        guard isAscending(names.map(\.member)) else {
            throw Malformed(.keysOutOfOrder, at: start)
        }
        return names
    }

    fileprivate mutating func wireName() throws(Malformed) -> String {
        let start = position
        let name = try text(maxBytes: Limits.nameBytesMax)
        do throws(TextProblem) {
            try CheckedName.checkWire(name)
        } catch {
            throw Malformed(.badText, at: start)
        }
        return name
    }

    fileprivate mutating func epoch() throws(Malformed) -> PrivateEpoch {
        try arrayCount(exactly: 3)
        let keyID: KeyID = try identifier16()
        let older = try list(max: Limits.olderKeysMax) {
            (d) throws(Malformed) -> OlderPrivateKey in try d.olderPrivateKey()
        }
        let start = position
        let answers = try list(max: Limits.privateAnswersMax) {
            (d) throws(Malformed) -> OperationID in try d.identifier32()
        }
        guard isAscending(answers) else { throw Malformed(.keysOutOfOrder, at: start) }
        return PrivateEpoch(keyID: keyID, older: older, answers: answers)
    }

    private mutating func olderPrivateKey() throws(Malformed) -> OlderPrivateKey {
        try arrayCount(exactly: 3)
        let keyID: KeyID = try identifier16()
        let start = position
        guard let form = OlderPrivateKey.Form(rawValue: try uint()) else {
            throw Malformed(.outOfRange, at: start)
        }
        return OlderPrivateKey(
            keyID: keyID, form: form,
            sealed: try byteString(exactly: OlderPrivateKey.sealedByteCount))
    }
}

/// Whether each is smaller than the next, so that a set has one form.
private func isAscending<Value: Comparable>(_ values: [Value]) -> Bool {
    zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
}
