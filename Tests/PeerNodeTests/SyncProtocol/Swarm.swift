import SyncProtocol
import Testing
import WorkspaceModel

/// A node that lacks everything, and sources that claim to have it, each on a separate link: what
/// arrives when, on a clock that jumps from event to event.
final class Swarm {
    /// How a source answers a pull.
    enum Kind: CaseIterable {
        case honest
        /// Never.
        case late
        /// With one operation after four seconds.
        case trickling
        /// With one operation at once.
        case single
        /// With half of it, as if that were all.
        case half
        /// With nothing, as if that were all.
        case notFound
        /// With what nobody signed, for which its link is closed.
        case junk
        /// Not: it goes, and comes back a second later.
        case withdrawing
    }

    private struct Event {
        let time: UInt64
        let number: Int
        let happens: (Swarm) -> Void
    }

    private let kinds: [Kind]
    private let truth: ModelReplica
    private(set) var goal = ModelReplica(authorityDocument: SyncWorld.authority)
    private(set) var now: UInt64 = 1_000
    private var planner = PullPlanner()
    private var sessions: [SyncSession?]
    private var deadlines: [UInt64?]
    /// When a source's link has sent what it is sending.
    private var freeAt: [UInt64]
    private var events: [Event] = []
    private var inputs: [(input: SyncSession.Input, source: Int)] = []
    private var count = 0
    private var links: UInt64 = 0
    var trace: [String] = []
    /// Operations that came more than once.
    private(set) var repeated = 0

    private static let latency: UInt64 = 20
    private static let bytesPerMillisecond = 1_000

    /// Logs of 50 operations of a KiB each.
    init(_ kinds: [Kind], logs: Int = 30) {
        self.kinds = kinds
        sessions = kinds.map { _ in nil }
        deadlines = kinds.map { _ in nil }
        freeAt = kinds.map { _ in 0 }
        var truth = ModelReplica(authorityDocument: SyncWorld.authority)
        for number in 0..<logs {
            let log = LoneSession.tip(number).log
            var last: OperationID?
            for place in 0..<50 {
                truth.write(
                    log, behind: last,
                    payload: [UInt8](repeating: UInt8(truncatingIfNeeded: place), count: 1_024))
                last = truth.newest
            }
        }
        self.truth = truth
        for source in kinds.indices { open(source) }
    }

    var isWhole: Bool { goal.operations.count == truth.operations.count }

    /// Goes on until everything is here.
    ///
    /// - Returns: after how many milliseconds; `nil` where that is not so in the time.
    func run(for most: UInt64) -> UInt64? {
        let start = now
        while !isWhole {
            let due = deadlines.enumerated().compactMap { place, due in due.map { ($0, place) } }
                .min { $0 < $1 }
            let next = events.min { ($0.time, $0.number) < ($1.time, $1.number) }
            guard let time = [due?.0, next?.time].compactMap({ $0 }).min(), time <= start + most
            else { return nil }
            now = max(now, time)
            if let next, next.time <= time {
                events.removeAll { $0.number == next.number }
                next.happens(self)
            } else if let due {
                deadlines[due.1] = nil
                give(.deadline, to: due.1)
            }
        }
        return now - start
    }

    /// What each source is, and what is missing with who pulls it.
    var report: String {
        let missing = truth.documents.flatMap { truth.tips(of: $0) }.filter { !goal.holds($0) }
        let pulled = missing.map { tip in
            "\(goal.branchTips(of: tip.log).last?.sequence ?? 0) "
                + "by \(planner.source(of: tip.log).map(String.init) ?? "nobody")"
        }
        return "\(kinds) at \(now): \(goal.operations.count), missing: \(pulled)"
    }

    // MARK: Links

    private func open(_ source: Int) {
        links += 1
        sessions[source] = SyncSession(
            SyncSession.Configuration(
                workspace: 1, tag: LoneSession.tag, ownDevice: LoneSession.own,
                peerDevice: DeviceID([UInt8](repeating: UInt8(10 + source), count: 32)),
                source: links))
        give(.opened(.full, agreed: nil), to: source)
        give(.received(LoneSession.opening(root: 0x99)), to: source)
        let tips = truth.documents.flatMap { truth.tips(of: $0) }
        give(.received(.tips(4, tips, final: true)), to: source)
    }

    private func close(_ source: Int, isBackIn pause: UInt64?) {
        give(.closed, to: source)
        sessions[source] = nil
        deadlines[source] = nil
        if let pause { after(pause) { $0.open(source) } }
    }

