extension AuthorityPayload {
    /// The case's number on the wire.
    public var type: UInt64 {
        switch self {
        case .create: 1
        case .invite: 2
        case .request: 3
        case .admit: 4
        case .addDevices: 5
        case .grant: 6
        case .remove: 7
        case .removeDevice: 8
        case .revokeInvite: 9
        case .leave: 10
        case .recut: 11
        case .cutPart: 12
        case .createDocument: 13
        case .setDocument: 14
        case .deleteDocument: 15
        case .setWorkspace: 16
        case .deleteWorkspace: 17
        case .rekey: 18
        case .feature: 19
        case .confirm: 20
        case .unknown(let type): type
        }
    }

    /// The name for logs and for `why`.
    public var word: String {
        switch self {
        case .create: "create"
        case .invite: "invite"
        case .request: "request"
        case .admit: "admit"
        case .addDevices: "adddev"
        case .grant: "grant"
        case .remove: "remove"
        case .removeDevice: "rmdev"
        case .revokeInvite: "rvinv"
        case .leave: "leave"
        case .recut: "recut"
        case .cutPart: "cutpart"
        case .createDocument: "doccreate"
        case .setDocument: "docset"
        case .deleteDocument: "docdel"
        case .setWorkspace: "wsset"
        case .deleteWorkspace: "wsdel"
        case .rekey: "rekey"
        case .feature: "feature"
        case .confirm: "confirm"
        case .unknown: "unknown"
        }
    }

    /// The wire form: `Enc` array [type, map].
    ///
    /// - Precondition: the case is not `unknown`, which only a decoder makes.
    public var encoded: [UInt8] {
        var fields = FieldWriter(type: type)
        switch self {
        case .create(let create): create.write(to: &fields)
        case .invite(let invite): invite.write(to: &fields)
        case .request(let joiner):
            joiner.write(to: &fields)
            fields.field(5) { $0.field(joiner.name) }
            fields.optional(6, joiner.answering) { $0.byteString($1) }
        case .admit(let joiner, let keyID, let wraps, let request):
            joiner.write(to: &fields)
            fields.field(5) { $0.byteString(keyID) }
            fields.field(6) { $0.list(wraps) { $0.wrap($1) } }
            fields.field(7) { $0.field(joiner.name) }
            fields.optional(8, request) { $0.byteString($1) }
        case .addDevices(let devices, let keyID, let wraps, let takesPlace):
            fields.field(1) { $0.list(devices) { $0.device($1) } }
            fields.field(2) { $0.byteString(keyID) }
            fields.field(3) { $0.list(wraps) { $0.wrap($1) } }
            if takesPlace { fields.field(4) { $0.bool(true) } }
        case .grant(let grant): grant.write(to: &fields)
        case .remove(let remove): remove.write(to: &fields)
        case .removeDevice(let device, let cuts, let rekey):
            fields.field(1) { $0.byteString(device) }
            fields.field(2) { $0.cuts(cuts) }
            fields.field(3) { encoder in
                if let rekey { encoder.rekey(rekey) } else { encoder.null() }
            }
        case .revokeInvite(let invite): fields.field(1) { $0.byteString(invite) }
        case .leave(let cuts), .cutPart(let cuts):
            fields.field(1) { $0.cuts(cuts) }
        case .recut(let revocation, let cuts):
            fields.field(1) { $0.byteString(revocation) }
            fields.field(2) { $0.cuts(cuts) }
        case .createDocument(let type, let nonce):
            fields.field(1) { $0.uint(type) }
            fields.field(2) { $0.byteString(nonce) }
        case .setDocument(let settings): settings.write(to: &fields)
        case .deleteDocument(let document, let chainLink):
            fields.field(1) { $0.byteString(document) }
            fields.field(2) { $0.byteString(chainLink) }
        case .setWorkspace(let settings): settings.write(to: &fields)
        case .deleteWorkspace: break
        case .rekey(let change): change.write(to: &fields)
        case .feature(let number): fields.field(1) { $0.uint(number) }
        case .confirm(let operations):
            fields.field(1) { $0.list(operations) { $0.byteString($1) } }
        case .unknown: preconditionFailure("only a decoder makes an unknown payload")
        }
        return fields.bytes
    }
}

