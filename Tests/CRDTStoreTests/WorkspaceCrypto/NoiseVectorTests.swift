import Testing
import WorkspaceCrypto
import WorkspaceModel

private typealias Object = CryptoVectors.Object

/// A random source with listed values: gives a handshake its published ephemeral key.
final class ListedRandom: RandomSource {
    private var list: [[UInt8]]

    init(_ list: [[UInt8]]) { self.list = list }

    func bytes(_ count: Int) -> [UInt8] {
        let next = list.isEmpty ? [] : list.removeFirst()
        precondition(next.count == count, "the handshake draws other randomness than listed")
        return next
    }
}

struct `A Noise handshake` {
    /// All published vectors of the patterns and hashes that exist here. The rest are counted:
    /// BLAKE2s, and the deferred patterns (a 1 in the name).
    @Test(
        .enabled(if: CryptoVectors.areThere),
        arguments: [("cacophony", 108, true), ("snow", 84, false)])
    func `gives the bytes of all published vectors`(
        source: String, count: Int, hasHash: Bool
    ) throws {
        let file = Object(try CryptoVectors.json("noise/\(source)-25519-chachapoly.json"))
        var run = 0
        var skipped: [String: Int] = [:]
        for vector in file.objects("vectors") {
            let parts = vector.text("protocol_name").split(separator: "_").map(String.init)
            guard let hash = HashFunction(rawValue: parts[4]) else {
                skipped[parts[4], default: 0] += 1
                continue
            }
            guard let pattern = HandshakePattern(name: parts[1]) else {
                #expect(parts[1].contains("1"), "unknown pattern \(parts[1])")
                skipped["deferred", default: 0] += 1
                continue
            }
            #expect(pattern.protocolName(hash) == vector.text("protocol_name"))
            #expect(vector.has("handshake_hash") == hasHash)
            try check(vector, pattern, hash)
            run += 1
        }
        let rest = skipped.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("NOISE \(source): \(run) vectors run; skipped \(rest.joined(separator: ", "))")
        #expect(run == count)
    }

    private func check(
        _ vector: CryptoVectors.Object, _ pattern: HandshakePattern, _ hash: HashFunction
    ) throws {
        let name = Comment(rawValue: vector.text("protocol_name"))
        let initiator = side(.initiator, "init", vector, pattern, hash)
        let responder = side(.responder, "resp", vector, pattern, hash)
        let randoms = [
            ListedRandom([vector.bytes("init_ephemeral")]),
            ListedRandom([vector.bytes("resp_ephemeral")]),
        ]
        var transports: [NoiseTransport] = []
        for (index, message) in vector.objects("messages").enumerated() {
            let fromInitiator = pattern.isOneWay || index % 2 == 0
            let payload = message.bytes("payload")
            let expected = message.bytes("ciphertext")
            if index < pattern.messages.count {
                let (from, to) = fromInitiator ? (initiator, responder) : (responder, initiator)
                let random = randoms[fromInitiator ? 0 : 1]
                #expect(from.isOurTurn && !to.isOurTurn)
                #expect(try from.writeMessage(payload, using: random) == expected, name)
                #expect(try to.readMessage(expected) == payload, name)
            } else {
                if transports.isEmpty {
                    #expect(initiator.handshakeHash == responder.handshakeHash, name)
                    if vector.has("handshake_hash") {
                        #expect(initiator.handshakeHash == vector.bytes("handshake_hash"), name)
                    }
                    transports = [try initiator.transport(), try responder.transport()]
                }
                let (from, to) = fromInitiator ? (0, 1) : (1, 0)
                #expect(try transports[from].seal(payload) == expected, name)
                #expect(try transports[to].open(expected) == payload, name)
            }
        }
        #expect(transports.count == 2, name)
        if pattern.messages.joined().contains(.s) || pattern.knowsInitiator {
            let known = vector.has("init_static") ? vector.bytes("init_static") : nil
            let expected = known.map { AgreementKey(secret: $0, lifetime: .brief).publicKey }
            if pattern.usesStaticKey(of: .initiator) {
                #expect(responder.remoteStatic == expected, name)
            }
        }
    }

    private func side(
        _ role: HandshakeState.Role, _ prefix: String, _ vector: CryptoVectors.Object,
        _ pattern: HandshakePattern, _ hash: HashFunction
    ) -> HandshakeState {
        let ours = vector.has("\(prefix)_static") && pattern.usesStaticKey(of: role)
        let theirs = role == .initiator ? pattern.knowsResponder : pattern.knowsInitiator
        return HandshakeState(
            pattern, hash: hash, as: role, prologue: vector.bytes("\(prefix)_prologue"),
            staticKey: ours
                ? AgreementKey(secret: vector.bytes("\(prefix)_static"), lifetime: .brief) : nil,
            remoteStatic: theirs
                ? AgreementPublicKey(vector.bytes("\(prefix)_remote_static")) : nil,
            psks: (vector.fields["\(prefix)_psks"] as? [String] ?? [])
                .map { SymmetricKey(CryptoVectors.hex($0)) })
    }
}

struct `A handshake pattern` {
    @Test(arguments: [
        "N", "K", "X", "NN", "NK", "NX", "KN", "KK", "KX", "XN", "XK", "XX", "IN", "IK", "IX",
        "XXpsk0", "XXpsk3", "NNpsk0+psk2", "XXpsk0+psk1+psk2+psk3",
    ])
    func `is found by its name`(name: String) throws {
        let pattern = try #require(HandshakePattern(name: name))
        #expect(pattern.name == name)
        #expect(pattern.pskCount == name.count { $0 == "p" })
        #expect(
            pattern.protocolName(.blake2b) == "Noise_\(name)_25519_ChaChaPoly_BLAKE2b")
    }

    @Test(arguments: [
        "", "n", "Y", "XX1", "X1X", "XXpsk", "XXpsk4", "XXpsk9", "NNpsk3", "XXpsk1+psk0",
        "XXpsk0+psk0", "XXpsk0+", "XX+psk0", "XXpsk00", "XXpsk-1", "XX psk0", "XXfallback",
        "XXpsk٠", "XX\u{301}",
    ])
    func `is none with any other name`(name: String) {
        #expect(HandshakePattern(name: name) == nil)
    }

    @Test func `of wsx-node is XXpsk0`() {
        #expect(HandshakePattern.xxPSK0 == HandshakePattern(name: "XXpsk0"))
        #expect(!HandshakePattern.xxPSK0.isOneWay)
        #expect(HandshakePattern.all.count == 15)
        #expect(HandshakePattern.all.filter(\.isOneWay).map(\.name) == ["N", "K", "X"])
    }
}
