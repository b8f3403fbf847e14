import WorkspaceModel

/// One change of each type, and its bytes as PROTOCOL.md, 3.4, spells them.
enum PrivateSamples {
    static let mina = MemberID([UInt8](repeating: 0x22, count: 16))
    static let seat = OperationID([UInt8](repeating: 0x77, count: 32))
    static let key = KeyID([UInt8](repeating: 0x33, count: 16))
    static let epoch = PrivateEpoch(
        keyID: key,
        older: [
            OlderPrivateKey(
                keyID: KeyID([UInt8](repeating: 0x44, count: 16)), form: .authority,
                sealed: [UInt8](repeating: 0x55, count: 72))
        ],
        answers: [OperationID([UInt8](repeating: 0x66, count: 32))])
    static let cut = CutEntry(
        log: LogName(
            document: DocumentID([UInt8](repeating: 0xd0, count: 32)),
            device: DeviceID([UInt8](repeating: 0xdd, count: 32)), incarnation: 1),
        sequence: 2, id: Identifier16([UInt8](repeating: 0xee, count: 16)))
    static let root = PrivateRoot(
        subtype: .channel,
        seats: [
            PrivateSeat(MemberID([UInt8](repeating: 0x11, count: 16)), .owner),
            PrivateSeat(mina, .member),
        ],
        history: .fromJoin, name: "a", topic: "b", description: "c")

    static let changes: [String: PrivateChange] = [
        "root": PrivateChange(.root(root), seat: nil),
        "root without texts": PrivateChange(
            .root(PrivateRoot(subtype: .own, seats: [PrivateSeat(mina, .owner)])), seat: nil),
        "add": PrivateChange(
            .add(PrivateAddition(seats: [PrivateSeat(mina, .member)])), seat: seat),
        "add of a guest": PrivateChange(
            .add(
                PrivateAddition(
                    seats: [PrivateSeat(mina, .guest)], epoch: epoch, workspaceName: "w",
                    displayNames: [PrivateDisplayName(mina, "n")])), seat: seat),
        "remove": PrivateChange(
            .remove(mina, cuts: [cut], epoch: PrivateEpoch(keyID: key)), seat: seat),
        "leave": PrivateChange(.leave(cuts: []), seat: seat),
        "role": PrivateChange(.role(mina, .admin, drops: false), seat: seat),
        "transfer": PrivateChange(.role(mina, .owner, drops: true), seat: seat),
        "set": PrivateChange(
            .set(PrivateSettings(name: "a", topic: "", description: "c", archived: true)),
            seat: seat),
        "set of a picture": PrivateChange(
            .set(
                {
                    var settings = PrivateSettings()
                    (settings.image, settings.copies) = ("preset:7", 3)
                    return settings
                }()), seat: seat),
        "set of nothing": PrivateChange(.set(PrivateSettings()), seat: seat),
        "rekey": PrivateChange(.rekey(epoch), seat: seat),
        "delete": PrivateChange(.delete, seat: seat),
    ]

    private static let epochBytes = "83 50 33*16 81 83 50 44*16 01 58 48 55*72 81 58 20 66*32"

    static let bytes: [String: String] = [
        "root":
            "82 01 a6 01 01 02 82 82 50 11*16 00 82 50 22*16 02 03 01 04 61 61 05 61 62 06 61 63",
        "root without texts": "82 01 a3 01 03 02 81 82 50 22*16 00 03 00",
        "add": "82 02 a2 01 81 82 50 22*16 02 0f 58 20 77*32",
        "add of a guest": "82 02 a5 01 81 82 50 22*16 03 02 \(epochBytes) 03 61 77 "
            + "04 81 82 50 22*16 61 6e 0f 58 20 77*32",
        "remove": "82 03 a4 01 50 22*16 02 81 83 58 20 dd*32 01 81 83 58 20 d0*32 02 50 ee*16 "
            + "03 83 50 33*16 80 80 0f 58 20 77*32",
        "leave": "82 04 a2 01 80 0f 58 20 77*32",
        "role": "82 05 a4 01 50 22*16 02 01 03 f4 0f 58 20 77*32",
        "transfer": "82 05 a4 01 50 22*16 02 00 03 f5 0f 58 20 77*32",
        "set": "82 06 a5 01 61 61 02 60 03 61 63 04 f5 0f 58 20 77*32",
        "set of a picture": "82 06 a3 05 68 70 72 65 73 65 74 3a 37 06 03 0f 58 20 77*32",
        "set of nothing": "82 06 a1 0f 58 20 77*32",
        "rekey": "82 07 a2 01 \(epochBytes) 0f 58 20 77*32",
        "delete": "82 08 a1 0f 58 20 77*32",
    ]

    /// A payload of kind 4 with `count` boxes, tags ascending.
    static func mailbox(_ count: Int) -> MailboxPayload? {
        MailboxPayload(
            nonce: [UInt8](repeating: 1, count: 16),
            boxes: (0..<count).map { number in
                MailboxPayload.Box(
                    tag: bigEndianBytes(of: UInt64(number)),
                    sealed: [UInt8](repeating: UInt8(number % 256), count: 144))
            })
    }
}
