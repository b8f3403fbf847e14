import CRDTStore
import CSodium
import WorkspaceCrypto
import WorkspaceModel

/// What a new key of a private channel costs whose members have 1,000 devices: its members judged,
/// the operation sealed and signed, a box for every device.
enum RekeyBench {
    static func run(_ options: Options) throws {
        var figures = Figures("wsx_rekey")
        let channel = Channel(people: 500, devicesEach: 2)
        figures.note("devices", channel.boxKeys.count)
        figures.note("members", channel.people.count)
        figures.note("epochs_before", channel.operations.count)
        for _ in 0..<options.runs {
            var bytes = 0
            let whole = seconds { bytes = channel.rekey() }
            precondition(bytes > 1_000 * 144)
            let floor = Floors.boxes(1_000)
            figures.add("rekey_ms", whole * 1e3)
            figures.add("bytes_written", Double(bytes))
            figures.add("floor_1000_x25519_and_seals_ms", floor * 1e3)
            figures.add("ratio_rekey_to_floor", whole / floor)
        }
        figures.print()
    }

    /// A private channel as its owner holds it.
    private struct Channel {
        let random = SeededRandom(seed: 1)
        let signing: SigningKey
        let box: AgreementKey
        let people: [MemberID]
        let boxKeys: [AgreementPublicKey]
        let document: DocumentID
        let operations: [PrivateOperation]
        let keys: [SymmetricKey]
        let mailbox: DocumentID
        let grant: OperationID

        /// Twenty epochs, each handing on the one before.
        init(people count: Int, devicesEach: Int) {
            let random = random
            signing = SigningKey(using: random)
            box = AgreementKey(using: random)
            people = (0..<count).map { _ in MemberID(random.bytes(16)) }.sorted()
            boxKeys = (0..<count * devicesEach).map { _ in
                AgreementKey(using: random, lifetime: .brief).publicKey
            }
            mailbox = Hash.name("benchmark", [3])
            grant = Hash.name("benchmark", [2])
            let owner = people[0]
            var keys = [SymmetricKey(using: random)]
            let root: OperationID = Hash.name("benchmark", [0])
            document = DocumentID(sameBytesAs: root)
            var operations = [
                PrivateOperation(
                    id: root, author: owner, previous: nil, dependencies: [],
                    keyID: keys[0].keyID,
                    change: PrivateChange(
                        .root(
                            PrivateRoot(
                                subtype: .channel,
                                seats: people.map {
                                    PrivateSeat($0, $0 == owner ? .owner : .member)
                                }, name: "board")), seat: nil), isAllowed: true)
            ]
            for number in 1..<20 {
                let key = SymmetricKey(using: random)
                let older = OlderPrivateKey.sealing(
                    keys[number - 1], form: .whole, under: key, using: random)
                let id: OperationID = Hash.name("benchmark", [1, UInt8(number)])
                operations.append(
                    PrivateOperation(
                        id: id, author: owner, previous: operations[number - 1].id,
                        dependencies: [], keyID: key.keyID,
                        change: PrivateChange(
                            .rekey(PrivateEpoch(keyID: key.keyID, older: [older])), seat: root),
                        isAllowed: true))
                keys.append(key)
            }
            self.operations = operations
            self.keys = keys
        }

        /// - Returns: how many bytes of payload were made.
        func rekey() -> Int {
            let key = SymmetricKey(using: random)
            let before = PrivateAuthority(of: document, operations)
            let held = Set(keys.map(\.keyID))
            let older = before.keysToHandOn(holding: held).compactMap { name in
                keys.first { $0.keyID == name }
            }.map { OlderPrivateKey.sealing($0, form: .whole, under: key, using: random) }
            let change = PrivateChange(
                .rekey(PrivateEpoch(keyID: key.keyID, older: older)),
                seat: OperationID(sameBytesAs: document))
            let last = operations[operations.count - 1]
            let signed = draft(.privateAuthority, in: document, sequence: 20, previous: last.id)
                .sealedAndSigned(change, clear: nil, under: key, with: signing, using: random)
            // Whether it will have effect is asked before it is written.
            let trial = PrivateAuthority(
                of: document,
                operations + [
                    PrivateOperation(
                        id: signed.id, author: people[0], previous: last.id, dependencies: [],
                        keyID: key.keyID, change: change, isAllowed: true)
                ])
            precondition(trial.isValid(signed.id) && before.members.count == people.count)
            var bytes = signed.payload.count
            var previous: OperationID?
            let deliveries = boxKeys.map { MailboxDelivery(.key(key, of: document), to: $0) }
            for (number, batch) in MailboxPayload.batches(of: deliveries).enumerated() {
                let place = MailboxPlace(
                    mailbox: mailbox, sender: signing.device, incarnation: 1,
                    sequence: UInt64(number))
                let payload = MailboxPayload.sealing(batch, from: box, at: place, using: random)
                let boxes = draft(
                    .mailbox, in: mailbox, sequence: UInt64(number), previous: previous
                ).signed(payload: payload.encoded, with: signing)
                previous = boxes.id
                bytes += boxes.payload.count
            }
            return bytes
        }

