extension AuthorityPayload {
    /// Reads the wire form and refuses every other.
    ///
    /// - Throws: `Malformed`. A well-formed array of an unknown type is `.unknown`, not an error.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 2)
        let type = try decoder.uint()
        guard (1...20).contains(type) else {
            try CBORValidation.check(bytes)
            self = .unknown(type: type)
            return
        }
        var fields = try FieldReader(decoder)
        self = try Self.read(type, &fields)
        try fields.finish()
    }

    private static func read(
        _ type: UInt64, _ fields: inout FieldReader
    ) throws(Malformed) -> AuthorityPayload {
        switch type {
        case 1: return .create(try Create(&fields))
        case 2: return .invite(try Invite(&fields))
        case 3: return .request(try Joiner(&fields, name: 5, answering: 6))
        case 4: return try admit(&fields)
        case 5:
            return .addDevices(
                try fields.required(1) { (d) throws(Malformed) in try d.devices() },
                keyID: try fields.required(2) { (d) throws(Malformed) in try d.identifier16() },
                wraps: try fields.required(3) { (d) throws(Malformed) in try d.wraps() },
                takesPlace: try fields.mark(4))
        case 6: return .grant(try Grant(&fields))
        case 7: return .remove(try Remove(&fields))
        case 8:
            return .removeDevice(
                try fields.required(1) { (d) throws(Malformed) in try d.identifier32() },
                cuts: try fields.cuts(2), rekey: try fields.rekey(3))
        case 9:
            return .revokeInvite(
                try fields.required(1) { (d) throws(Malformed) in try d.identifier32() })
        case 10: return .leave(cuts: try fields.cuts(1))
        case 11:
            return .recut(
                revocation: try fields.required(1) { (d) throws(Malformed) in
                    try d.identifier32()
                },
                cuts: try fields.cuts(2))
        case 12: return .cutPart(try fields.cuts(1))
        case 13:
            return .createDocument(
                type: try fields.required(1) { (d) throws(Malformed) in try d.uint() },
                nonce: try fields.bytes(2, exactly: 16))
        case 14: return .setDocument(try DocumentSettings(&fields))
        case 15:
            return .deleteDocument(
                try fields.required(1) { (d) throws(Malformed) in try d.identifier32() },
                chainLink: try fields.required(2) { (d) throws(Malformed) in
                    try d.identifier32()
                })
        case 16: return .setWorkspace(try WorkspaceSettings(&fields))
        case 17: return .deleteWorkspace
        case 18: return .rekey(try KeyChange(&fields))
        case 19:
            return .feature(try fields.required(1) { (d) throws(Malformed) in try d.uint() })
        default:
            return .confirm(
                try fields.required(1) { (d) throws(Malformed) in
                    try d.list(max: Limits.confirmedMax) { (d) throws(Malformed) in
                        try d.identifier32()
                    }
                })
        }
    }

    private static func admit(_ fields: inout FieldReader) throws(Malformed) -> AuthorityPayload {
        let invite = try fields.required(1) { (d) throws(Malformed) -> OperationID in
            try d.identifier32()
        }
        let member = try fields.required(2) { (d) throws(Malformed) -> MemberID in
            try d.identifier16()
        }
        let devices = try fields.required(3) { (d) throws(Malformed) in try d.devices() }
        let proof = try fields.required(4) { (d) throws(Malformed) in try d.signature() }
        let keyID = try fields.required(5) { (d) throws(Malformed) -> KeyID in
            try d.identifier16()
        }
        let wraps = try fields.required(6) { (d) throws(Malformed) in try d.wraps() }
        let name = try fields.required(7) { (d) throws(Malformed) in try d.sealedField() }
        let joiner = Joiner(
            invite: invite, member: member, devices: devices, proof: proof, name: name)
        let request = try fields.optional(8) { (d) throws(Malformed) -> OperationID in
            try d.identifier32()
        }
        return .admit(joiner, keyID: keyID, wraps: wraps, request: request)
    }
}

extension FieldReader {
    fileprivate mutating func bytes(_ key: UInt64, exactly count: Int) throws(Malformed) -> [UInt8]
    {
        try required(key) { (d) throws(Malformed) in try d.byteString(exactly: count) }
    }

    fileprivate mutating func cuts(_ key: UInt64) throws(Malformed) -> [CutEntry] {
        try required(key) { (d) throws(Malformed) in try d.cuts() }
    }

    fileprivate mutating func rekey(_ key: UInt64) throws(Malformed) -> Rekey? {
        try required(key) { (d) throws(Malformed) in
            try d.nullOr { (d) throws(Malformed) in try d.rekey() }
        }
    }

    fileprivate mutating func field(_ key: UInt64) throws(Malformed) -> SealedField? {
        try optional(key) { (d) throws(Malformed) in try d.sealedField() }
    }

    /// A flag: `true`, or absent.
    fileprivate mutating func mark(_ key: UInt64) throws(Malformed) -> Bool {
        let start = decoder.position
        let value = try optional(key) { (d) throws(Malformed) in try d.bool() }
        guard value != false else { throw Malformed(.outOfRange, at: start) }
        return value == true
    }

    fileprivate mutating func number(_ key: UInt64, max: UInt64) throws(Malformed) -> UInt64? {
        try optional(key) { (d) throws(Malformed) in try d.uint(max: max) }
    }
}

