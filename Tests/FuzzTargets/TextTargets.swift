private import Foundation
import WorkspaceCrypto
import WorkspaceModel

@testable import PeerNode

/// What people, programs and links say.
extension FuzzTarget {
    static let json = FuzzTarget(
        "json", "parse, write, parse: the same value and bytes; a second parser takes it too"
    ) { bytes in
        guard let value = try? JSONValue(parsing: bytes) else { return }
        let written = value.bytes
        guard let again = try? JSONValue(parsing: written) else {
            throw FuzzFinding(description: "what was written is not read")
        }
        try hold(again == value && again.bytes == written, "writing changes the value")
        try hold(written.count <= 6 * bytes.count + 2, "writing grows without a bound")
        // Foundation makes a double of every other number, and refuses those that have none.
        guard !bytes.contains(where: { $0 | 0x20 == 0x65 || $0 == 0x2E }), bytes.count < 1_000
        else { return }
        let isTaken =
            (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed))
            != nil
        try hold(isTaken, "Foundation refuses what is taken here")
    }

    static let links = FuzzTarget(
        "links", "links, addresses, recovery words, base32: what is read is written and read again",
        bytesMax: 512
    ) { bytes in
        guard let first = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        let text = String(decoding: body, as: UTF8.self)
        switch first % 10 {
        case 0: try checkInvite(text)
        case 1: try checkDeviceLink(text)
        // The check of a link keeps every change out, so here it is made.
        case 2: try checkInvite(link(InviteLink.prefix, [1] + body, "wsx-link1"))
        case 3: try checkDeviceLink(link(DeviceLink.prefix, [1] + body, "wsx-link2"))
        case 4:
            guard let address = PeerAddress(text, defaultPort: 1) else { return }
            try hold(PeerAddress(address.text) == address, "another address: \(address.text)")
        case 5: _ = try? RecoveryPhrase(text)
        case 6:
            guard let phrase = RecoveryPhrase(untrusted: body) else { return }
            let again = try RecoveryPhrase(phrase.words.joined(separator: " ")).exposedSeed()
            try hold(again == body, "other words")
        case 7:
            try hold(Base32.decode(Base32.encode(body)) == body, "base32 of bytes")
            guard let decoded = Base32.decode(text) else { return }
            let code = Base32.encode(decoded)
            try hold(Base32.decode(code) == decoded, "base32 of text")
        case 8:
            guard let address = IPAddress(text) else { return }
            _ = (ListenAddress(host: address, port: nil), try? ListenAddress(text))
        default:
            _ = (PublicID.messageKey(text), PublicID.bytes(text, prefix: "c_"))
            _ = try? ListenAddress(text)
            guard let duration = DurationText.milliseconds(text) else { return }
            _ = DurationText.text(duration)
        }
    }

    private static func link(_ prefix: String, _ bytes: [UInt8], _ name: Personal) -> String {
        prefix + Base32.encode(bytes + Hash.personal(name, bytes).prefix(3))
    }

    private static func checkInvite(_ text: String) throws {
        guard let link = try? InviteLink(text) else { return }
        let written = link.text
        let again = try InviteLink(written.qrText)
        try hold(
            again.workspace == link.workspace && again.invite == link.invite
                && again.secret.exposedSeed() == link.secret.exposedSeed(), "another link")
        try hold(again.hints.count + written.droppedHints == link.hints.count, "other hints")
        try hold(again.text.link == written.link, "two spellings of one link")
    }

    private static func checkDeviceLink(_ text: String) throws {
        guard let link = try? DeviceLink(text) else { return }
        let again = try DeviceLink(link.text.uppercased())
        try hold(again.text == link.text && again.issuer == link.issuer, "another device link")
    }

    static let text = FuzzTarget(
        "text",
        "names, messages, profiles, reactions, Slack's text: nothing shown controls a screen",
        bytesMax: 1_024
    ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        for shown in TerminalText.Place.allCases.map({ TerminalText.escaped(text, for: $0) })
            + [TerminalText.forVariable(text, maxBytes: 200), TerminalText.forLog(text)]
        {
            let bad = shown.unicodeScalars.contains {
                $0.value < 0x20 && $0 != "\n" && $0 != "\t" || (0x7F...0x9F).contains($0.value)
            }
            try hold(!bad, "a control character is shown")
        }
        try hold(TerminalText.forLog(text).utf8.count <= 4 * 256, "a long log line")
        let width = TerminalText.displayWidth(TerminalText.truncated(text, toColumns: 20))
        try hold(width <= 20, "truncated to \(width) columns")
        if let name = try? CheckedName(authored: text) {
            try CheckedName.checkWire(name.text)
            _ = (NameFolding.key(of: name.text), NameLikeness.skeleton(of: name.text))
        }
        _ = (try? CheckedName.checkWire(bytes), try? MessageText.check(bytes))
        if let sign = ReactionSign.checked(text) {
            let canonical = ReactionSign.canonical(sign)
            try hold(ReactionSign.canonical(canonical) == canonical, "two forms of a reaction")
        }
        _ = (SlackText.converted(text), SlackText.unescaped(text), MessageText.isBlank(text))
        _ = ProfileText.shown(phone: text)
    }

    static let beacon = FuzzTarget(
        "beacon", "a datagram of the local network; the same bytes again", bytesMax: 128
    ) { bytes in
        guard let packet = BeaconPacket(untrusted: bytes) else { return }
        try hold(packet.bytes == bytes && packet.port != 0, "another packet")
        let key = SymmetricKey([UInt8](repeating: 7, count: 32))
        try hold(
            !packet.matches(key, from: .ipv4(1), wallMilliseconds: .max), "a key that nobody has")
    }
}
