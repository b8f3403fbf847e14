import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Removes members: how much of their devices' content is kept, and the operations that state it.
extension Memberships {
    /// The cuts for the content of `devices`: the tip of every branch that this node knows of each
    /// of their logs, in all documents but the authority document, whose operations are kept by
    /// being in the past. Ascending.
    ///
    /// - Parameters:
    ///   - all: includes what an earlier revocation has cut off.
    ///   - only: restricts the cuts to this document.
    func cuts(
        ofDevices devices: Set<DeviceID>, in workspace: Workspace, keeping all: Bool = false,
        only: DocumentID? = nil
    ) -> [CutEntry] {
        var cuts: [CutEntry] = []
        for document in only.map({ [$0] })
            ?? store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            for branch in store.operations.branches(in: document, of: workspace.number)
            where devices.contains(branch.log.device) {
                let kept = branch.kept.map { ($0.sequence, $0.id) }
                guard let tip = all ? (branch.tipSequence, branch.tip.id) : kept else { continue }
                cuts.append(
                    CutEntry(
                        log: branch.log, sequence: tip.0, id: Identifier16(prefixOf: tip.1)))
            }
        }
        return cuts.sorted { ($0.log, $0.sequence, $0.id) < ($1.log, $1.sequence, $1.id) }
    }

    /// Every device that ever acted for a member.
    func devices(everOf member: MemberID, in workspace: Workspace) -> Set<DeviceID> {
        Set(workspace.judged.evaluator.devices(everOf: member))
    }

    // MARK: Members

    /// Removes a member: cuts at what this node knows and a new key, in one operation.
    ///
    /// - Parameter undoesFeatures: whether it may take back a feature that only a later version
    ///   knows.
    /// - Returns: its id, or `nil` when this device may not; then nothing is written.
    func remove(
        _ member: MemberID, from workspace: Workspace, undoingFeatures undoesFeatures: Bool = false
    ) throws(StorageError) -> OperationID? {
        let devices = devices(everOf: member, in: workspace)
        let invites = openInvites(of: member, in: workspace)
        let rekey = core.keys.rekey(excluding: devices, in: workspace)
        return try writeRemoval(
            of: member, keeping: cuts(ofDevices: devices, in: workspace), rekey: rekey,
            revoking: invites, undoingFeatures: undoesFeatures,
            naming: workspace.judged.evaluator.bindings(of: devices) + invites, in: workspace)
    }

    /// Rejects a request to join or rejoin. A former member loses no content by that: what earlier
    /// ends kept stays kept, even if this node does not hold it.
    ///
    /// - Returns: as `remove(_:from:)`.
    func turnDown(
        _ member: MemberID, in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let devices = devices(everOf: member, in: workspace)
        var kept = cuts(ofDevices: devices, in: workspace, keeping: true)
        if !devices.isEmpty {
            let listed = workspace.judged.evaluator.validOperations
                .flatMap { workspace.authority[$0]?.payload.cuts ?? [] }
            kept += Set(listed).filter { cut in
                devices.contains(cut.log.device)
                    && store.operations.branches(of: cut.log, in: workspace.number)
                        .allSatisfy { $0.tipSequence < cut.sequence }
            }
            kept.sort { ($0.log, $0.sequence, $0.id) < ($1.log, $1.sequence, $1.id) }
        }
        return try writeRemoval(of: member, keeping: kept, in: workspace)
    }

    /// Writes a remove, and before it the cutparts that do not fit into it.
    private func writeRemoval(
        of member: MemberID, keeping all: [CutEntry],
        rekey: Rekey? = nil, revoking invites: [OperationID] = [],
        undoingFeatures undoesFeatures: Bool = false, naming named: [OperationID] = [],
        in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let inline = Array(all.suffix(Limits.cutsPerOperationMax))
        let rest = all.dropLast(inline.count)
        let parts = try writeCutParts(rest, in: workspace)
        // If they cannot be written, the remove would cut off the content that they keep.
        guard rest.isEmpty || !parts.isEmpty else { return nil }
        return try core.log.authorAuthority(
            in: workspace, undoingFeatures: undoesFeatures, naming: named
        ) { _ in
            .remove(
                .init(
                    member: member, cuts: inline, rekey: rekey, revokedInvites: invites,
                    cutPartCount: UInt64(parts.count), cutPartHash: CutParts.hash(of: parts)))
        }
    }

    /// The invites of a member by which somebody could still join, oldest first.
    func openInvites(of member: MemberID, in workspace: Workspace) -> [OperationID] {
        let open = workspace.authorityOrder.filter { id in
            guard case .invite? = workspace.authority[id]?.payload else { return false }
            return workspace.judged.evaluator.author(of: id) == member
                && !workspace.judged.evaluator.isClosed(invite: id)
        }
        return Array(open.suffix(Limits.revokedInvitesMax))
    }

    /// Takes over the invites of a removed member: under the same key and with their remaining
    /// uses, so that the links stay valid.
    ///
    /// - Returns: the new invites.
    func takeOver(
        _ invites: [OperationID], in workspace: Workspace
    ) throws(StorageError) -> [OperationID] {
        var made: [OperationID] = []
        for id in invites {
            guard case .invite(let invite)? = workspace.authority[id]?.payload,
                let psk = workspace.psk(of: id)
            else { continue }
            let used = UInt64(workspace.invites.used[id] ?? 0)
            guard used < invite.maximum else { continue }
            let taken = try core.log.authorAuthority(in: workspace) { authoring in
                .invite(
                    .init(
                        role: invite.role, maximum: invite.maximum - used,
                        expires: invite.expires, publicKey: invite.publicKey,
                        approve: invite.approve, documents: invite.documents,
                        psk: authoring.sealed(psk.exposedCopy(), field: 7), policy: nil))
            }
            taken.map { made.append($0) }
        }
        return made
    }

    /// Keeps content of a removed member that has arrived since.
    ///
    /// - Returns: the recuts that were written; empty when this device may not.
    func widen(
        _ revocations: [OperationID], of member: MemberID, in workspace: Workspace
    ) throws(StorageError) -> [OperationID] {
        let all = cuts(
            ofDevices: devices(everOf: member, in: workspace), in: workspace, keeping: true)
        var written: [OperationID] = []
        for revocation in revocations {
            for part in CutParts.split(all) {
                let id = try core.log.authorAuthority(in: workspace, naming: [revocation]) { _ in
                    .recut(revocation: revocation, cuts: part)
                }
                id.map { written.append($0) }
            }
        }
        return written
    }

    /// Ends the local membership. Everything that this node has written stays.
    func leave(_ workspace: Workspace) throws(StorageError) -> OperationID? {
        let devices = devices(everOf: workspace.member, in: workspace)
        // A leave has no cutparts: its author cannot write any afterwards, or widen it.
        let cuts = self.cuts(ofDevices: devices, in: workspace).suffix(Limits.cutsPerOperationMax)
        return try core.log.authorAuthority(in: workspace) { _ in .leave(cuts: Array(cuts)) }
    }

    /// The devices of a member that a grant may list, in the order of their rank, which never
    /// changes afterwards. A barred device is not included, even if it is in by an operation that
    /// does not know that it is barred.
    func listed(_ standing: MemberStanding, in workspace: Workspace) -> [DeviceID] {
        let devices = workspace.judged.evaluator.listable(
            standing.devices, of: standing.member)
        return Array(
            workspace.judged.evaluator.byStrength(devices, of: standing.member)
                .prefix(Limits.grantedDevicesMax))
    }

    /// Gives a member another role. A weaker one replaces the earlier grants; a stronger one is
    /// added, so that nothing written meanwhile is lost.
    ///
    /// - Returns: `nil` when this device may not, or no device of the member may be listed.
    func setRole(
        _ role: Role, of standing: MemberStanding, in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let devices = listed(standing, in: workspace)
        guard !devices.isEmpty else { return nil }
        let isGuest = role > .member
        let everOf = self.devices(everOf: standing.member, in: workspace)
        // Deletions under the role that ends here stay in effect as far as the cuts keep them.
        let endsRight = standing.role <= .admin && role > .admin
        let cuts = isGuest || endsRight ? self.cuts(ofDevices: everOf, in: workspace) : []
        let parts = CutParts.split(cuts)
        let named = try gatherBindings(of: devices, in: workspace)
        let id = try core.log.authorAuthority(in: workspace, naming: named) { _ in
            .grant(
                .init(
                    member: standing.member, devices: devices, role: role,
                    replaces: role > standing.role, drops: nil, cuts: parts.first ?? []))
        }
        guard let id else { return nil }
        if role > standing.role { try endInvites(of: workspace) { everOf.contains($0) } }
        for part in parts.dropFirst() {
            _ = try core.log.authorAuthority(in: workspace, naming: [id]) { _ in
                .recut(revocation: id, cuts: part)
            }
        }
        // A new guest must not hold later keys, and a former guest must get them.
        if isGuest || standing.role == .guest { try core.keys.changeKey(of: workspace) }
        return id
    }

    // MARK: Parts

    /// Writes the cuts that do not fit into a remove right before it.
    private func writeCutParts(
        _ cuts: ArraySlice<CutEntry>, in workspace: Workspace
    ) throws(StorageError) -> [OperationID] {
        var parts: [OperationID] = []
        for part in CutParts.split(Array(cuts)).prefix(Limits.cutPartsMax) where !part.isEmpty {
            try core.log.authorAuthority(in: workspace) { _ in .cutPart(part) }.map {
                parts.append($0)
            }
        }
        return parts
    }
}