extension AuthorityPayload.Create {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        nonce = try fields.bytes(1, exactly: 16)
        member = try fields.required(2) { (d) throws(Malformed) in try d.identifier16() }
        devices = try fields.required(3) { (d) throws(Malformed) in try d.devices() }
        keyID = try fields.required(4) { (d) throws(Malformed) in try d.identifier16() }
        wraps = try fields.required(5) { (d) throws(Malformed) in try d.wraps() }
        name = try fields.required(6) { (d) throws(Malformed) in try d.sealedField() }
        discoveryID = try fields.bytes(7, exactly: 16)
    }
}

extension AuthorityPayload.Invite {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        role = try fields.required(1) { (d) throws(Malformed) in try d.role() }
        maximum = try fields.required(2) { (d) throws(Malformed) in try d.uint() }
        expires = try fields.required(3) { (d) throws(Malformed) in try d.uint() }
        publicKey = try fields.bytes(4, exactly: 32)
        approve = try fields.required(5) { (d) throws(Malformed) in try d.bool() }
        documents = try fields.required(6) { (d) throws(Malformed) in try d.identifiers() }
        psk = try fields.required(7) { (d) throws(Malformed) in try d.sealedField() }
        policy = try fields.optional(8) { (d) throws(Malformed) in try d.identifier32() }
    }
}

extension AuthorityPayload.Joiner {
    fileprivate init(
        _ fields: inout FieldReader, name key: UInt64, answering end: UInt64
    ) throws(Malformed) {
        invite = try fields.required(1) { (d) throws(Malformed) in try d.identifier32() }
        member = try fields.required(2) { (d) throws(Malformed) in try d.identifier16() }
        devices = try fields.required(3) { (d) throws(Malformed) in try d.devices() }
        proof = try fields.required(4) { (d) throws(Malformed) in try d.signature() }
        name = try fields.required(key) { (d) throws(Malformed) in try d.sealedField() }
        answering = try fields.optional(end) { (d) throws(Malformed) in try d.identifier32() }
    }
}

extension AuthorityPayload.Grant {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        member = try fields.required(1) { (d) throws(Malformed) in try d.identifier16() }
        devices = try fields.required(2) { (d) throws(Malformed) in
            try d.list(max: AuthorityListLimits.devices) { (d) throws(Malformed) in
                try d.identifier32()
            }
        }
        role = try fields.required(3) { (d) throws(Malformed) in try d.role() }
        replaces = try fields.required(4) { (d) throws(Malformed) in try d.bool() }
        drops = try fields.required(5) { (d) throws(Malformed) in
            try d.nullOr { (d) throws(Malformed) in
                try d.list(max: AuthorityListLimits.devices) { (d) throws(Malformed) in
                    try d.identifier32()
                }
            }
        }
        cuts = try fields.cuts(6)
    }
}

extension AuthorityPayload.Remove {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        member = try fields.required(1) { (d) throws(Malformed) in try d.identifier16() }
        cuts = try fields.cuts(2)
        rekey = try fields.rekey(3)
        revokedInvites = try fields.required(4) { (d) throws(Malformed) in try d.identifiers() }
        cutPartCount = try fields.required(5) { (d) throws(Malformed) in try d.uint() }
        cutPartHash = try fields.required(6) { (d) throws(Malformed) in
            try d.optionalBytes(count: 32)
        }
    }
}

extension AuthorityPayload.DocumentSettings {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        document = try fields.required(1) { (d) throws(Malformed) in try d.identifier32() }
        replaces = try fields.optional(2) { (d) throws(Malformed) in try d.identifier32() }
        owner = try fields.optional(3) { (d) throws(Malformed) in try d.identifier16() }
        roles = try fields.optional(4) { (d) throws(Malformed) in
            try d.list(max: AuthorityListLimits.roles) { (d) throws(Malformed) in
                try d.arrayCount(exactly: 2)
                return AuthorityPayload.MemberRole(
                    member: try d.identifier16(), role: try d.role())
            }
        }
        name = try fields.field(5)
        topic = try fields.field(6)
        description = try fields.field(7)
        history = try fields.number(8, max: 1)
        archived = try fields.optional(9) { (d) throws(Malformed) in try d.bool() }
        cuts = try fields.optional(10) { (d) throws(Malformed) in try d.cuts() }
        image = try fields.field(11)
        copies = try fields.number(12, max: UInt64(Limits.fileCopiesMax))
    }
}

extension AuthorityPayload.WorkspaceSettings {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        name = try fields.field(1)
        description = try fields.field(2)
        image = try fields.field(3)
        whoMayInvite = try fields.number(4, max: 2)
        join = try fields.number(5, max: 2)
        successor = try fields.optional(6) { (d) throws(Malformed) in
            try d.optionalBytes(count: 16)
        }
        attachments = try fields.optional(7) { (d) throws(Malformed) in
            let start = d.position
            let count = try d.uint()
            guard (1...UInt64(Limits.filesPerMessageMax)).contains(count) else {
                throw Malformed(.outOfRange, at: start)
            }
            return count
        }
        whoMayAttest = try fields.number(8, max: 2)
    }
}

extension AuthorityPayload.KeyChange {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        rekey = Rekey(
            keyID: try fields.required(1) { (d) throws(Malformed) in try d.identifier16() },
            wraps: try fields.required(2) { (d) throws(Malformed) in try d.wraps() },
            olderKeys: try fields.required(3) { (d) throws(Malformed) in try d.sealedSecrets() })
        discoveryID = try fields.optional(4) { (d) throws(Malformed) in
            try d.byteString(exactly: 16)
        }
        olderDiscovery = try fields.optional(5) { (d) throws(Malformed) in try d.sealedSecrets() }
        answers = try fields.optional(6) { (d) throws(Malformed) in try d.identifiers() }
    }
}
