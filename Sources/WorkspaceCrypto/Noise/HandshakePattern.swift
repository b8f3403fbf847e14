/// One step of a handshake message.
public enum HandshakeToken: String, Sendable {
    /// Sends an ephemeral public key.
    case e
    /// Sends the static public key, encrypted if there is a key by then.
    case s
    /// Agreement of two keys: the first letter is the initiator's, the second the responder's.
    case ee, es, se, ss
    /// Mixes in the next pre-shared key.
    case psk
}

/// Who sends what in a handshake, as a table.
///
/// - Source: Noise specification, sections 7.4, 7.5 (patterns) and 9 (pre-shared keys).
public struct HandshakePattern: Equatable, Sendable {
    /// The name as it stands in a protocol name, such as `XXpsk0`.
    public let name: String
    /// Whether the responder must know the initiator's static key before (`-> s`).
    public let knowsInitiator: Bool
    /// Whether the initiator must know the responder's static key before (`<- s`).
    public let knowsResponder: Bool
    /// The messages in order, first the initiator's, then in turn.
    public let messages: [[HandshakeToken]]

    /// How many pre-shared keys the pattern takes.
    public var pskCount: Int { messages.joined().filter { $0 == .psk }.count }

    /// Whether the side has a static key, known before or sent.
    public func usesStaticKey(of role: HandshakeState.Role) -> Bool {
        let knows = role == .initiator ? knowsInitiator : knowsResponder
        let parity = role == .initiator ? 0 : 1
        return knows
            || messages.enumerated().contains { $0.offset % 2 == parity && $0.element.contains(.s) }
    }

    /// Whether only the initiator ever sends.
    public var isOneWay: Bool { messages.count == 1 }

    private init(
        _ name: String, knowsInitiator: Bool = false, knowsResponder: Bool = false,
        _ messages: [HandshakeToken]...
    ) {
        self.init(
            name: name, knowsInitiator: knowsInitiator, knowsResponder: knowsResponder,
            messages: messages)
    }

    private init(
        name: String, knowsInitiator: Bool, knowsResponder: Bool, messages: [[HandshakeToken]]
    ) {
        self.name = name
        self.knowsInitiator = knowsInitiator
        self.knowsResponder = knowsResponder
        self.messages = messages
    }

    /// The three one-way and the twelve interactive patterns.
    public static let all = [
        HandshakePattern("N", knowsResponder: true, [.e, .es]),
        HandshakePattern("K", knowsInitiator: true, knowsResponder: true, [.e, .es, .ss]),
        HandshakePattern("X", knowsResponder: true, [.e, .es, .s, .ss]),
        HandshakePattern("NN", [.e], [.e, .ee]),
        HandshakePattern("NK", knowsResponder: true, [.e, .es], [.e, .ee]),
        HandshakePattern("NX", [.e], [.e, .ee, .s, .es]),
        HandshakePattern("KN", knowsInitiator: true, [.e], [.e, .ee, .se]),
        HandshakePattern(
            "KK", knowsInitiator: true, knowsResponder: true, [.e, .es, .ss], [.e, .ee, .se]),
        HandshakePattern("KX", knowsInitiator: true, [.e], [.e, .ee, .se, .s, .es]),
        HandshakePattern("XN", [.e], [.e, .ee], [.s, .se]),
        HandshakePattern("XK", knowsResponder: true, [.e, .es], [.e, .ee], [.s, .se]),
        HandshakePattern("XX", [.e], [.e, .ee, .s, .es], [.s, .se]),
        HandshakePattern("IN", [.e, .s], [.e, .ee, .se]),
        HandshakePattern("IK", knowsResponder: true, [.e, .es, .s, .ss], [.e, .ee, .se]),
        HandshakePattern("IX", [.e, .s], [.e, .ee, .se, .s, .es]),
    ]

    /// The pattern of wsx-node's transport.
    public static let xxPSK0 = HandshakePattern(
        name: "XXpsk0", knowsInitiator: false, knowsResponder: false,
        messages: [[.psk, .e], [.e, .ee, .s, .es], [.s, .se]])

    /// The pattern of a name such as `XX`, `IKpsk2` or `NNpsk0+psk2`, or `nil` if it is not one
    /// of `all` with modifiers that fit. Takes any text.
    public init?(name: String) {
        let letters = name.prefix { $0.isUppercase }
        guard let base = Self.all.first(where: { $0.name.utf8.elementsEqual(letters.utf8) }) else {
            return nil
        }
        var positions: [Int] = []
        let modifiers = name.dropFirst(letters.count)
        if !modifiers.isEmpty {
            for modifier in modifiers.split(separator: "+", omittingEmptySubsequences: false) {
                guard let digit = Self.pskPosition(modifier) else { return nil }
                positions.append(digit)
            }
        }
        guard let pattern = base.adding(psks: positions) else { return nil }
        self = pattern
    }

    /// This pattern with a pre-shared key at each of `positions`: 0 is before the first message,
    /// n after the n-th. `nil` unless they ascend and there are that many messages.
    public func adding(psks positions: [Int]) -> HandshakePattern? {
        var messages = messages
        var last = -1
        for position in positions {
            guard position > last, position <= messages.count else { return nil }
            last = position
            if position == 0 {
                messages[0].insert(.psk, at: 0)
            } else {
                messages[position - 1].append(.psk)
            }
        }
        let modifiers = positions.map { "psk\($0)" }.joined(separator: "+")
        return HandshakePattern(
            name: name + modifiers, knowsInitiator: knowsInitiator,
            knowsResponder: knowsResponder, messages: messages)
    }

    private static func pskPosition(_ modifier: Substring) -> Int? {
        let bytes = Array(modifier.utf8)
        guard bytes.count == 4, bytes.starts(with: Array("psk".utf8)) else { return nil }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[3])
            ? Int(bytes[3] - UInt8(ascii: "0")) : nil
    }

    /// The protocol's name with this pattern: `Noise_` pattern `_25519_ChaChaPoly_` hash.
    public func protocolName(_ hash: HashFunction) -> String {
        "Noise_\(name)_25519_ChaChaPoly_\(hash.rawValue)"
    }
}
