import SyncProtocol
import WorkspaceModel

/// One session with its replica and planner; the test plays the peer.
struct LoneSession {
    static let own = DeviceID([UInt8](repeating: 1, count: 32))
    static let peer = DeviceID([UInt8](repeating: 2, count: 32))
    static let tag = WorkspaceTag([UInt8](repeating: 9, count: 16))

    var session: SyncSession
    var replica = ModelReplica(authorityDocument: SyncWorld.authority)
    var now: UInt64 = 0

    init(source: UInt64 = 1) {
        session = SyncSession(
            SyncSession.Configuration(
                workspace: 1, tag: Self.tag, ownDevice: Self.own, peerDevice: Self.peer,
                source: source))
    }

    mutating func give(
        _ input: SyncSession.Input, _ planner: inout PullPlanner
    ) -> [SyncSession.Effect] {
        session.handle(input, at: now, replica: replica, planner: &planner)
    }

    /// Opens the session on both sides; the peer's root is one that nobody has.
    mutating func open(
        _ planner: inout PullPlanner, as standing: SyncSession.Standing = .full
    ) -> [SyncSession.Effect] {
        let first = give(.opened(standing, agreed: nil), &planner)
        return first + give(.received(Self.opening(root: 0x99)), &planner)
    }

    static func opening(root: UInt8) -> SyncMessage {
        .workspaceOpen(
            WorkspaceOpening(
                workspace: 4, tag: tag, root: SetDigest([UInt8](repeating: root, count: 32)),
                agreedRoot: nil, mine: .zero))
    }

    /// A tip that is not in the replica.
    static func tip(_ number: Int, document: Int = 1, sequence: UInt64 = 0) -> LogTip {
        var device = [UInt8](repeating: 0x70, count: 32)
        for place in 0..<4 { device[place] = UInt8(truncatingIfNeeded: number >> (place * 8)) }
        return LogTip(
            log: LogName(
                document: SyncWorld.document(document), device: DeviceID(device), incarnation: 1),
            sequence: sequence,
            id: Identifier16([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)))
    }

    static func run(_ log: LogName, first: UInt64 = 0, count: Int = 1) -> OperationRun {
        OperationRun(
            log: log, firstSequence: first,
            previous: first > 0 ? SyncMessageSamples.operation : nil,
            entries: (0..<count).map {
                SyncMessageSamples.entry(at: UInt64($0), payload: [UInt8(truncatingIfNeeded: $0)])
            })
    }
}

extension [SyncSession.Effect] {
    var messages: [SyncMessage] {
        compactMap { if case .send(let message, _, _) = $0 { message } else { nil } }
    }

    var pulls: [PullRequest] {
        messages.compactMap { if case .pull(_, let pull) = $0 { pull } else { nil } }
    }

    var violation: SyncViolation? {
        for case .close(let violation) in self { return violation }
        return nil
    }

    var deadline: UInt64?? {
        for case .setDeadline(let due) in self.reversed() { return .some(due) }
        return .none
    }
}
