import WorkspaceModel

/// One payload of every type of PROTOCOL.md 3, full and as short as it can be, with the bytes
/// that another encoder (cbor2 for Python) wrote for it.
enum PayloadSamples {
    private static func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }

    private static func operation(_ byte: UInt8) -> OperationID { OperationID(bytes(byte, 32)) }
    private static let member = MemberID(bytes(2, 16))
    private static let other = MemberID(bytes(0x2a, 16))
    private static let keyID = KeyID(bytes(3, 16))
    private static let device = entry(0x11)
    private static let wrap = WrappedKey(devicePrefix: bytes(0x14, 8), box: bytes(0x15, 112))
    private static let field = SealedField(
        keyID: KeyID(bytes(0x16, 16)), nonce: bytes(0x17, 24), ciphertext: bytes(0x18, 20))
    private static let cut = CutEntry(
        log: LogName(
            document: DocumentID(bytes(0x31, 32)), device: DeviceID(bytes(0x32, 32)),
            incarnation: .max),
        sequence: 1 << 40, id: Identifier16(bytes(0x33, 16)))
    private static let laterCut = CutEntry(
        log: LogName(
            document: DocumentID(bytes(0x35, 32)), device: cut.log.device, incarnation: .max),
        sequence: 1, id: cut.id)
    private static let old = SealedSecret(id: bytes(0x34, 16), sealed: bytes(0x35, 72))
    private static let rekey = Rekey(
        keyID: KeyID(bytes(0x36, 16)), wraps: [wrap], olderKeys: [old])

    private static func entry(_ byte: UInt8) -> DeviceEntry {
        DeviceEntry(
            device: DeviceID(bytes(byte, 32)), agreementKey: bytes(byte + 1, 32),
            signature: Signature(bytes(byte + 2, 64)))
    }

    private static let joiner = AuthorityPayload.Joiner(
        invite: operation(8), member: member, devices: [device], proof: Signature(bytes(9, 64)),
        name: field)

    private static let settings: AuthorityPayload.DocumentSettings = {
        var settings = AuthorityPayload.DocumentSettings(document: DocumentID(bytes(14, 32)))
        settings.replaces = operation(15)
        settings.owner = member
        settings.roles = [.init(member: member, role: .owner), .init(member: other, role: .guest)]
        settings.name = field
        settings.topic = field
        settings.description = field
        settings.history = 1
        settings.archived = true
        return settings
    }()

    private static func workspace(full: Bool) -> AuthorityPayload.WorkspaceSettings {
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.successor = full ? bytes(2, 16) : []
        guard full else { return settings }
        settings.name = field
        settings.description = field
        settings.image = field
        settings.whoMayInvite = 2
        settings.join = 2
        settings.whoMayAttest = 2
        return settings
    }

    private static var picture: AuthorityPayload.DocumentSettings {
        var picture = AuthorityPayload.DocumentSettings(document: settings.document)
        (picture.image, picture.copies) = (field, 3)
        return picture
    }

    private static var fileCount: AuthorityPayload.WorkspaceSettings {
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.attachments = 20
        return settings
    }

    static let authority: [String: AuthorityPayload] = [
        "create": .create(
            .init(
                nonce: bytes(1, 16), member: member, devices: [device, entry(0x21)],
                keyID: keyID, wraps: [wrap], name: field, discoveryID: bytes(4, 16))),
        "invite": .invite(
            .init(
                role: .admin, maximum: 500, expires: 1 << 41, publicKey: bytes(5, 32),
                approve: true, documents: [operation(6)], psk: field, policy: operation(7))),
        "openInvite": .invite(
            .init(
                role: .member, maximum: 1, expires: 24, publicKey: bytes(5, 32),
                approve: false, documents: [], psk: field, policy: nil)),
        "request": .request(joiner),
        "returnRequest": .request(
            .init(
                invite: operation(8), member: member, devices: [device],
                proof: Signature(bytes(9, 64)), name: field, answering: operation(7))),
        "admit": .admit(joiner, keyID: keyID, wraps: [wrap], request: operation(10)),
        "plainAdmit": .admit(joiner, keyID: keyID, wraps: [], request: nil),
        "addDevices": .addDevices([device], keyID: keyID, wraps: [wrap]),
        "newPhrase": .addDevices([device], keyID: keyID, wraps: [], takesPlace: true),
        "grant": .grant(
            .init(
                member: member, devices: [device.device, entry(0x21).device], role: .guest,
                replaces: true, drops: nil, cuts: [cut])),
        "transfer": .grant(
            .init(
                member: member, devices: [device.device], role: .owner, replaces: false,
                drops: [entry(0x21).device], cuts: [])),
        "remove": .remove(
            .init(
                member: member, cuts: [cut], rekey: rekey, revokedInvites: [operation(8)],
                cutPartCount: 2, cutPartHash: bytes(11, 32))),
        "plainRemove": .remove(
            .init(
                member: member, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: 0,
                cutPartHash: [])),
        "removeDevice": .removeDevice(device.device, cuts: [cut], rekey: rekey),
        "lostDevice": .removeDevice(device.device, cuts: [], rekey: nil),
        "revokeInvite": .revokeInvite(operation(8)),
        "leave": .leave(cuts: [cut]),
        "recut": .recut(revocation: operation(12), cuts: [cut]),
        "confirm": .confirm([operation(8), operation(9)]),
        "cutPart": .cutPart([cut, laterCut]),
        "createDocument": .createDocument(type: 1, nonce: bytes(13, 16)),
        "setDocument": .setDocument(settings),
        "touchDocument": .setDocument(.init(document: settings.document)),
        "pictureDocument": .setDocument(picture),
        "deleteDocument": .deleteDocument(settings.document, chainLink: operation(15)),
        "setWorkspace": .setWorkspace(workspace(full: true)),
        "noSuccessor": .setWorkspace(workspace(full: false)),
        "fileCount": .setWorkspace(fileCount),
        "deleteWorkspace": .deleteWorkspace,
        "rekey": .rekey(
            .init(
                rekey: Rekey(keyID: keyID, wraps: [wrap], olderKeys: [old]),
                discoveryID: bytes(4, 16), olderDiscovery: [old], answers: [operation(12)])),
        "plainRekey": .rekey(
            .init(
                rekey: Rekey(keyID: keyID, wraps: [], olderKeys: []), discoveryID: nil,
                olderDiscovery: nil, answers: nil)),
        "feature": .feature(.max),
    ]

    static let content: [String: ContentPayload] = [
        "message": .message(
            .init(
                text: "h\u{e9}", format: .code,
                thread: MessageKey(
                    timestamp: HybridTimestamp(rawValue: 1 << 48 + 5),
                    idPrefix: 0x0102_0304_0506_0708))),
        "shortMessage": .message(.init(text: "")),
        "botMessage": .message(.init(text: "b", isBot: true)),
        "filesMessage": .message(
            .init(text: "", manifest: [0x81, 0x83, 0x61, 0x61, 0x63, 0x61, 0x2f, 0x62, 0x41, 0x07])),
        "placedMessage": .message(
            .init(
                text: "@", location: place,
                mentions: Mentions([other, member], everybody: true))),
        "edit": .annotation(
            .init(.edit(text: "h", format: .code, mentions: Mentions([member])), of: key)),
        "shortEdit": .annotation(
            .init(
                .edit(text: "", format: .text, mentions: Mentions([], everybody: true)), of: key)),
        "reaction": .annotation(.init(.reaction("\u{1F44D}", isOn: true), of: key)),
        "noReaction": .annotation(.init(.reaction("+", isOn: false), of: key)),
        "pin": .annotation(.init(.pin(isOn: true), of: key)),
        "noPin": .annotation(.init(.pin(isOn: false), of: key)),
        "profile": .profile(name: "Ada"),
        "profilePhone": .profileField(.init(.phone, "01012345678")),
        "noProfileImage": .profileField(.init(.image, nil)),
        "note": .note(.creation(title: "Plan")),
        "noteTitle": .note(.title("P", of: key)),
        "noteEdit": .note(
            .edit([1, 2, 3], of: key, mentions: Mentions([member], everybody: true))),
        "shortNoteEdit": .note(.edit([0], of: key, mentions: .none)),
        "noteDeletion": .note(.deletion(isOn: true, of: key)),
        "noNoteDeletion": .note(.deletion(isOn: false, of: key)),
        "attestedEmail": .attestation(Attestation(member, .email, .init("a@b.co", by: .letter))),
        "attestedAccount": .attestation(
            Attestation(
                member, .account, provider: "p",
                .init(String(repeating: "0", count: 64), by: .token, name: "n", until: 5))),
        "noAttestation": .attestation(Attestation(member, .email, nil)),
        "join": .membership(.join, members: []),
        "remove": .membership(.remove, members: [member, other]),
        "read": .own(
            .read(
                conversation,
                upTo: MessageKey(
                    timestamp: HybridTimestamp(rawValue: 1 << 48 + 5),
                    idPrefix: 0x0102_0304_0506_0708))),
        "readFrontier": .own(
            .read(conversation, upTo: key, frontier: ReadFrontier([7: 300, 0x0102 << 48: 1]))),
        "preference": .own(.preference("theme", value: "dark")),
        "noPreference": .own(.preference("theme", value: nil)),
        "mute": .own(.mute(conversation, until: 5)),
        "muteForEver": .own(.mute(conversation, until: nil)),
        "level": .own(.level(conversation, .mentions)),
        "levelOfWorkspace": .own(.level(conversation, nil)),
        "star": .own(.star(key, isOn: true)),
        "noStar": .own(.star(key, isOn: false)),
        "reminder": .own(
            .reminder(
                reminderName,
                Reminder(due: 500, conversation: conversation, message: key, text: "h"))),
        "shortReminder": .own(
            .reminder(reminderName, Reminder(due: 0, conversation: conversation))),
        "noReminder": .own(.reminder(reminderName, nil)),
    ]

    private static let key = MessageKey(
        timestamp: HybridTimestamp(rawValue: 1 << 48 + 5), idPrefix: 0x0102_0304_0506_0708)

    private static let reminderName = ReminderName([UInt8](repeating: 9, count: 16))

    private static let place: MessageLocation = {
        guard
            let place = MessageLocation(
                latitude: -899_999_999, longitude: 1, accuracy: 20, label: "x")
        else { preconditionFailure("there is such a place") }
        return place
    }()

    private static let conversation: ConversationName = {
        guard let name = ConversationName([UInt8](repeating: 6, count: 16)) else {
            preconditionFailure("a name has 16 bytes")
        }
        return name
    }()
}