extension AuthorityPayload.Create {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.byteString(nonce) }
        fields.field(2) { $0.byteString(member) }
        fields.field(3) { $0.list(devices) { $0.device($1) } }
        fields.field(4) { $0.byteString(keyID) }
        fields.field(5) { $0.list(wraps) { $0.wrap($1) } }
        fields.field(6) { $0.field(name) }
        fields.field(7) { $0.byteString(discoveryID) }
    }
}

extension AuthorityPayload.Invite {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.uint(role.rawValue) }
        fields.field(2) { $0.uint(maximum) }
        fields.field(3) { $0.uint(expires) }
        fields.field(4) { $0.byteString(publicKey) }
        fields.field(5) { $0.bool(approve) }
        fields.field(6) { $0.list(documents) { $0.byteString($1) } }
        fields.field(7) { $0.field(psk) }
        fields.optional(8, policy) { $0.byteString($1) }
    }
}

extension AuthorityPayload.Joiner {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.byteString(invite) }
        fields.field(2) { $0.byteString(member) }
        fields.field(3) { $0.list(devices) { $0.device($1) } }
        fields.field(4) { $0.byteString(proof.bytes) }
    }
}

extension AuthorityPayload.Grant {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.byteString(member) }
        fields.field(2) { $0.list(devices) { $0.byteString($1) } }
        fields.field(3) { $0.uint(role.rawValue) }
        fields.field(4) { $0.bool(replaces) }
        fields.field(5) { encoder in
            if let drops {
                encoder.list(drops) { $0.byteString($1) }
            } else {
                encoder.null()
            }
        }
        fields.field(6) { $0.cuts(cuts) }
    }
}

extension AuthorityPayload.Remove {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.byteString(member) }
        fields.field(2) { $0.cuts(cuts) }
        fields.field(3) { encoder in
            if let rekey { encoder.rekey(rekey) } else { encoder.null() }
        }
        fields.field(4) { $0.list(revokedInvites) { $0.byteString($1) } }
        fields.field(5) { $0.uint(cutPartCount) }
        fields.field(6) { $0.byteString(cutPartHash) }
    }
}

extension AuthorityPayload.DocumentSettings {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.byteString(document) }
        fields.optional(2, replaces) { $0.byteString($1) }
        fields.optional(3, owner) { $0.byteString($1) }
        fields.optional(4, roles) { encoder, roles in
            encoder.list(roles) { encoder, entry in
                encoder.array(count: 2)
                encoder.byteString(entry.member)
                encoder.uint(entry.role.rawValue)
            }
        }
        fields.optional(5, name) { $0.field($1) }
        fields.optional(6, topic) { $0.field($1) }
        fields.optional(7, description) { $0.field($1) }
        fields.optional(8, history) { $0.uint($1) }
        fields.optional(9, archived) { $0.bool($1) }
        fields.optional(10, cuts) { $0.cuts($1) }
        fields.optional(11, image) { $0.field($1) }
        fields.optional(12, copies) { $0.uint($1) }
    }
}

extension AuthorityPayload.WorkspaceSettings {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.optional(1, name) { $0.field($1) }
        fields.optional(2, description) { $0.field($1) }
        fields.optional(3, image) { $0.field($1) }
        fields.optional(4, whoMayInvite) { $0.uint($1) }
        fields.optional(5, join) { $0.uint($1) }
        fields.optional(6, successor) { $0.byteString($1) }
        fields.optional(7, attachments) { $0.uint($1) }
        fields.optional(8, whoMayAttest) { $0.uint($1) }
    }
}

extension AuthorityPayload.KeyChange {
    fileprivate func write(to fields: inout FieldWriter) {
        fields.field(1) { $0.byteString(rekey.keyID) }
        fields.field(2) { $0.list(rekey.wraps) { $0.wrap($1) } }
        fields.field(3) { $0.list(rekey.olderKeys) { $0.sealedSecret($1) } }
        fields.optional(4, discoveryID) { $0.byteString($1) }
        fields.optional(5, olderDiscovery) { $0.list($1) { $0.sealedSecret($1) } }
        fields.optional(6, answers) { $0.list($1) { $0.byteString($1) } }
    }
}
