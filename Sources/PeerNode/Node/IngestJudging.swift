import CRDTStore
import WorkspaceModel

/// Which authority operations are taken in at all (PROTOCOL.md, 4.0.4): what has a fault is refused,
/// and what is void takes no room.
extension NodeCore {
    /// What becomes of an authority operation whose past is all here.
    enum AuthorityArrival {
        /// It breaks a rule, here and everywhere, and so does whoever sends it.
        case refused(AuthFault)
        /// It has no effect, and nothing rests on it.
        case dropped
        /// It is in the evaluator, and this changed by that.
        case taken(AuthChange)
    }

    /// Judges an operation that is not stored yet.
    func judge(
        _ operation: CheckedOperation, of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) -> AuthorityArrival {
        guard let payload = operation.authority else { return .refused(.unknownKind) }
        let isMine = source == .ourselves || isOwn(log.device, in: workspace)
        let isAwaited =
            waiting.awaitsForMembers(.operation(operation.id))
            || waiting.awaitsForMembers(.place(log, operation.header.sequence))
        let before = authorityBudget.passedOver(operation.id)
        let isFree = isMine || source.isBackfill
        // The same among the same has no other verdict.
        if before == workspace.evaluator.count, !isAwaited, !isFree { return .dropped }
        guard
            isFree || before != nil
                || isPaid(log, at: operation.header.sequence, in: workspace, from: source)
        else { return .dropped }
        let change: AuthChange
        do throws(AuthError) {
            change = try workspace.evaluator.add(
                AuthOperation(operation.id, operation.header, payload, in: workspace))
        } catch {
            if case .faulty(let fault) = error { return .refused(fault) }
            return .refused(.noReference)
        }
        // A first sync brings what somebody stores, which is what something rests on: who cites a
        // void operation may come long after it.
        let isNeeded =
            workspace.evaluator.isValid(operation.id) || isFree || isAwaited
        if isNeeded || !workspace.evaluator.withdraw(operation.id) { return .taken(change) }
        authorityBudget.notePassedOver(operation.id, among: workspace.evaluator.count)
        return .dropped
    }

    /// Whether a share is left for an operation: its author's, or of somebody whose operations need
    /// it. Otherwise who has used up the own share could not be removed: a removal cites what the
    /// removed wrote.
    private func isPaid(
        _ log: LogName, at sequence: UInt64, in workspace: Workspace, from source: OperationSource
    ) -> Bool {
        let author = payer(of: log.device, source, in: workspace)
        if authorityBudget.takes(from: author, now: time.monotonic) { return true }
        let voucher = waiting.voucher(for: .init(log, sequence), besides: author)
        return voucher.map {
            authorityBudget.takes(of: .vouched, from: $0, now: time.monotonic)
        } ?? false
    }

    /// Whose share an operation is counted in: its author's, or of an author whom nobody knows that
    /// of whoever brings it, for keys cost nothing (S-5).
    func payer(
        of device: DeviceID, _ source: OperationSource, in workspace: Workspace
    ) -> [UInt8] {
        let bringer = source.bringer ?? network.links[LinkID(source.number)]?.peer?.device
        let devices = [device, bringer].compactMap { $0 }
        let owner = devices.lazy.compactMap { workspace.owner(of: $0) }.first
        return owner?.bytes ?? (bringer ?? device).bytes
    }

    /// Whether what comes was brought by somebody who is nobody in the workspace.
    func isOutsider(_ source: OperationSource, in workspace: Workspace) -> Bool {
        guard source != .ourselves, let link = network.links[LinkID(source.number)],
            let device = link.peer?.device
        else { return false }
        return isOutsider(link, device, in: workspace)
    }

    /// Whether the other end is nobody here: no grant in force, or an older secret only.
    func isOutsider(_ link: PeerLink, _ device: DeviceID, in workspace: Workspace) -> Bool {
        // Who is joining asks before being anybody.
        guard workspace.standing == .member else { return false }
        if workspace.evaluator.bestGrant(of: device) == nil { return true }
        guard case .workspace(workspace.id, let secret)? = link.peer?.psk else { return false }
        return Int(secret) + 1 < workspace.discovery.count
    }

    /// Whether a device is this home's, or another of the same person.
    private func isOwn(_ device: DeviceID, in workspace: Workspace) -> Bool {
        device == ownDevice || workspace.owner(of: device) == workspace.member
    }
}

extension AuthOperation {
    /// What the evaluator is told of an operation whose form and signature were checked. What it
    /// cites has to be in the workspace already.
    init(
        _ id: OperationID, _ record: Workspace.AuthorityRecord, previous: OperationID?,
        dependencies: [OperationID], in workspace: Workspace
    ) {
        let payload = record.payload
        let cuts = CutParts.cuts(of: payload, behind: previous, in: workspace)
        let isBound = Binding.isGood(
            payload, by: record.log.device, under: record.grant, in: workspace,
            isRoot: record.isRoot)
        self.init(
            id: id, device: record.log.device, incarnation: record.log.incarnation,
            sequence: record.sequence, previous: previous, dependencies: dependencies,
            timestamp: record.timestamp.rawValue, grant: record.isRoot ? nil : record.grant,
            isWellBound: isBound && cuts != nil, action: payload.action, cuts: cuts ?? [],
            introducedKey: payload.newKey, namedKey: payload.namedKey)
    }

    /// The same, read from a header.
    init(
        _ id: OperationID, _ header: OperationHeader, _ payload: AuthorityPayload,
        in workspace: Workspace
    ) {
        self.init(
            id, Workspace.AuthorityRecord(payload, header, arrival: 0, in: workspace.id),
            previous: header.previous, dependencies: header.dependencies.map(\.id), in: workspace)
    }
}

extension Workspace.AuthorityRecord {
    /// What an operation of the authority document says, and where it lies.
    init(
        _ payload: AuthorityPayload, _ header: OperationHeader, arrival: Int64,
        in workspace: WorkspaceID
    ) {
        self.init(
            payload: payload,
            log: LogName(
                document: workspace, device: header.device, incarnation: header.incarnation),
            sequence: header.sequence, timestamp: header.timestamp, grant: header.grant,
            arrival: arrival, isRoot: header.document == .zero)
    }
}
