import CRDTStore
import PeerNode
import WorkspaceCrypto
import WorkspaceModel

/// The actions of all nodes in a world, as three hashes: programs that behave
/// alike have equal ones.
///
/// Texts for people are excluded: messages and hints of errors and warnings, and the part of a log
/// line after its first word. Their wording may improve without a change of behaviour.
public struct BehaviourHashes: Sendable, Equatable {
    /// Of what was sent, dialled, answered and closed, with the time of each, and of every deadline:
    /// 16 hexadecimal digits.
    public let effects: String
    /// Of every event, in the order of recording, and of what `events.wait` tells of them in the end.
    public let events: String
    /// Of the rows of everything that is derived, at the end.
    public let views: String

    /// Hashes as they were recorded.
    public init(effects: String, events: String, views: String) {
        (self.effects, self.events, self.views) = (effects, events, views)
    }

    /// What differs first: what a node shows follows from what happened to it, so the effects are
    /// looked at before the events, and these before the views. `nil` for the same behaviour.
    public func firstDifference(from other: Self) -> String? {
        if effects != other.effects { return "effects" }
        if events != other.events { return "events" }
        return views == other.views ? nil : "views"
    }
}

/// Hashes a world while it runs.
public final class BehaviourRecorder {
    private let effects = HashStream("wsx-effects")
    private let events = HashStream("wsx-events")
    private let views = HashStream("wsx-views")
    /// By node, the newest event that is in the hash.
    private var newest: [Int: Int64] = [:]
    /// What is asked to tell of the events is no part of the life.
    private var isOver = false

    /// Looks at everything that happens in `world` from now on, until `finish` or the world's end.
    public init(watching world: SimulatedWorld) {
        world.onEffect = { [self, unowned world] (effect, node) in
            note(effect, by: node, at: world.now)
        }
        world.onTurn = { [self, unowned world] node in note(turnOf: node, at: world.now) }
    }

    /// Looks at what there is in the end, and lets go of the world.
    public func finish(_ world: SimulatedWorld) -> BehaviourHashes {
        for node in world.nodes where node.isRunning {
            guard let store = node.store else { continue }
            do throws(StorageError) {
                for table in BehaviourView.all {
                    Self.add("\(node.index) \(table.name)", [], to: views)
                    try table.forEachRow(of: store) { row in Self.add("row", row, to: views) }
                }
            } catch {
                Self.add("\(node.index) \(error.kind)", [], to: views)
            }
        }
        isOver = true
        for node in world.nodes where node.isRunning { tellEvents(of: node) }
        (world.onEffect, world.onTurn) = (nil, nil)
        return BehaviourHashes(
            effects: Self.text(effects), events: Self.text(events), views: Self.text(views))
    }

    // MARK: Effects

    private func note(_ effect: NodeEffect, by node: SimulatedNode, at now: UInt64) {
        guard !isOver else { return }
        let (head, bytes) = Self.described(effect)
        Self.add("\(node.index) \(now) \(head)", bytes, to: effects)
    }

    private static func described(_ effect: NodeEffect) -> (head: String, bytes: [UInt8]) {
        switch effect {
        case .answer(let call, .success(let value)):
            ("answer \(call.connection) \(call.number)", facts(of: value).bytes)
        case .answer(let call, .failure(let error)):
            ("refuse \(call.connection) \(call.number)", facts(of: error).bytes)
        case .write(let link, let bytes): ("write \(link.number)", bytes)
        case .close(let link): ("close \(link.number)", [])
        case .dial(let number, let address): ("dial \(number) \(address)", [])
        case .setNetwork(let isOn): ("network \(isOn)", [])
        case .announce(let bytes, let source): ("announce \(source)", bytes)
        case .log(let level, let text): ("log \(level.rawValue) \(text.prefix { $0 != " " })", [])
        case .putOff(.call(let call, _, _, _)): ("off \(call.connection) \(call.number)", [])
        case .putOff: ("off", [])
        case .job(let call, _): ("job \(call.connection) \(call.number)", [])
        case .deriveKeys(let call, _): ("stretch \(call.connection) \(call.number)", [])
        case .inspect(let call, _): ("inspect \(call.connection) \(call.number)", [])
        case .search: ("search", [])
        case .blob: ("blob", [])
        case .notify(let notice): ("notify", notice.input)
        case .lookAtMeter: ("meter", [])
        case .mail(let letter): ("mail", letter.input)
        case .checkToken(_, let question): ("token", question)
        case .forgetNotices: ("forget", [])
        case .wipeHome: ("wipe", [])
        case .stop: ("stop", [])
        case .fail: ("fail", [])
        }
    }

    private static func facts(of error: NodeError) -> JSONValue {
        let fields = error.fields.map { "\($0.name) \($0.reason)" }
        return [
            "kind": .string(error.kind.rawValue), "reason": JSONValue(orNull: error.reason),
            "fields": JSONValue(texts: fields), "details": facts(of: .object(error.details)),
        ]
    }

    /// A value without words for people, and without the version of the program.
    private static func facts(of value: JSONValue) -> JSONValue {
        switch value {
        case .array(let items): return .array(items.map { facts(of: $0) })
        case .object(let object):
            var left: Set<String> = []
            if object["message"] != nil, object["hint"] != nil { left = ["message", "hint"] }
            if object["api"] != nil { left.insert("version") }
            var kept = JSONObject()
            for member in object.members where !left.contains(member.key) {
                kept.append(member.key, facts(of: member.value))
            }
            return .object(kept)
        default: return value
        }
    }

    // MARK: Events

    private func note(turnOf node: SimulatedNode, at now: UInt64) {
        guard !isOver else { return }
        let deadline = node.host?.nextDeadline.map { "\($0)" } ?? "never"
        let goesOn = node.host?.hasMoreToDo ?? false
        Self.add("\(node.index) \(now) until \(deadline) \(goesOn)", [], to: effects)
        guard let log = node.store?.events else { return }
        let known = newest[node.index] ?? 0
        guard log.newest != known else { return }
        // The machine was put back: what it had told then is known.
        let start = log.newest < known ? log.newest : known
        newest[node.index] = log.newest
        do throws(StorageError) {
            for event in try log.events(after: start, limit: .max) {
                let head = """
                    \(node.index) \(event.sequence) \(event.at) \(event.type) \
                    \(event.arrival == nil) \(event.isBackfill)
                    """
                Self.add(head, event.extra ?? [], to: events)
            }
        } catch {
            Self.add("\(node.index) \(error.kind)", [], to: events)
        }
    }

    /// As a subscriber gets them who reads all of them from the beginning.
    private func tellEvents(of node: SimulatedNode) {
        var since = "all"
        while true {
            let page = node.ask(
                "events.wait", ["since": .string(since), "limit": 100, "timeout_ms": 0])
            let items = page?["items"]?.arrayValue ?? []
            for item in items { Self.add("\(node.index)", Self.facts(of: item).bytes, to: events) }
            guard !items.isEmpty, let next = page?["next"]?.stringValue else { return }
            since = next
        }
    }

    // MARK: Hashes

    /// Lengths go in too, so that no two lives are the same row of bytes.
    private static func add(_ head: String, _ bytes: [UInt8], to stream: HashStream) {
        stream.update(Array("\(head.utf8.count) \(head) \(bytes.count) ".utf8))
        stream.update(bytes)
    }

    private static func text(_ stream: HashStream) -> String {
        stream.finish().prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
