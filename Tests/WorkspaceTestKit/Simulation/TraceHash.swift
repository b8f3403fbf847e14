import PeerNode
private import WorkspaceCrypto
import WorkspaceModel

/// A hash over all actions of all nodes, with times: equal for two runs of one
/// seed, in any process.
public struct TraceHash: Sendable, Equatable {
    /// 32 bytes that stand for all effects so far.
    public private(set) var bytes = [UInt8](repeating: 0, count: 32)
    /// How many effects went in.
    public private(set) var count = 0

    /// Adds what `node` did at `now`.
    mutating func add(_ effect: NodeEffect, node: Int, now: UInt64) {
        count += 1
        let head = Array("\(node) \(now) ".utf8)
        bytes = Hash.personal("wsx-trace", bytes, head, Self.encoded(effect))
    }

    private static func encoded(_ effect: NodeEffect) -> [UInt8] {
        switch effect {
        case .answer(let call, .success(let value)):
            Array("answer \(call.connection) \(call.number) ".utf8) + value.bytes
        case .answer(let call, .failure(let error)):
            Array("refuse \(call.connection) \(call.number) \(error)".utf8)
        case .write(let link, let bytes): Array("write \(link.number) ".utf8) + bytes
        case .close(let link): Array("close \(link.number)".utf8)
        case .dial(let number, let address): Array("dial \(number) \(address)".utf8)
        case .setNetwork(let isOn): Array("network \(isOn)".utf8)
        case .announce(let bytes, _): Array("announce ".utf8) + bytes
        case .log(let level, let text): Array("log \(level.rawValue) \(text)".utf8)
        case .putOff: Array("off".utf8)
        case .job: Array("job".utf8)
        case .deriveKeys(let call, _): Array("stretch \(call.connection) \(call.number)".utf8)
        case .inspect(let call, _): Array("inspect \(call.connection) \(call.number)".utf8)
        case .search: Array("search".utf8)
        case .blob: Array("blob".utf8)
        case .notify(let notice): Array("notify ".utf8) + notice.input
        case .lookAtMeter: Array("meter".utf8)
        case .mail(let letter): Array("mail ".utf8) + letter.input
        case .checkToken(_, let question): Array("token ".utf8) + question
        case .forgetNotices: Array("forget".utf8)
        case .wipeHome: Array("wipe".utf8)
        case .stop: Array("stop".utf8)
        case .fail: Array("fail".utf8)
        }
    }

    /// The hash in hexadecimal digits.
    public var text: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