    private func after(_ milliseconds: UInt64, _ happens: @escaping (Swarm) -> Void) {
        count += 1
        events.append(Event(time: now + milliseconds, number: count, happens: happens))
    }

    private func give(_ input: SyncSession.Input, to source: Int) {
        inputs.append((input, source))
        guard inputs.count == 1 else { return }
        while let (input, source) = inputs.first {
            if var session = sessions[source] {
                let effects = session.handle(input, at: now, replica: goal, planner: &planner)
                sessions[source] = session
                for effect in effects { perform(effect, of: source) }
            }
            inputs.removeFirst()
        }
    }

    private func perform(_ effect: SyncSession.Effect, of source: Int) {
        switch effect {
        case .send(.pull(_, let pull), _, _): answer(pull, by: source)
        case .ingest(let runs, let request): ingest(runs, answering: request, from: source)
        case .replanOthers:
            for other in kinds.indices where other != source { give(.replan, to: other) }
        case .setDeadline(let due): deadlines[source] = due
        case .close(let violation): Issue.record("source \(source) ends: \(violation)")
        default: break
        }
    }

    private func ingest(_ runs: [OperationRun], answering request: RequestNumber, from source: Int)
    {
        guard kinds[source] != .junk else { return close(source, isBackIn: nil) }
        let before = goal.operations.count
        let (moved, waiting) = goal.ingest(runs)
        repeated += runs.reduce(0) { $0 + $1.entries.count } - (goal.operations.count - before)
        let tips = moved.flatMap { log in
            goal.branchTips(of: log).map { LogTip(log: log, sequence: $0.sequence, id: $0.id) }
        }
        for other in kinds.indices {
            give(
                .stored(
                    tips, waiting: other == source ? waiting : [],
                    answering: other == source ? request : nil), to: other)
        }
    }

    // MARK: Answers

    private func answer(_ pull: PullRequest, by source: Int) {
        trace.append("\(now) \(source) \(kinds[source]) \(pull.items.count) \(pull.maxBytes)")
        switch kinds[source] {
        case .late: break
        case .honest:
            let (runs, isComplete) = runs(for: pull)
            say(runs, isComplete: isComplete, to: pull, by: source)
        case .trickling, .single:
            let pause: UInt64 = kinds[source] == .single ? 0 : 4_000
            let one = runs(for: pull).runs.prefix(1).map { Self.beginning(of: $0, 1) }
            say(one, isComplete: false, to: pull, by: source, after: pause)
        case .half:
            let whole = runs(for: pull).runs
            let half = whole.prefix((whole.count + 1) / 2).map {
                Self.beginning(of: $0, ($0.entries.count + 1) / 2)
            }
            say(half, isComplete: true, to: pull, by: source)
        case .notFound: say([], isComplete: true, to: pull, by: source)
        case .junk: say(runs(for: pull).runs, isComplete: true, to: pull, by: source)
        case .withdrawing: after(Self.latency) { $0.close(source, isBackIn: 1_000) }
        }
    }

    private func runs(for pull: PullRequest) -> (runs: [OperationRun], isComplete: Bool) {
        var found: [OperationRun] = []
        var left = pull.maxBytes
        for item in pull.items {
            guard case .runs(let runs, let isWhole) = truth.runs(for: item, maxBytes: left) else {
                continue
            }
            found += runs
            left -= runs.reduce(0) { $0 + $1.encodedBytesMax }
            guard isWhole, left > 0 else { return (found, false) }
        }
        return (found, true)
    }

    private static func beginning(of run: OperationRun, _ count: Int) -> OperationRun {
        OperationRun(
            log: run.log, firstSequence: run.firstSequence, previous: run.previous,
            entries: [OperationRun.Entry](run.entries.prefix(count)))
    }

    private func say(
        _ runs: [OperationRun], isComplete: Bool, to pull: PullRequest, by source: Int,
        after pause: UInt64 = 0
    ) {
        let bytes = runs.reduce(64) { $0 + $1.encodedBytesMax }
        let start = max(now + Self.latency + pause, freeAt[source])
        freeAt[source] = start + UInt64(bytes / Self.bytesPerMillisecond)
        let link = links
        after(freeAt[source] + Self.latency - now) { swarm in
            // What was said on a link that is gone is heard by nobody.
            guard swarm.kinds[source] != .withdrawing || link == swarm.links else { return }
            swarm.give(
                .received(
                    .operations(4, request: pull.request, runs, isComplete: isComplete)),
                to: source)
        }
    }
}
