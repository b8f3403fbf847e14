import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Whose share pays for the operations that somebody has others judge (PROTOCOL.md, 4.0.4: S-5, S-8
/// and S-10; for logs that begin see `BeginningLogs.swift`).
final class LogShares: LogPart {
    /// How much authority somebody may still have this node take in.
    var authorityBudget = AuthorityBudget()

    /// Charges a share for an operation (S-5).
    ///
    /// First the member's share pays. When that is used up the device's own does, so that the thief
    /// of one device, or the holder of a link, cannot delay a revocation by another device. Then
    /// the share of someone whose operations need it: a removal cites what the removed person
    /// wrote.
    func pay(
        for operation: CheckedOperation, _ payload: AuthorityPayload, of log: LogName,
        in workspace: Workspace, from source: OperationSource
    ) -> AuthorityBudget.Payment? {
        let author = payer(of: log.device, source, in: workspace)
        var shares = [AuthorityBudget.Share(payload.isDoor ? .doors : .authority, of: author)]
        share(of: log.device, in: workspace).map { shares.append($0) }
        let vouchers = vouchers(for: .init(log, operation.header.sequence), author, in: workspace)
        shares += vouchers.map { .init(.vouched, of: $0) }
        let role = workspace.judged.evaluator.role(
            ofGrant: operation.header.grant, device: log.device)
        let units = AuthorityBudget.units(
            of: payload, byteCount: operation.payload.count,
            isByAdmin: role.map { $0 <= .admin } ?? false)
        let payment = authorityBudget.pay(units, from: shares, now: time.monotonic)
        guard payment == nil else { return payment }
        authorityBudget.noteDelayed(author, time.monotonic)
        authorityBudget.holdBack(
            holder(of: log, in: workspace), neededBy: vouchers, now: time.monotonic)
        return nil
    }

    /// Who pays for the verdicts that an operation reverses, which only applying it shows.
    ///
    /// The author of a role grant pays nothing for it: the verdicts it reverses are about the
    /// grantee's operations, including device ends that count under the role. Admins decide how
    /// often that happens, so the grantee pays no more than they would. A grant that does not count
    /// is no exception: anyone can write one, and an author with a used-up share could so have
    /// verdicts reversed that nobody pays for.
    ///
    /// - Parameter payment: what has paid for the operation itself; `nil` for one that was passed
    ///   over and comes again, which pays only for the verdicts it reverses.
    func payer(
        of payment: AuthorityBudget.Payment?, for operation: CheckedOperation, of log: LogName,
        in workspace: Workspace, from source: OperationSource
    ) -> UnsettledVerdicts.Payer {
        let evaluator = workspace.judged.evaluator
        if case .grant(let grant)? = operation.authority, grant.drops == nil,
            evaluator.isValid(operation.id)
        {
            let subject = AuthorityBudget.Share(.authority, of: grant.member.bytes)
            if authorityBudget.hasRoom(in: subject, now: time.monotonic) {
                return .init(shares: [subject], isCapped: true)
            }
        }
        let role = evaluator.actingRole(of: operation.id)
        let author = AuthorityBudget.Share(
            .authority, of: payer(of: log.device, source, in: workspace))
        return .init(
            shares: Set([payment?.share, author].compactMap { $0 }),
            isCapped: role.map { $0 <= .admin } ?? false)
    }

    /// Has those who pay for the verdicts that an operation has turned over in the authority document
    /// do so (S-5).
    func charge(_ payer: UnsettledVerdicts.Payer, for change: AuthChange) {
        let units = AuthorityBudget.units(
            ofVerdicts: change.all.count, further: change.furtherWork,
            isCapped: payer.isCapped)
        guard units > 0 else { return }
        authorityBudget.charge(units, to: payer.shares, now: time.monotonic)
    }

    /// The own share of a device; `nil` for one that nothing valid binds.
    func share(
        of device: DeviceID, in workspace: Workspace
    ) -> AuthorityBudget.Share? {
        guard let owner = workspace.owner(of: device),
            let entry = workspace.judged.evaluator.binding(of: device, to: owner)
        else { return nil }
        guard workspace.authority[entry]?.payload.isLink == true else {
            return .init(.device, of: workspace.id.bytes + device.bytes)
        }
        // By its place, and not by its name: stronger ones can come without number.
        let place = workspace.judged.evaluator.placeAmongLinked(
            device, of: owner, most: Limits.linkedDeviceSharesMax)
        return .init(
            .linkedDevice, of: workspace.id.bytes + owner.bytes + [UInt8(clamping: place)])
    }

    /// Whose additional share pays for an author's operation: that of other members who need it,
    /// and of each stronger device of the same member that does. Nobody can create more of these.
    ///
    /// An owner or admin has one for each member whose operations are needed, and in private documents
    /// everybody has: who has accomplices would use up one for all of them, by giving each node other
    /// operations than the one whose word cites them has taken.
    func vouchers(
        for place: WaitingRoom.Place, _ author: [UInt8], in workspace: Workspace
    ) -> [[UInt8]] {
        let log = place.log
        var payers: [[UInt8]] = []
        for voucher in room.waiting.vouchers(for: place) {
            var payer = voucher.member
            if payer == author {
                // An unknown device does not count as stronger.
                guard let member = workspace.owner(of: voucher.device),
                    workspace.judged.evaluator.isStronger(
                        voucher.device, than: log.device, of: member)
                else { continue }
                payer = workspace.id.bytes + voucher.device.bytes
            } else if log.document != workspace.id || isAdmin(voucher, in: workspace) {
                payer += author
            }
            if payers.last != payer { payers.append(payer) }
        }
        return payers
    }

    /// Whether somebody who needs an operation is an owner or admin with that device.
    func isAdmin(_ voucher: WaitingRoom.Voucher, in workspace: Workspace) -> Bool {
        let grant = workspace.judged.evaluator.bestGrant(of: voucher.device)
        return grant.flatMap {
            workspace.judged.evaluator.role(ofGrant: $0, device: voucher.device)
        }
        .map { $0 <= .admin } ?? false
    }

    /// Whether more of a log is not asked for, because no share could pay for it a moment ago.
    func holdsBack(_ log: LogName, in workspace: Workspace) -> Bool {
        guard authorityBudget.holdsAnythingBack, let author = workspace.owner(of: log.device) else {
            return false
        }
        let vouchers = vouchers(for: .init(log, 0), author.bytes, in: workspace)
        let isNew = store.operations.branchCount(of: log, in: workspace.number) == 0
        let holders =
            [holder(of: log, in: workspace)] + (isNew ? [holder(ofNew: log, in: workspace)] : [])
        return holders.contains {
            authorityBudget.isHeldBack($0, neededBy: vouchers, now: time.monotonic)
        }
    }

    // MARK: Faults

    /// Charges the device that brings an operation with a fault (S-10). Its author pays nothing: that
    /// person may have lost the device that signed it.
    ///
    /// - Parameter looks: how many others were examined to find the fault.
    func chargeFault(_ looks: Int, to source: OperationSource, in workspace: Workspace) {
        guard let share = faultShare(of: source, in: workspace) else { return }
        authorityBudget.chargeFault(looks, to: share, now: time.monotonic)
    }

    /// Whether a peer has brought so much with a fault that nothing more is judged that it brings.
    func isUsedUpByFaults(_ source: OperationSource, in workspace: Workspace) -> Bool {
        guard authorityBudget.hasFaults, let share = faultShare(of: source, in: workspace) else {
            return false
        }
        return authorityBudget.isUsedUpByFaults(share, now: time.monotonic)
    }

    /// The share for what has a fault: that of the device that brings it. Keys cost nothing, so all
    /// devices of a host that nothing valid binds have one together. So has what waited when its link
    /// ended. `nil` where nothing is charged.
    private func faultShare(
        of source: OperationSource, in workspace: Workspace
    ) -> AuthorityBudget.Share? {
        guard source != .ourselves, !source.isBackfill else { return nil }
        let link = network.links[LinkID(source.number)]
        guard let bringer = source.bringer ?? link?.peer?.device else {
            return .init(.faults, of: workspace.id.bytes)
        }
        if let own = share(of: bringer, in: workspace) {
            return .init(.faults, of: [own.kind.rawValue] + own.payer)
        }
        return .init(.faults, of: link.map { Array($0.host.utf8) } ?? bringer.bytes)
    }

    // MARK: Private documents and the profile

    /// Has shares pay for those among these that stay in memory, one after the other: operations of
    /// kind 3, and all of the profile document (S-8).
    ///
    /// - Returns: how many operations, from the first, are paid for.
    func pay(
        forKept operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) -> Int {
        let isProfile = log.document == workspace.profileDocument
        let isOwn = source == .ourselves || log.device == turn.session.ownDevice
        func isCounted(_ operation: CheckedOperation) -> Bool {
            isProfile || operation.header.kind == OperationKind.privateAuthority.rawValue
        }
        guard !source.isBackfill, operations.contains(where: isCounted),
            isProfile || isPaidFor(log.document, in: workspace)
        else { return operations.count }
        let author = payer(of: log.device, source, in: workspace)
        for (offset, operation) in operations.enumerated() where isCounted(operation) {
            let vouchers = vouchers(
                for: .init(log, operation.header.sequence), author, in: workspace)
            let shares =
                [AuthorityBudget.Share(isProfile ? .profile : .privateAuthority, of: author)]
                + [share(of: log.device, in: workspace)].compactMap { $0 }
                + vouchers.map { .init(isProfile ? .vouchedProfile : .vouchedPrivate, of: $0) }
            // Everybody's is bounded, as an admin's is there: who relays it cannot tell who is one.
            let units = AuthorityBudget.units(
                ofPayload: Int(clamping: operation.header.payloadLength), isByAdmin: true)
            let payment = authorityBudget.pay(units, from: shares, now: time.monotonic)
            guard payment == nil else { continue }
            authorityBudget.noteDelayed(author, time.monotonic)
            guard !isOwn else { continue }
            authorityBudget.holdBack(
                holder(of: log, in: workspace), neededBy: vouchers, now: time.monotonic)
            return offset
        }
        return operations.count
    }

    /// Whether a document may be a private one: one whose root is not here is not known to be.
    func isPaidFor(_ document: DocumentID, in workspace: Workspace) -> Bool {
        document != workspace.id && document != workspace.mailboxDocument
            && document != workspace.profileDocument && workspace.book.channels[document] == nil
    }

    /// The name under which no more is requested when part of a log could not be paid for: a device
    /// in a document, or all of a device that begins documents which nobody here has.
    func holder(of log: LogName, in workspace: Workspace) -> [UInt8] {
        let document = log.document
        let isKnown =
            document == workspace.id || workspace.book.channels[document] != nil
            || store.operations.document(document, in: workspace.number) != nil
        return (isKnown ? document : .zero).bytes + workspace.id.bytes + log.device.bytes
    }

    // MARK: Own operations

    /// Counts an operation of this device as everybody else does, to report it when others have to
    /// wait for it.
    func countOwn(
        _ operation: CheckedOperation, _ payload: AuthorityPayload, of log: LogName,
        in workspace: Workspace
    ) {
        let isByAdmin = workspace.ownRole.map { $0 <= .admin } ?? false
        let units = AuthorityBudget.units(
            of: payload, byteCount: operation.payload.count, isByAdmin: isByAdmin)
        var shares = [
            payload.isDoor
                ? ownDoors(in: workspace) : .init(.authority, of: workspace.member.bytes)
        ]
        if !payload.isDoor { share(of: log.device, in: workspace).map { shares.append($0) } }
        guard authorityBudget.pay(units, from: shares, now: time.monotonic) == nil else { return }
        authorityBudget.noteDelayed(workspace.member.bytes, time.monotonic)
    }

    /// Whether others would take a request or admission that is written here now. If they would
    /// not, they could not take what follows it in this device's log either.
    func mayOpenDoor(in workspace: Workspace) -> Bool {
        authorityBudget.hasRoom(in: ownDoors(in: workspace), now: time.monotonic)
    }

    private func ownDoors(in workspace: Workspace) -> AuthorityBudget.Share {
        .init(.doors, of: workspace.member.bytes)
    }

    /// Whose share pays for an operation: its author's. For an unknown author it is that of the
    /// device that sends it, since keys cost nothing (S-5).
    func payer(
        of device: DeviceID, _ source: OperationSource, in workspace: Workspace
    ) -> [UInt8] {
        let bringer = source.bringer ?? network.links[LinkID(source.number)]?.peer?.device
        let devices = [device, bringer].compactMap { $0 }
        let owner = devices.lazy.compactMap { workspace.owner(of: $0) }.first
        return owner?.bytes ?? (bringer ?? device).bytes
    }
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
