import PeerNode
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `An invite link` {
    static let invite = DeviceID(Array(32..<64)).leadingWord
    static let workspace = Identifier16<Named.Document>(Array(1...16))

    static func link(_ hints: [String]) throws -> InviteLink {
        InviteLink(
            workspace: workspace,
            secret: try #require(InviteSecret(untrusted: Array(100..<116))), invite: invite,
            hints: hints.compactMap { PeerAddress($0) })
    }

    static let hints: [[String]] = [
        [],
        ["192.0.2.7:29790"],
        ["192.0.2.7:1", "[2001:db8::1]:65535"],
        ["node.example:29790", "10.0.0.1:29790"],
        ["a.very-long-name.of-exactly-38.example:9"],
    ]

    @Test(arguments: hints)
    func `reads back what it says, in either case and as mail breaks it`(
        hints: [String]
    ) throws {
        let text = try Self.link(hints).text
        #expect(text.droppedHints == 0)
        #expect(text.link.utf8.count <= 150)
        let broken = text.link.prefix(40) + "\r\n  " + text.link.dropFirst(40)
        for spelling in [text.link, text.qrText, "  \(text.link)\n", "<\(broken)>"] {
            let read = try InviteLink(spelling)
            #expect(read.workspace == Self.workspace)
            #expect(read.secret.publicKey == (try Self.link([])).secret.publicKey)
            #expect(read.invite == Self.invite)
            #expect(read.hints.map(\.text) == hints)
            #expect(read.text == text)
        }
    }

    @Test func `has the bytes of the protocol`() throws {
        let text = try Self.link(["192.0.2.7:29790"]).text.link
        let bytes = try #require(Base32.decode(text.dropFirst(11).utf8))
        var expected: [UInt8] = [1]
        expected += 1...16
        expected += 100..<116
        expected += 32..<40
        expected += [4, 192, 0, 2, 7, 0x74, 0x5e]
        expected += Hash.personal("wsx-link1", expected).prefix(3)
        #expect(bytes == expected)
        #expect(text.hasPrefix("wsx://join/"))
    }

    @Test func `drops the last hints that do not fit and says how many`() throws {
        let hints = [
            "[2001:db8::1]:29790", "[2001:db8::2]:29790", "[2001:db8::3]:29790",
            "192.0.2.1:29790",
        ]
        let text = try Self.link(hints).text
        #expect(text.droppedHints == 2)
        #expect(text.link.utf8.count <= 150)
        #expect(try InviteLink(text.link).hints.map(\.text) == Array(hints.prefix(2)))
    }

    @Test(arguments: ["[fe80::1%2]:29790", "0.0.0.0:1", "224.0.0.1:1"])
    func `never carries an address that means nothing elsewhere`(hint: String) throws {
        let text = try Self.link([hint, "192.0.2.1:1"]).text
        #expect(text.droppedHints == 1)
        #expect(try InviteLink(text.link).hints.map(\.text) == ["192.0.2.1:1"])
    }

    /// Some 3,300 changes of which each passes by chance once in 2^24: one run in 5,000 of random
    /// links would fail here, and this link is always the same one.
    @Test func `with any one letter changed is refused`() throws {
        let text = Array(try Self.link(["192.0.2.7:29790"]).text.link.utf8)
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        for place in 11..<text.count {
            for letter in alphabet where letter != text[place] {
                var changed = text
                changed[place] = letter
                let link = String(decoding: changed, as: UTF8.self)
                #expect(throws: InviteLink.Problem.self) { try InviteLink(link) }
            }
        }
    }

    @Test func `with two letters swapped or one lost is refused`() throws {
        let text = Array(try Self.link(["192.0.2.7:29790"]).text.link.utf8)
        for place in 11..<text.count - 1 {
            var lost = text
            lost.remove(at: place)
            #expect(throws: InviteLink.Problem.self) {
                try InviteLink(String(decoding: lost, as: UTF8.self))
            }
            guard text[place] != text[place + 1] else { continue }
            var swapped = text
            swapped.swapAt(place, place + 1)
            #expect(throws: InviteLink.Problem.self) {
                try InviteLink(String(decoding: swapped, as: UTF8.self))
            }
        }
    }

    static func text(of body: [UInt8]) -> String {
        "wsx://join/" + Base32.encode(body + Hash.personal("wsx-link1", body).prefix(3))
    }

    @Test func `says what is wrong with it`() {
        let fixed = [UInt8](repeating: 1, count: 41)
        let rows: [(String, InviteLink.Problem)] = [
            ("", .notALink),
            ("https://join/abc", .notALink),
            ("wsx://join/", .garbled),
            ("wsx://join/abcu", .garbled),
            ("wsx://join/" + String(repeating: "0", count: 140), .garbled),
            (String(repeating: "x", count: 100_000), .garbled),
            ("wsx://join/" + Base32.encode(fixed + [0, 0, 0]), .badCheck),
            (Self.text(of: [2] + fixed.dropFirst()), .unknownVersion(2)),
            (Self.text(of: Array(fixed.dropLast())), .garbled),
            (Self.text(of: fixed + [9, 1, 2, 3]), .badHint),
            (Self.text(of: fixed + [4, 1, 2, 3]), .badHint),
            (Self.text(of: fixed + [4, 1, 2, 3, 4, 0, 0]), .badHint),
            (Self.text(of: fixed + [1, 39]), .badHint),
            (Self.text(of: fixed + [1, 3, 65, 66, 67, 0, 9]), .badHint),
        ]
        for (text, problem) in rows {
            #expect(throws: problem, "\(text.prefix(40))") { try InviteLink(text) }
        }
    }

    @Test(arguments: Seeds.explore(50))
    func `survives any hints and any letters`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let hints = (0..<random.below(5)).compactMap { _ in
            PeerAddress(
                host: random.oneIn(2)
                    ? .ipv4(UInt32(truncatingIfNeeded: random.next()))
                    : .ipv6(random.next(), random.next(), scope: 0),
                port: UInt16(truncatingIfNeeded: random.next() | 1))
        }
        let secret = try #require(InviteSecret(untrusted: random.bytes(16)))
        let text = InviteLink(
            workspace: Self.workspace, secret: secret, invite: Self.invite, hints: hints
        ).text
        let read = try InviteLink(text.link)
        #expect(read.hints.count + text.droppedHints == hints.count)
        #expect(read.text.link == text.link)
        // Random bytes with a right check never trap, whatever they say.
        _ = try? InviteLink(Self.text(of: [1] + random.bytes(40 + random.below(42))))
        _ = try? InviteLink(String(decoding: random.bytes(random.below(200)), as: UTF8.self))
    }
}

