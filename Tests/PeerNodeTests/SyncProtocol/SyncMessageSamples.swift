import WorkspaceModel

@testable import SyncProtocol

/// One message of every type, with bytes written by hand from PROTOCOL.md, 5.3.
enum SyncMessageSamples {
    struct Sample: Sendable {
        let name: String
        let message: SyncMessage
        /// In words of hexadecimal; `A*32` is 32 bytes of 0xA.
        let golden: String
    }

    static let document = DocumentID([UInt8](repeating: 0xd0, count: 32))
    static let device = DeviceID([UInt8](repeating: 0xde, count: 32))
    static let log = LogName(document: document, device: device, incarnation: 0x0102_0304)
    static let half = Identifier16<Named.Operation>([UInt8](repeating: 0x1d, count: 16))
    static let tip = LogTip(log: log, sequence: 300, id: half)
    static let tag = WorkspaceTag([UInt8](repeating: 0x7a, count: 16))
    static let signature = Signature([UInt8](repeating: 0x51, count: 64))
    static let root = SetDigest([UInt8](repeating: 0x40, count: 32))
    static let mine = SetDigest([UInt8](repeating: 0x4d, count: 32))
    static let operation = OperationID([UInt8](repeating: 0x0e, count: 32))
    static let digest = Identifier16<Named.Digest>([UInt8](repeating: 0xd1, count: 16))

    static let noteKey = MessageKey(
        timestamp: HybridTimestamp(rawValue: 0x0808_0808_0808_0808),
        idPrefix: 0x0808_0808_0808_0808)

    static let claim = ClaimName([UInt8](repeating: 0xc1, count: 16))

    static let readMarkerUpdate = {
        guard let conversation = ConversationName([UInt8](repeating: 0xc0, count: 16)) else {
            preconditionFailure("16 bytes")
        }
        return ReadMarkerUpdate(
            conversation,
            upTo: MessageKey(
                timestamp: HybridTimestamp(rawValue: 7), idPrefix: 0x0808_0808_0808_0808),
            frontier: ReadFrontier([0x0101_0101_0101_0101: 3]))
    }()

    static let run = OperationRun(
        log: log, firstSequence: 5, previous: operation,
        entries: [
            entry(at: 1_000, payload: [1, 2]),
            entry(
                at: 1_001, payload: [3, 4],
                dependencies: [
                    OperationReference(device: device, incarnation: 1, sequence: 2, id: operation)
                ]),
        ])

    static func entry(
        at time: UInt64, payload: [UInt8], dependencies: [OperationReference] = []
    ) -> OperationRun.Entry {
        OperationRun.Entry(
            kind: 1, timestamp: HybridTimestamp(rawValue: time), grant: operation,
            keyID: KeyID([UInt8](repeating: 0x6e, count: 16)), dependencies: dependencies,
            payload: payload, signature: signature)
    }

