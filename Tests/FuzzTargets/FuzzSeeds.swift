import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Inputs that a fuzzer begins with where there is no corpus yet: whatever is right, once each.
public enum FuzzSeeds {
    /// Writes them into a folder for each target.
    public static func write(into folder: String) throws {
        let scene = try FuzzScene.shared.get()
        var seeds: [String: [[UInt8]]] = [:]
        seeds["session"] = sessions(scene)
        (seeds["messages"], seeds["frames"]) = try conversation(scene)
        seeds["payloads"] = payloads(scene)
        seeds["cbor"] = payloads(scene).map { Array($0.dropFirst()) }
        seeds["control"] = lines.map { [0] + $0 } + requests.map { [1] + $0 }
        seeds["http"] = requests.map { [1] + $0 } + requests.map { [200] + $0 }
        seeds["json"] = lines.map { Array($0.dropLast()) }
        seeds["links"] = links(scene)
        seeds["text"] = texts.map { Array($0.utf8) }
        seeds["search"] = texts.map { Array("plan \"a b\" 회의\n\($0) plan a b 회의실".utf8) }
        seeds["backup"] = [[0, 0, 0, 3, 1, 2, 3, 0, 0, 2, 4, 5], [1, 1, 0, 9], [0, 2, 0, 1, 7]]
        seeds["sealed"] = (0..<6).map { [$0] + [UInt8](repeating: 1, count: 96) }
        seeds["beacon"] = [[UInt8](repeating: 4, count: BeaconPacket.byteCount)]
        seeds["blobs"] =
            texts.map { [2] + Array($0.utf8) } + [[0, 0x80], [1, 0x82, 0, 5], [3, 0x47, 0x49]]
        seeds["notes"] = [
            [0, 0x82, 0x40, 0x81, 0x84, 0, 0, 0, 0x62, 0x68, 0x69],
            Array(
                ("\u{2}" + #"{"version": [1, 0], "patch": [[0, 1, "x"]], "cursor": [1, 0]}"#).utf8),
        ]
        seeds["handshake"] = handshakes(scene)
        try FileSystem.makeFolder(folder)
        for target in FuzzTarget.all {
            try FileSystem.makeFolder("\(folder)/\(target.name)")
            for (number, bytes) in (seeds[target.name] ?? []).enumerated()
            where bytes.count <= target.bytesMax {
                let path = "\(folder)/\(target.name)/seed-\(number)"
                _ = try FileSystem.remove(path)
                try FileSystem.create(path, with: bytes)
            }
        }
    }

    // MARK: Peers

    private static func field(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)] + bytes
    }

    private static var contents: [[UInt8]] {
        [
            ContentPayload.message(.init(text: "hello")).encoded,
            ContentPayload.message(.init(text: "@Ada **look** https://example.org")).encoded,
        ]
    }

    private static func authority(_ scene: FuzzScene) -> [[UInt8]] {
        scene.runs.filter { $0.run.log.document == scene.mallory.workspace }.flatMap {
            $0.run.entries.map(\.payload)
        }
    }

    private static func sessions(_ scene: FuzzScene) -> [[UInt8]] {
        var all: [[UInt8]] = [[2], [2, 10, 2, 11, 10, 2], [2, 8, 3, 4, 0, 1]]
        let numbers = scene.runs.indices.map { UInt8(truncatingIfNeeded: $0) }
        all.append([2] + numbers.flatMap { [3, $0] })
        all.append([2] + numbers.flatMap { [4, $0, 0, 8, $0] })
        for content in contents {
            all.append([2, 5, 0, 0] + field(content) + [5, 0, 0] + field(content) + [10, 1])
            all.append([2, 7, 1, 0, 0] + field(content) + [5, 12, 1] + field(content))
        }
        for payload in authority(scene) where payload.count < 1_000 {
            all.append([2, 6, 0] + field(payload) + [10, 1] + [6, 1] + field(payload))
        }
        let said: [SyncMessage] = [
            .ping(number: 1, isAnswer: false), .error(code: "sync.x", retryAfterMilliseconds: 5),
            .tips(1, scene.runs.map(\.tip), final: true),
            .operations(1, request: 1, scene.runs.prefix(3).map(\.run), isComplete: true),
        ]
        for message in said { all.append([2, 0, 1] + field(message.encoded())) }
        return all
    }