struct `An invite's secret` {
    let secret = InviteSecret(using: SeededRandom(seed: 1))

    @Test func `makes the same keys from the same seed, all different`() throws {
        let again = try #require(InviteSecret(untrusted: secret.exposedSeed()))
        #expect(again.publicKey == secret.publicKey)
        #expect(again.psk.exposedCopy() == secret.psk.exposedCopy())
        #expect(secret.beaconKey.exposedCopy() != secret.psk.exposedCopy())
        #expect(
            InviteSecret.beaconKey(psk: again.psk).exposedCopy() == secret.beaconKey.exposedCopy())
        #expect(InviteSecret(untrusted: [1, 2, 3]) == nil)
    }

    @Test func `derives with the seed as BLAKE2b's key`() throws {
        // Made with Python: hashlib.blake2b(b"psk", key=bytes(range(16)), digest_size=32).
        let known = try #require(InviteSecret(untrusted: Array(0..<16)))
        let hex = known.psk.exposedCopy().map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        #expect(hex == "41bcf1224c42be9ca2e377788040479abc8f597bc2d00e89bde5e58649aa2740")
    }

    @Test func `proves itself in one session only`() {
        let hash = [UInt8](repeating: 3, count: 64)
        let proof = secret.joinProof(handshakeHash: hash)
        #expect(
            InviteSecret.verifies(joinProof: proof, by: secret.publicKey, handshakeHash: hash))
        let other = [UInt8](repeating: 4, count: 64)
        #expect(
            !InviteSecret.verifies(joinProof: proof, by: secret.publicKey, handshakeHash: other))
    }

    @Test func `vouches for exactly one member with exactly its devices`() {
        let workspace = DocumentID([UInt8](repeating: 1, count: 32))
        let invite = OperationID([UInt8](repeating: 2, count: 32))
        let member = MemberID([UInt8](repeating: 3, count: 16))
        let proof = secret.admissionProof(
            workspace: workspace, invite: invite, member: member, encodedDevices: [0x80])
        func verifies(_ member: MemberID, _ devices: [UInt8]) -> Bool {
            InviteSecret.verifies(
                admissionProof: proof, by: secret.publicKey, workspace: workspace,
                invite: invite, member: member, encodedDevices: devices)
        }
        #expect(verifies(member, [0x80]))
        #expect(!verifies(member, [0x81, 0]))
        #expect(!verifies(MemberID.zero, [0x80]))
    }
}