    static let all: [Sample] = [
        Sample(
            name: "ws_open",
            message: .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: tag, root: root, agreedRoot: mine, mine: mine)),
            golden: "01 a5 0101 02 50 7a*16 03 5820 40*32 04 5820 4d*32 05 5820 4d*32"),
        Sample(
            name: "ws_open without agreement",
            message: .workspaceOpen(
                WorkspaceOpening(workspace: 1, tag: tag, root: root, agreedRoot: nil, mine: mine)),
            golden: "01 a4 0101 02 50 7a*16 03 5820 40*32 05 5820 4d*32"),
        Sample(
            name: "ws_open of a guest",
            message: .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: tag, root: root, agreedRoot: nil, mine: mine,
                    documents: [DocumentID(sameBytesAs: root), DocumentID(sameBytesAs: mine)])),
            golden:
                "01 a5 0101 02 50 7a*16 03 5820 40*32 05 5820 4d*32 06 82 5820 40*32 5820 4d*32"),
        Sample(
            name: "ws_open to a guest",
            message: .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: tag, root: root, agreedRoot: mine, mine: mine, seen: 3)),
            golden: "01 a6 0101 02 50 7a*16 03 5820 40*32 04 5820 4d*32 05 5820 4d*32 07 03"),
        Sample(
            name: "ws_open that shows a secret",
            message: .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: tag, root: root, agreedRoot: nil, mine: mine,
                    shown: ShownSecret(tag.bytes))),
            golden: "01 a5 0101 02 50 7a*16 03 5820 40*32 05 5820 4d*32 08 50 7a*16"),
        Sample(
            name: "ws_result", message: .workspaceResult(tag: tag, .authorityOnly),
            golden: "02 a2 01 50 7a*16 02 03"),
        Sample(
            name: "join1",
            message: .joinHello(
                invite: InviteHash([UInt8](repeating: 0x11, count: 16)), proof: signature),
            golden: "03 a2 01 50 11*16 02 5840 51*64"),
        Sample(
            name: "join2",
            message: .joinRequest(
                JoinRequest(
                    invite: operation, member: MemberID([UInt8](repeating: 0x33, count: 16)),
                    devices: [0x81, 0x01], proof: signature, name: "Ada")),
            golden: "04 a5 01 5820 0e*32 02 50 33*16 03 8101 04 5840 51*64 05 63 416461"),
        Sample(
            name: "join_result with all",
            message: .joinResult(
                JoinResult(code: .admitted, workspace: document, tips: [tip], admission: operation)),
            golden: """
                05 a4 0101 02 5820 d0*32 03 81 82 5820 d0*32 81 84 5820 de*32 1a01020304 19012c \
                50 1d*16 04 5820 0e*32
                """),
        Sample(
            name: "join_result bare", message: .joinResult(JoinResult(code: .busy)),
            golden: "05 a1 0106"),
        Sample(
            name: "link_offer",
            message: .linkOffer(
                LinkOffer(
                    name: "Ada",
                    memberships: [
                        .init(
                            workspace: document,
                            member: MemberID([UInt8](repeating: 0x33, count: 16)))
                    ])),
            golden: "06 a2 01 63 416461 02 81 82 5820 d0*32 50 33*16"),
        Sample(
            name: "link_request",
            message: .linkRequest([
                LinkConsent(
                    workspace: document, agreementKey: [UInt8](repeating: 0x25, count: 32),
                    signature: signature)
            ]),
            golden: "07 a1 01 81 83 5820 d0*32 5820 25*32 5840 51*64"),
        Sample(
            name: "link_result",
            message: .linkResult(
                LinkResult(
                    code: .linked,
                    additions: [.init(workspace: document, operation: operation)])),
            golden: "08 a2 01 00 02 81 82 5820 d0*32 5820 0e*32"),
        Sample(
            name: "link_result bare", message: .linkResult(LinkResult(code: .expired)),
            golden: "08 a2 01 02 02 80"),
        Sample(
            name: "digest_ws",
            message: .workspaceDigest(2, buckets: [UInt8](repeating: 0xbb, count: 4_096)),
            golden: "10 a2 0102 02 591000 bb*4096"),
        Sample(
            name: "digest_docs",
            message: .documentDigests(
                2,
                [
                    BucketDigests(bucket: 0x01, documents: []),
                    BucketDigests(
                        bucket: 0xd0,
                        documents: [DocumentDigest(document: document, digest: digest)]),
                ]),
            golden: "11 a2 0102 02 82 82 01 80 82 18d0 81 82 5820 d0*32 50 d1*16"),
        Sample(
            name: "tips", message: .tips(2, [tip], final: true),
            golden: """
                12 a3 0102 02 81 82 5820 d0*32 81 84 5820 de*32 1a01020304 19012c 50 1d*16 03 f5
                """),
        Sample(
            name: "tips of nothing", message: .tips(2, [], final: false),
            golden: "12a301020280 03f4"),
        Sample(
            name: "pull",
            message: .pull(
                2,
                PullRequest(
                    request: 9,
                    items: [PullItem(target: tip, have: [LogPoint(sequence: 0, id: half)])],
                    maxBytes: 1_048_576)),
            golden: """
                13 a4 0102 0209 03 81 86 5820 d0*32 5820 de*32 1a01020304 19012c 50 1d*16 \
                81 82 00 50 1d*16 04 1a00100000
                """),
        Sample(
            name: "ops", message: .operations(2, request: 9, [run], isComplete: true),
            golden: """
                15 a4 0102 0209 03 81 86 5820 d0*32 5820 de*32 1a01020304 05 5820 0e*32 88 \
                81 82 02 01   82 1903e8 01   81 82 02 5820 0e*32   81 82 02 50 6e*16 \
                81 82 01 81 84 5820 de*32 01 02 5820 0e*32   81 82 02 02 \
                44 01020304   5880 51*128   04 f5
                """),
        Sample(
            name: "fork_probe", message: .forkProbe(2, tip),
            golden: "17 a6 0102 02 5820 d0*32 03 5820 de*32 04 1a01020304 05 19012c 06 50 1d*16"),
        Sample(
            name: "key_want",
            message: .keyWant(
                KeyWant(
                    workspace: 2, document: tip.log.document,
                    keys: [KeyID([UInt8](repeating: 0x6e, count: 16))])),
            golden: "20 a3 0102 02 5820 d0*32 03 81 50 6e*16"),
        Sample(
            name: "key_have",
            message: .keyHave(
                KeyHave(workspace: 2, document: tip.log.document, payload: [1, 2, 3, 4])),
            golden: "21 a3 0102 02 5820 d0*32 03 44 01020304"),
        Sample(
            name: "payload_want",
            message: .payloadWant(
                PayloadWant(
                    workspace: 2, document: tip.log.document,
                    operations: [
                        OperationReference(
                            device: DeviceID([UInt8](repeating: 0xde, count: 32)), incarnation: 1,
                            sequence: 3, id: OperationID([UInt8](repeating: 0x0e, count: 32)))
                    ])),
            golden: "90 a3 0102 02 5820 d0*32 03 81 84 5820 de*32 01 03 5820 0e*32"),
        Sample(
            name: "payload_have",
            message: .payloadHave(
                PayloadHave(
                    workspace: 2, document: tip.log.document,
                    operation: OperationReference(
                        device: DeviceID([UInt8](repeating: 0xde, count: 32)), incarnation: 1,
                        sequence: 3, id: OperationID([UInt8](repeating: 0x0e, count: 32))),
                    payload: [1, 2, 3, 4])),
            golden: "91 a4 0102 02 5820 d0*32 03 84 5820 de*32 01 03 5820 0e*32 04 44 01020304"),
        Sample(
            name: "presence",
            message: .presence(
                2,
                PresenceUpdate(
                    .busy, text: "hi", emoji: "+", until: 24, chosen: 7, asks: true)),
            golden: "92 a7 0102 0202 03 62 6869 04 61 2b 05 1818 06 07 07 f5"),
        Sample(
            name: "plain presence", message: .presence(2, PresenceUpdate(.online)),
            golden: "92 a4 0102 0200 0600 07 f4"),
        Sample(
            name: "typing", message: .typing(2, tip.log.document),
            golden: "93 a2 0102 02 5820 d0*32"),
        Sample(
            name: "reading", message: .reading(2, readMarkerUpdate),
            golden: "94 a2 0102 02 582e 82 05 a3 01 50 c0*16 02 82 07 48 08*8 "
                + "03 81 82 48 01*8 03"),
        Sample(
            name: "book",
            message: .book(
                2,
                AddressBookUpdate(
                    Identifier16([UInt8](repeating: 0xb0, count: 16)),
                    entries: [.init(device, at: 7)], wants: [DeviceName(of: device)])),
            golden: "95 a4 0102 0250 b0*16 03 81 82 48 de*8 07 04 81 48 de*8"),
        Sample(
            name: "book without a list",
            message: .book(2, AddressBookUpdate(Identifier16([UInt8](repeating: 0xb0, count: 16)))),
            golden: "95 a2 0102 0250 b0*16"),
        Sample(
            name: "reach",
            message: .reach(2, ReachUpdate(come: [DeviceName(of: device)], gone: [])),
            golden: "96 a3 0102 02 81 48 de*8 03 80"),
        Sample(
            name: "note",
            message: .note(
                2,
                NotePresenceUpdate(
                    tip.log.document, noteKey, asks: true,
                    selection: .init(from: nil, to: .init(noteKey, offset: 7)), draft: [1, 2],
                    lock: 24)),
            golden: "97 a8 0102 02 5820 d0*32 03 50 08*16 04 f5 05 f5 "
                + "06 82 f6 82 50 08*16 07 07 42 0102 08 1818"),
        Sample(
            name: "note with a place in the draft",
            message: .note(
                2,
                NotePresenceUpdate(
                    tip.log.document, noteKey,
                    selection: .init(from: .init(nil, offset: 0), to: .init(nil, offset: 24)))),
            golden: "97 a6 0102 02 5820 d0*32 03 50 08*16 04 f5 05 f4 "
                + "06 82 82 40 00 82 40 1818"),
        Sample(
            name: "note that is closed",
            message: .note(2, NotePresenceUpdate(tip.log.document, noteKey, isThere: false)),
            golden: "97 a5 0102 02 5820 d0*32 03 50 08*16 04 f4 05 f4"),
        Sample(
            name: "receipt",
            message: .receipt(
                2,
                ReceiptSubmission(
                    number: 7, ledger: tip.log.document,
                    order: MessageKey(
                        timestamp: HybridTimestamp(rawValue: 9), idPrefix: 0x0808_0808_0808_0808),
                    receipt: "r1")),
            golden: "98 a5 0102 0207 03 5820 d0*32 04 82 09 48 08*8 05 62 7231"),
        Sample(
            name: "receipt result",
            message: .receiptResult(2, ReceiptResult(number: 7, .notPaid)),
            golden: "99 a3 0102 0207 0303"),
        Sample(
            name: "proof_ask",
            message: .proofAsk(2, ProofAsk(claim, .begin, address: "a@b.co")),
            golden: "88 a4 0102 0250 c1*16 0300 04 66 6140622e636f"),
        Sample(
            name: "proof_ask with a code",
            message: .proofAsk(
                2, ProofAsk(claim, .confirm(code: "012345"), address: "a@b.co")),
            golden: "88 a5 0102 0250 c1*16 0302 04 66 6140622e636f 05 66 303132333435"),
        Sample(
            name: "proof_answer",
            message: .proofAnswer(2, ProofAnswer(claim, .tooMany, retryMilliseconds: 24)),
            golden: "89 a4 0102 0250 c1*16 0307 04 1818"),
        Sample(
            name: "proof_answer with an attestation",
            message: .proofAnswer(2, ProofAnswer(claim, .proved, attestation: operation)),
            golden: "89 a4 0102 0250 c1*16 0301 05 5820 0e*32"),
        Sample(
            name: "account_ask",
            message: .accountAsk(2, AccountAsk(claim, of: "lab", token: "a.b.c")),
            golden: "8a a4 0102 0250 c1*16 03 63 6c6162 04 65 612e622e63"),
        Sample(
            name: "account_answer",
            message: .accountAnswer(2, AccountAnswer(claim, .proved(operation))),
            golden: "8b a4 0102 0250 c1*16 0300 06 5820 0e*32"),
        Sample(
            name: "account_answer that refuses",
            message: .accountAnswer(2, AccountAnswer(claim, .refused(reason: 14))),
            golden: "8b a4 0102 0250 c1*16 0301 04 0e"),
        Sample(
            name: "account_answer with a time to wait",
            message: .accountAnswer(2, AccountAnswer(claim, .tooMany(retryMilliseconds: 24))),
            golden: "8b a4 0102 0250 c1*16 0304 05 1818"),
        Sample(
            name: "account_answer of who cannot look",
            message: .accountAnswer(2, AccountAnswer(claim, .notChecked)),
            golden: "8b a3 0102 0250 c1*16 0305"),
        Sample(
            name: "ping", message: .ping(number: 24, isAnswer: false), golden: "30 a2 01 1818 02 f4"
        ),
        Sample(
            name: "peers",
            message: .peers(
                2,
                [
                    AddressRecord(
                        device: device, at: 7, addresses: ["[::1]:7"], signature: signature)
                ]),
            golden: "31 a2 0102 02 81 84 5820 de*32 07 81 67 5b3a3a315d3a37 5840 51*64"),
        Sample(
            name: "error", message: .error(code: "sync.too_large", retryAfterMilliseconds: 0),
            golden: "3f a2 01 6e 73796e632e746f6f5f6c61726765 02 00"),
    ]

    /// The bytes that a golden string spells.
    static func bytes(_ golden: String) -> [UInt8] {
        golden.split(whereSeparator: \.isWhitespace).flatMap { word -> [UInt8] in
            let parts = word.split(separator: "*")
            let digits = [Character](parts[0])
            let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
                UInt8(String(digits[index..<min(index + 2, digits.count)]), radix: 16)
            }
            let times = parts.count > 1 ? Int(parts[1]) ?? 0 : 1
            return [[UInt8]](repeating: bytes, count: times).flatMap { $0 }
        }
    }
}