extension PayloadSamples {
    static let authorityBytes: [String: String] = [
        "create": """
        82 01 a7 01 50 01*16 02 50 02*16 03 82 83 58 20 11*32 58 20 12*32 58 40 13*64 83 \
        58 20 21*32 58 20 22*32 58 40 23*64 04 50 03*16 05 81 82 48 14*8 58 70 15*112 06 \
        83 50 16*16 58 18 17*24 54 18*20 07 50 04*16
        """,
        "invite": """
        82 02 a8 01 01 02 19 01 f4 03 1b 00 00 02 00*5 04 58 20 05*33 f5 06 81 58 20 \
        06*32 07 83 50 16*16 58 18 17*24 54 18*20 08 58 20 07*32
        """,
        "openInvite": """
        82 02 a7 01 02 02 01 03 18 18 04 58 20 05*33 f4 06 80 07 83 50 16*16 58 18 17*24 \
        54 18*20
        """,
        "request": """
        82 03 a5 01 58 20 08*32 02 50 02*16 03 81 83 58 20 11*32 58 20 12*32 58 40 13*64 \
        04 58 40 09*64 05 83 50 16*16 58 18 17*24 54 18*20
        """,
        "returnRequest": """
        82 03 a6 01 58 20 08*32 02 50 02*16 03 81 83 58 20 11*32 58 20 12*32 58 40 13*64 \
        04 58 40 09*64 05 83 50 16*16 58 18 17*24 54 18*20 06 58 20 07*32
        """,
        "admit": """
        82 04 a8 01 58 20 08*32 02 50 02*16 03 81 83 58 20 11*32 58 20 12*32 58 40 13*64 \
        04 58 40 09*64 05 50 03*16 06 81 82 48 14*8 58 70 15*112 07 83 50 16*16 58 18 \
        17*24 54 18*20 08 58 20 0a*32
        """,
        "plainAdmit": """
        82 04 a7 01 58 20 08*32 02 50 02*16 03 81 83 58 20 11*32 58 20 12*32 58 40 13*64 \
        04 58 40 09*64 05 50 03*16 06 80 07 83 50 16*16 58 18 17*24 54 18*20
        """,
        "addDevices": """
        82 05 a3 01 81 83 58 20 11*32 58 20 12*32 58 40 13*64 02 50 03*17 81 82 48 14*8 \
        58 70 15*112
        """,
        "newPhrase": """
        82 05 a4 01 81 83 58 20 11*32 58 20 12*32 58 40 13*64 02 50 03*17 80 04 f5
        """,
        "grant": """
        82 06 a6 01 50 02*17 82 58 20 11*32 58 20 21*32 03 03 04 f5 05 f6 06 81 83 58 20 32*32 \
        1a ff*4 81 83 58 20 31*32 1b 00 00 01 00*5 50 33*16
        """,
        "transfer": """
        82 06 a6 01 50 02*17 81 58 20 11*32 03 00 04 f4 05 81 58 20 21*32 06 80
        """,
        "remove": """
        82 07 a6 01 50 02*17 81 83 58 20 32*32 1a ff*4 81 83 58 20 31*32 1b 00 00 01 00*5 50 \
        33*16 03 83 50 36*16 81 82 48 14*8 58 70 15*112 81 82 50 34*16 58 48 35*72 04 81 \
        58 20 08*32 05 02 06 58 20 0b*32
        """,
        "plainRemove": """
        82 07 a6 01 50 02*17 80 03 f6 04 80 05 00 06 40
        """,
        "removeDevice": """
        82 08 a3 01 58 20 11*32 02 81 83 58 20 32*32 1a ff*4 81 83 58 20 31*32 1b 00 00 01 \
        00*5 50 33*16 03 83 50 36*16 81 82 48 14*8 58 70 15*112 81 82 50 34*16 58 48 \
        35*72
        """,
        "lostDevice": """
        82 08 a3 01 58 20 11*32 02 80 03 f6
        """,
        "revokeInvite": """
        82 09 a1 01 58 20 08*32
        """,
        "leave": """
        82 0a a1 01 81 83 58 20 32*32 1a ff*4 81 83 58 20 31*32 1b 00 00 01 00*5 50 33*16
        """,
        "recut": """
        82 0b a2 01 58 20 0c*32 02 81 83 58 20 32*32 1a ff*4 81 83 58 20 31*32 1b 00 00 01 \
        00*5 50 33*16
        """,
        "cutPart": """
        82 0c a1 01 81 83 58 20 32*32 1a ff*4 82 83 58 20 31*32 1b 00 00 01 00*5 50 \
        33*16 83 58 20 35*32 01 50 33*16
        """,
        "confirm": """
        82 14 a1 01 82 58 20 08*32 58 20 09*32
        """,
        "createDocument": """
        82 0d a2 01 01 02 50 0d*16
        """,
        "setDocument": """
        82 0e a9 01 58 20 0e*32 02 58 20 0f*32 03 50 02*16 04 82 82 50 02*16 00 82 50 \
        2a*16 03 05 83 50 16*16 58 18 17*24 54 18*20 06 83 50 16*16 58 18 17*24 54 18*20 \
        07 83 50 16*16 58 18 17*24 54 18*20 08 01 09 f5
        """,
        "touchDocument": """
        82 0e a1 01 58 20 0e*32
        """,
        "pictureDocument": """
        82 0e a3 01 58 20 0e*32 0b 83 50 16*16 58 18 17*24 54 18*20 0c 03
        """,
        "deleteDocument": """
        82 0f a2 01 58 20 0e*32 02 58 20 0f*32
        """,
        "setWorkspace": """
        82 10 a7 01 83 50 16*16 58 18 17*24 54 18*20 02 83 50 16*16 58 18 17*24 54 18*20 \
        03 83 50 16*16 58 18 17*24 54 18*20 04 02 05 02 06 50 02*16 08 02
        """,
        "noSuccessor": """
        82 10 a1 06 40
        """,
        "fileCount": """
        82 10 a1 07 14
        """,
        "deleteWorkspace": """
        82 11 a0
        """,
        "rekey": """
        82 12 a6 01 50 03*16 02 81 82 48 14*8 58 70 15*112 03 81 82 50 34*16 58 48 35*72 \
        04 50 04*16 05 81 82 50 34*16 58 48 35*72 06 81 58 20 0c*32
        """,
        "plainRekey": """
        82 12 a3 01 50 03*16 02 80 03 80
        """,
        "feature": """
        82 13 a1 01 1b ff*8
        """,
    ]