        private func draft(
            _ kind: OperationKind, in document: DocumentID, sequence: UInt64,
            previous: OperationID?
        ) -> OperationDraft {
            OperationDraft(
                kind: kind, document: document, incarnation: 1, sequence: sequence,
                previous: previous,
                timestamp: HybridTimestamp(milliseconds: 1_700_000_000_000 + sequence, counter: 0),
                grant: grant)
        }
    }
}

/// Opening what is stored of a private channel: each message from its header and payload to its
/// text.
enum OpenBench {
    static func run(_ options: Options) throws {
        var figures = Figures("wsx_open")
        figures.note("messages", options.messages)
        figures.note("note", "100 B texts, sealed under ten epochs in turn")
        let sealed = messages(options.messages)
        for _ in 0..<options.runs {
            var opened = 0
            let time = seconds {
                for (header, payload, key) in sealed {
                    guard
                        let plain = SealedPayload.open(
                            payload, under: key, associatedData: header.associatedData),
                        case .message(let message)? = try? ContentPayload(decoding: plain)
                    else { continue }
                    opened += message.text.utf8.count
                }
            }
            precondition(opened == 100 * sealed.count)
            let rate = Double(sealed.count) / time
            let floor = Floors.opening(options.messages, byteCount: 128)
            figures.add("open_per_s", rate)
            figures.add("floor_xchacha20poly1305_open_per_s", floor)
            figures.add("ratio_open_to_floor", rate / floor)
        }
        figures.print()
    }

    private static func messages(
        _ count: Int
    ) -> [(OperationHeader, payload: [UInt8], key: SymmetricKey)] {
        let random = SeededRandom(seed: 2)
        let signing = SigningKey(using: random)
        let document: DocumentID = Hash.name("benchmark", [1])
        let epochs = (0..<10).map { _ in SymmetricKey(using: random) }
        let keys = epochs.map { ($0.keyID, $0.documentKey(for: document)) }
        let text = String(repeating: "x", count: 100)
        let plaintext = ContentPayload.message(.init(text: text)).encoded
        let previous: OperationID = Hash.name("benchmark", [4])
        return (0..<count).map { number in
            let (name, key) = keys[number % keys.count]
            let header = OperationHeader(
                kind: OperationKind.content.rawValue, document: document, device: signing.device,
                incarnation: 1, sequence: UInt64(number) + 1, previous: previous,
                timestamp: HybridTimestamp(
                    milliseconds: 1_700_000_000_000 + UInt64(number), counter: 0),
                grant: previous, keyID: name, dependencies: [], payloadLength: 0,
                payloadHash: .zero)
            let payload = SealedPayload.seal(
                plaintext, under: key, associatedData: header.associatedData, using: random)
            return (header, payload, key)
        }
    }
}

extension Floors {
    /// X25519 with HSalsa20 and one XChaCha20-Poly1305 of 128 bytes for each of `count` boxes, in
    /// seconds: libsodium alone.
    static func boxes(_ count: Int) -> Double {
        _ = sodium_init()
        var (own, ownSecret) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        crypto_box_keypair(&own, &ownSecret)
        let others = (0..<count).map { _ in
            var (key, secret) = (own, ownSecret)
            crypto_box_keypair(&key, &secret)
            return key
        }
        let text = [UInt8](repeating: 7, count: 128)
        let nonce = [UInt8](repeating: 0, count: 24)
        let data = [UInt8](repeating: 1, count: 80)
        var shared = [UInt8](repeating: 0, count: 32)
        var sealed = [UInt8](repeating: 0, count: 144)
        return seconds {
            for other in others {
                _ = crypto_box_beforenm(&shared, other, ownSecret)
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &sealed, nil, text, 128, data, 80, nil, nonce, shared)
            }
        }
    }

    /// XChaCha20-Poly1305 of `byteCount` bytes opened `count` times beside 160 bytes of associated
    /// data, a second: libsodium alone.
    static func opening(_ count: Int, byteCount: Int) -> Double {
        _ = sodium_init()
        let key = [UInt8](repeating: 9, count: 32)
        let nonce = [UInt8](repeating: 3, count: 24)
        let data = [UInt8](repeating: 1, count: 160)
        let text = [UInt8](repeating: 7, count: byteCount)
        var sealed = [UInt8](repeating: 0, count: byteCount + 16)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed, nil, text, UInt64(byteCount), data, 160, nil, nonce, key)
        var opened = text
        var good = 0
        let time = seconds {
            for _ in 0..<count
            where crypto_aead_xchacha20poly1305_ietf_decrypt(
                &opened, nil, nil, sealed, UInt64(byteCount) + 16, data, 160, nonce, key) == 0
            {
                good += 1
            }
        }
        precondition(good == count)
        return Double(count) / time
    }
}