    /// What Ada says to somebody who opens the workspace, and the same in frames.
    private static func conversation(
        _ scene: FuzzScene
    ) throws -> (messages: [[UInt8]], frames: [[UInt8]]) {
        let (bench, ada) = try scene.bench()
        let peer = try FuzzPeer(scene, to: ada, on: bench)
        peer.open()
        bench.advance(31_000)
        var messages = peer.messages.map { $0.encoded() }
        messages += scene.runs.map {
            SyncMessage.operations(1, request: 0, [$0.run], isComplete: true).encoded()
        }
        let frames = messages.filter { $0.count < 4_000 }.map { message in
            field([5] + field(message)) + field([1] + field(message) + [4, 0, 1, 0x30])
        }
        return (messages, frames)
    }

    private static func payloads(_ scene: FuzzScene) -> [[UInt8]] {
        let device = HandshakePayload(scene.mallory.identity, wallMilliseconds: 1).encoded
        let record = AddressRecord(
            signedBy: scene.mallory.signing, at: 5,
            addresses: [PeerAddress("10.0.0.1:5")].compactMap { $0 })
        return authority(scene).map { [1] + $0 } + contents.map { [2] + $0 } + [
            [9] + device, [10, 0x80], [11] + record.row, [8, 0x80],
        ]
    }

    private static func handshakes(_ scene: FuzzScene) -> [[UInt8]] {
        let payload = HandshakePayload(scene.mallory.identity, wallMilliseconds: 1).encoded
        let ping = [4] + field(SyncMessage.ping(number: 1, isAnswer: false).encoded())
        return [0, 1, 2, 3].map { [$0, 200] + payload } + [[4, 200] + ping, [5, 200] + ping]
    }

    // MARK: People and programs

    private static var lines: [[UInt8]] {
        Command.methods.map { command in
            let request: JSONValue = [
                "jsonrpc": "2.0", "id": 1, "method": .string(command.name),
                "params": command.example,
            ]
            return request.bytes + [0x0A]
        }
    }

    private static let requests: [[UInt8]] = [
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /events?types=message HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /hooks/general HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{\"text\":\"hi\"}",
        "POST /hooks/general HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n"
            + "{\"blocks\":[{\"type\":\"section\",\"text\":{\"type\":\"mrkdwn\",\"text\":\"*a*\"}}]}",
        "GET /files/b_01hx9t4c HTTP/1.1\r\nRange: bytes=-5\r\nIf-Range: \"b_01hx9t4c\"\r\n\r\n",
        "PUT /files?name=a.txt HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        "POST /rpc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "2e\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"node.version\"}\r\n0\r\n\r\n",
        "POST /api/chat.postMessage HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded"
            + "\r\nContent-Length: 23\r\nExpect: 100-continue\r\n\r\nchannel=general&text=%41",
    ].map { Array($0.utf8) }

    private static let texts = [
        "Ada Lovelace", "회의실 👍🏽 e\u{301}", "a\u{1b}[31mred\u{7}", "*bold* <https://x.org|y> &lt;",
        "\u{202e}drawkcab", "+49 30 1234-56", "\u{feff}\u{200b}hidden",
    ]

    private static func links(_ scene: FuzzScene) -> [[UInt8]] {
        let words = RecoveryPhrase(using: SeededRandom(seed: 9)).words.joined(separator: " ")
        let body = [UInt8](repeating: 6, count: 40)
        return [
            [0] + scene.invite.utf8, [2] + body + [4, 10, 0, 0, 1, 0, 80],
            [2] + body + [1, 1, 0x61, 0, 9],
            [3] + body.prefix(24) + [6] + body.prefix(16) + [0, 1],
            [4] + "10.0.0.1:4000".utf8, [4] + "[fe80::1%3]:80".utf8, [4] + "a.example:1".utf8,
            [5] + words.utf8, [6] + body.prefix(16), [7] + "ABCDEFGH".utf8, [8] + "::1".utf8,
            [9] + "1h30m".utf8, [9] + "127.0.0.1:29790".utf8,
        ]
    }
}