    static let contentBytes: [String: String] = [
        "message": """
        82 01 a3 01 63 68 c3 a9 02 01 03 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08
        """,
        "shortMessage": """
        82 01 a1 01 60
        """,
        "filesMessage": "82 01 a2 01 60 18 20 81 83 61 61 63 61 2f 62 41 07",
        "botMessage": """
        82 01 a2 01 61 62 07 f5
        """,
        "placedMessage": """
        82 01 a4 01 61 40 04 84 01 1a 6b 49 d2 01 14 61 78 05 82 50 02*16 50 2a*16 06 f5
        """,
        "edit": """
        82 09 a4 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 61 68 03 01 04 81 50 02*16
        """,
        "shortEdit": """
        82 09 a3 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 60 05 f5
        """,
        "reaction": """
        82 0a a3 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 64 f0 9f 91 8d 03 f5
        """,
        "noReaction": """
        82 0a a3 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 61 2b 03 f4
        """,
        "pin": """
        82 0b a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 f5
        """,
        "noPin": """
        82 0b a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 f4
        """,
        "profile": """
        82 03 a1 01 63 41 64 61
        """,
        "profilePhone": """
        82 0c a2 01 03 02 6b 30 31 30 31 32 33 34 35 36 37 38
        """,
        "noProfileImage": """
        82 0c a1 01 05
        """,
        "note": """
        82 0f a1 01 64 50 6c 61 6e
        """,
        "noteTitle": """
        82 10 a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 61 50
        """,
        "noteEdit": """
        82 11 a4 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 43 01 02 03 03 81 50 02*16 04 f5
        """,
        "shortNoteEdit": """
        82 11 a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 41 00
        """,
        "attestedEmail": """
        82 13 a4 01 50 02*16 02 01 04 66 61 40 62 2e 63 6f 05 01
        """,
        "attestedAccount": """
        82 13 a7 01 50 02*16 02 02 03 61 70 04 78 40 30*64 05 02 06 61 6e 07 05
        """,
        "noAttestation": """
        82 13 a2 01 50 02*16 02 01
        """,
        "noteDeletion": """
        82 12 a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 f5
        """,
        "noNoteDeletion": """
        82 12 a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 f4
        """,
        "join": """
        82 02 a2 01 00 02 80
        """,
        "remove": """
        82 02 a2 01 03 02 82 50 02*16 50 2a*16
        """,
        "read": """
        82 05 a2 01 50 06*16 02 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08
        """,
        "readFrontier": """
        82 05 a3 01 50 06*16 02 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 03 82
        82 48 00*7 07 19 01 2c 82 48 01 02 00*6 01
        """,
        "preference": """
        82 06 a2 01 65 74 68 65 6d 65 02 64 64 61 72 6b
        """,
        "noPreference": """
        82 06 a1 01 65 74 68 65 6d 65
        """,
        "mute": """
        82 07 a2 01 50 06*16 02 05
        """,
        "muteForEver": """
        82 07 a1 01 50 06*16
        """,
        "level": """
        82 08 a2 01 50 06*16 02 01
        """,
        "levelOfWorkspace": """
        82 08 a1 01 50 06*16
        """,
        "star": """
        82 0d a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 f5
        """,
        "noStar": """
        82 0d a2 01 82 1b 00 01 00*5 05 48 01 02 03 04 05 06 07 08 02 f4
        """,
        "reminder": """
        82 0e a5 01 50 09*16 02 19 01 f4 03 50 06*16 04 82 1b 00 01 00*5 05 48 01 02 03 04 05 06
        07 08 05 61 68
        """,
        "shortReminder": """
        82 0e a3 01 50 09*16 02 00 03 50 06*16
        """,
        "noReminder": """
        82 0e a1 01 50 09*16
        """,
    ]
}
