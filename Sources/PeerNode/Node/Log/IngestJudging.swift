import CRDTStore
import WorkspaceModel

/// Which authority operations are accepted (PROTOCOL.md, 4.0.4): faulty ones are refused, and void
/// ones take no space.
extension OperationLog {
    /// The outcome for an authority operation whose whole past is here.
    enum AuthorityArrival {
        /// It breaks a rule on every node, so its sender breaks one too.
        case refused(AuthFault)
        /// It has no effect, and nothing depends on it.
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
        let isOwn = source == .ourselves || log.device == turn.session.ownDevice
        let isAwaited =
            waiting.awaitsForMembers(.operation(operation.id))
            || waiting.awaitsForMembers(.previous(operation.id))
            || waiting.isWanted(.init(log, operation.header.sequence))
        let before = shares.authorityBudget.passedOver(operation.id)
        let isFree = isOwn || source.isBackfill
        // The same among the same has no other verdict.
        if before == workspace.judged.evaluator.count, !isAwaited, !isFree { return .dropped }
        if shares.isUsedUpByFaults(source, in: workspace) { return .dropped }
        if isOwn, !source.isBackfill { shares.countOwn(operation, payload, of: log, in: workspace) }
        var payment: AuthorityBudget.Payment?
        if !isFree, before == nil {
            payment = shares.pay(for: operation, payload, of: log, in: workspace, from: source)
            if payment == nil { return .dropped }
        }
        let looks = workspace.judged.looks
        let change: AuthChange
        do throws(AuthError) {
            change = try workspace.judged.add(
                AuthOperation(operation.id, operation.header, payload, in: workspace))
        } catch {
            // Not its author's share, who may be anybody's guess until it is judged. Nobody passes on
            // what has a fault, so who brings it pays.
            payment.map { shares.authorityBudget.refund($0) }
            guard case .faulty(let fault) = error else { return .refused(.noReference) }
            shares.chargeFault(workspace.judged.looks - looks, to: source, in: workspace)
            return .refused(fault)
        }
        let payer: UnsettledVerdicts.Payer? =
            isFree
            ? nil
            : shares.payer(of: payment, for: operation, of: log, in: workspace, from: source)
        payer.map { shares.charge($0, for: change) }
        sink.notePayer(payer)
        // A first sync brings what somebody stores, which is what something rests on: who cites a
        // void operation may come long after it.
        let isForLater =
            workspace.judged.evaluator.awaitsLaterVersion
            && workspace.judged.evaluator.isOpaque(operation.id)
        // Operations by this person's devices are kept (S-2).
        let isNeeded =
            workspace.judged.evaluator.isValid(operation.id) || isFree || isAwaited || isForLater
            || workspace.owner(of: log.device) == workspace.member
        if isNeeded || !workspace.judged.withdraw(operation.id) { return .taken(change) }
        shares.authorityBudget.notePassedOver(operation.id, among: workspace.judged.evaluator.count)
        return .dropped
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
        // A device that is joining asks before it is a member.
        guard workspace.standing == .member else { return false }
        if workspace.judged.evaluator.bestGrant(of: device) == nil { return true }
        let own = (link.peer?.labels ?? []).filter { $0.workspace == workspace.id }
        return !own.isEmpty
            && own.allSatisfy { label in
                guard case .workspace(_, let secret) = label else { return false }
                return Int(secret) + 1 < workspace.discovery.count
            }
    }

}

extension AuthOperation {
    /// The evaluator's input for an operation whose form and signature were checked. What it cites
    /// has to be in the workspace already.
    convenience init(
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
            isWellBound: isBound && cuts != nil, action: payload.action, cuts: CutTable(cuts ?? []),
            introducedKey: payload.newKey, namedKey: payload.namedKey,
            takesPlace: payload.takesPlace)
    }

    /// The same, read from a header.
    convenience init(
        _ id: OperationID, _ header: OperationHeader, _ payload: AuthorityPayload,
        in workspace: Workspace
    ) {
        self.init(
            id, Workspace.AuthorityRecord(payload, header, arrival: 0, in: workspace.id),
            previous: header.previous, dependencies: header.dependencies.map(\.id), in: workspace)
    }
}

extension Workspace.AuthorityRecord {
    /// The content of an authority operation, and where it is stored.
    convenience init(
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
