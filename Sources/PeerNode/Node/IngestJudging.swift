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
        let isOwn = source == .ourselves || log.device == ownDevice
        let isAwaited =
            waiting.awaitsForMembers(.operation(operation.id))
            || waiting.awaitsForMembers(.previous(operation.id))
            || waiting.isWanted(.init(log, operation.header.sequence))
        let before = authorityBudget.passedOver(operation.id)
        let isFree = isOwn || source.isBackfill
        // The same among the same has no other verdict.
        if before == workspace.evaluator.count, !isAwaited, !isFree { return .dropped }
        if isOwn, !source.isBackfill { countOwn(operation, payload, of: log, in: workspace) }
        var payment: AuthorityBudget.Payment?
        if !isFree, before == nil {
            payment = pay(for: operation, payload, of: log, in: workspace, from: source)
            if payment == nil { return .dropped }
        }
        let change: AuthChange
        do throws(AuthError) {
            change = try workspace.add(
                AuthOperation(operation.id, operation.header, payload, in: workspace))
        } catch {
            // Nobody's share: its author may be anybody's guess until it is judged.
            payment.map { authorityBudget.refund($0) }
            if case .faulty(let fault) = error { return .refused(fault) }
            return .refused(.noReference)
        }
        // A first sync brings what somebody stores, which is what something rests on: who cites a
        // void operation may come long after it.
        let isForLater =
            workspace.evaluator.awaitsLaterVersion && workspace.evaluator.isOpaque(operation.id)
        // What own devices wrote stays (S-2).
        let isNeeded =
            workspace.evaluator.isValid(operation.id) || isFree || isAwaited || isForLater
            || workspace.owner(of: log.device) == workspace.member
        if isNeeded || !workspace.evaluator.withdraw(operation.id) { return .taken(change) }
        authorityBudget.notePassedOver(operation.id, among: workspace.evaluator.count)
        return .dropped
    }

    /// Has a share pay for an operation (S-5).
    ///
    /// What the member's has no room for is paid by the device's own: whoever steals one device, or
    /// holds a link, keeps no revocation by another one waiting. Then by that of somebody whose
    /// operations need it: a removal cites what the removed wrote.
    private func pay(
        for operation: CheckedOperation, _ payload: AuthorityPayload, of log: LogName,
        in workspace: Workspace, from source: OperationSource
    ) -> AuthorityBudget.Payment? {
        let author = payer(of: log.device, source, in: workspace)
        var shares = [AuthorityBudget.Share(payload.isDoor ? .doors : .authority, of: author)]
        share(of: log, in: workspace).map { shares.append($0) }
        let vouchers = vouchers(for: .init(log, operation.header.sequence), author, in: workspace)
        shares += vouchers.map { .init(.vouched, of: $0) }
        let role = workspace.evaluator.role(
            ofGrant: operation.header.grant, device: log.device)
        let units = AuthorityBudget.units(
            ofPayload: operation.payload.count, isByAdmin: role.map { $0 <= .admin } ?? false)
        let payment = authorityBudget.pay(units, from: shares, now: time.monotonic)
        guard payment == nil else { return payment }
        authorityBudget.noteDelayed(author, time.monotonic)
        authorityBudget.holdBack(log.holder, neededBy: vouchers, now: time.monotonic)
        return nil
    }

    /// The own share of the device that writes a log; `nil` for one that nothing valid binds.
    private func share(of log: LogName, in workspace: Workspace) -> AuthorityBudget.Share? {
        guard let owner = workspace.owner(of: log.device),
            let entry = workspace.evaluator.binding(of: log.device, to: owner)
        else { return nil }
        guard workspace.authority[entry]?.payload.isLink == true else {
            return .init(.device, of: log.holder)
        }
        // By its place, and not by its name: stronger ones can come without number.
        let place = workspace.evaluator.placeAmongLinked(
            log.device, of: owner, most: Limits.linkedDeviceSharesMax)
        return .init(
            .linkedDevice, of: log.document.bytes + owner.bytes + [UInt8(clamping: place)])
    }

    /// Whose further share pays for an operation of somebody: of other members who need it, and of
    /// each stronger device of the same one that does. Of those nobody makes more.
    private func vouchers(
        for place: WaitingRoom.Place, _ author: [UInt8], in workspace: Workspace
    ) -> [[UInt8]] {
        let log = place.log
        var payers: [[UInt8]] = []
        for voucher in waiting.vouchers(for: place) {
            var payer = voucher.member
            if payer == author {
                // A device that nobody knows yet is no stronger one.
                guard let member = workspace.owner(of: voucher.device),
                    workspace.evaluator.isStronger(voucher.device, than: log.device, of: member)
                else { continue }
                payer = log.document.bytes + voucher.device.bytes
            }
            if payers.last != payer { payers.append(payer) }
        }
        return payers
    }

    /// Whether more of a log is not asked for, because no share could pay for it a moment ago.
    func holdsBack(_ log: LogName, in workspace: Workspace) -> Bool {
        guard log.document == workspace.id, let author = workspace.owner(of: log.device) else {
            return false
        }
        let vouchers = vouchers(for: .init(log, 0), author.bytes, in: workspace)
        return authorityBudget.isHeldBack(
            log.holder, neededBy: vouchers, now: time.monotonic)
    }

    /// Counts an own operation as everybody else does, to say so when others have to wait for it.
    private func countOwn(
        _ operation: CheckedOperation, _ payload: AuthorityPayload, of log: LogName,
        in workspace: Workspace
    ) {
        let isByAdmin = workspace.ownRole.map { $0 <= .admin } ?? false
        let units = AuthorityBudget.units(
            ofPayload: operation.payload.count, isByAdmin: isByAdmin)
        var shares = [
            payload.isDoor
                ? ownDoors(in: workspace) : .init(.authority, of: workspace.member.bytes)
        ]
        if !payload.isDoor { share(of: log, in: workspace).map { shares.append($0) } }
        guard authorityBudget.pay(units, from: shares, now: time.monotonic) == nil else { return }
        authorityBudget.noteDelayed(workspace.member.bytes, time.monotonic)
    }

    /// Whether others would take a request or admission that is written here now. More of them
    /// would keep what comes behind them in the own log from everybody.
    func mayOpenDoor(in workspace: Workspace) -> Bool {
        authorityBudget.hasRoom(in: ownDoors(in: workspace), now: time.monotonic)
    }

    private func ownDoors(in workspace: Workspace) -> AuthorityBudget.Share {
        .init(.doors, of: workspace.member.bytes)
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

}

extension LogName {
    /// A workspace and a device in it, of an authority operation.
    fileprivate var holder: [UInt8] { document.bytes + device.bytes }
}

extension AuthorityPayload {
    /// Whether somebody outside causes it: a request or an admission.
    fileprivate var isDoor: Bool {
        switch self {
        case .request, .admit: true
        default: false
        }
    }

    /// Whether it links devices.
    fileprivate var isLink: Bool { if case .addDevices = self { true } else { false } }
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
