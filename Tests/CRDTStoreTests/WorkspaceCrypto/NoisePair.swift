import WorkspaceCrypto
import WorkspaceModel

/// Two sides of one handshake whose every byte is a function of a seed.
struct NoisePair {
    let initiator, responder: HandshakeState
    let randoms: [SeededRandom]

    init(
        seed: UInt64 = 1, pattern: HandshakePattern = .xxPSK0,
        prologues: [String] = ["wsx/1", "wsx/1"], psks: [UInt8] = [1, 1]
    ) {
        let random = SeededRandom(seed: seed)
        func side(_ role: HandshakeState.Role, _ index: Int) -> HandshakeState {
            HandshakeState(
                pattern, as: role, prologue: [UInt8](prologues[index].utf8),
                staticKey: AgreementKey(using: random, lifetime: .brief),
                psks: pattern.pskCount == 0
                    ? [] : [SymmetricKey([UInt8](repeating: psks[index], count: 32))])
        }
        initiator = side(.initiator, 0)
        responder = side(.responder, 1)
        randoms = [SeededRandom(seed: seed &+ 1), SeededRandom(seed: seed &+ 2)]
    }

    /// Sends the given messages over, the last one changed by `change`, and hands on what the
    /// receiver of that one says.
    func deliver(
        _ count: Int, change: ([UInt8]) -> [UInt8] = { $0 }
    ) throws(NoiseError) -> [UInt8] {
        var payload: [UInt8] = []
        for index in 0..<count {
            let (from, to) =
                index % 2 == 0 ? (initiator, responder) : (responder, initiator)
            let message = try from.writeMessage(
                [UInt8]("payload \(index)".utf8), using: randoms[index % 2])
            payload = try to.readMessage(index == count - 1 ? change(message) : message)
        }
        return payload
    }

    func receiver(of number: Int) -> HandshakeState { number % 2 == 1 ? responder : initiator }

    func transports() throws -> (NoiseTransport, NoiseTransport) {
        _ = try deliver(3)
        return (try initiator.transport(), try responder.transport())
    }
}
