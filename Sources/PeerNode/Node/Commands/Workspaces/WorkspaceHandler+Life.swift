import CRDTStore
import WorkspaceModel

/// Changes a workspace, transfers its ownership, and ends it.
extension WorkspaceHandler {
    func editWorkspace(
        _ draft: WorkspaceEdit, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        guard draft.name != nil || draft.description != nil || draft.image != nil else {
            throw NodeError(
                .badRequest, "nothing to change", hint: "give a name, a description or a picture",
                reason: "missing_parameter", fields: [.init(name: "name", reason: "missing")])
        }
        var name: String?
        if let wanted = draft.name {
            let checked = try NewNames.workspace(wanted, field: "name")
            try refuseTwin(of: workspace, named: checked)
            name = checked
        }
        let image = try draft.image.map { (typed) throws(NodeError) in
            try core.files.pictureChoice.text(typed)
        }
        let before = workspace.fields
        let hasChange =
            name.map { $0 != before.name } ?? false
            || draft.description.map { $0 != before.description ?? "" } ?? false
            || image.map { $0 != before.image ?? "" } ?? false
        guard let own = workspace.ownRole, own <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        guard hasChange else {
            return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
        }
        let made = try stored { () throws(StorageError) in
            try core.log.authorAuthority(in: workspace) { authoring in
                var settings = AuthorityPayload.WorkspaceSettings()
                settings.name = name.map { authoring.sealed($0, field: 1) }
                settings.description = draft.description.map { authoring.sealed($0, field: 2) }
                settings.image = image.map { authoring.sealed($0, field: 3) }
                return .setWorkspace(settings)
            }
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        draft.image.map { core.files.drafts.sent([$0]) }
        return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
    }

    private func refuseTwin(of workspace: Workspace, named name: String) throws(NodeError) {
        let isTaken = workspaces.values.contains {
            $0 !== workspace && $0.standing == .member && !core.membership.isOver($0)
                && NameFolding.matches($0.displayName, name)
        }
        guard isTaken else { return }
        throw NodeError(
            .duplicate, "there is already a workspace \(NodeError.quoted(name)) here",
            hint: "choose another name", reason: "workspace.exists",
            fields: [.init(name: "name", reason: "duplicate")])
    }

    /// Makes another member the owner; the caller stays as an admin. A single operation does both,
    /// so there is never a moment with two owners or none. The caller's open invites end.
    func transferWorkspace(
        to reference: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let heir = try standing(of: reference, in: workspace)
        guard workspace.ownRole == .owner else { throw core.membership.notAllowed(in: workspace) }
        guard heir.member != workspace.member else {
            throw NodeError(
                .badRequest, "you already own it", hint: "name another member",
                reason: "transfer.self", fields: [.init(name: "member", reason: "form")])
        }
        guard heir.role <= .member else { throw guestOwnsNothing(heir, in: workspace) }
        try refuseWeakTransfer(of: workspace)
        try core.membership.refuseWithoutDevice(heir, in: workspace)
        let made = try stored { () throws(StorageError) in try passOn(workspace, to: heir) }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
    }

    private func guestOwnsNothing(
        _ guest: MemberStanding, in workspace: Workspace
    ) -> NodeError {
        .forbidden(
            "\(NodeError.quoted(workspace.displayName(of: guest.member))) is a guest, and a guest "
                + "cannot own a workspace",
            reason: "transfer.guest",
            hint: "first: wsx-node member role "
                + NodeError.shellWord("@" + workspace.displayName(of: guest.member)) + " member")
    }

    /// The finder of a lost phone does not own the workspace: after a transfer by it, an older
    /// device of the same person would still be the owner.
    func refuseWeakTransfer(of workspace: Workspace) throws(NodeError) {
        guard let own = home?.device,
            let older = workspace.judged.devices(strongerThan: own, of: workspace.member)
                .first
        else { return }
        let id = PublicID.device(older).prefix(14)
        let name = workspace.deviceName(older) ?? String(id)
        throw .forbidden(
            "your older device \(NodeError.quoted(name)) would still own the workspace",
            reason: KnownReason.olderDevice.rawValue,
            hint: "hand it over there; if you lost that device, revoke it first: "
                + "wsx-node device revoke \(id) --phrase -")
    }

    /// Transfers the workspace so that the new owner controls all ways to join: open invites end,
    /// and where admins may invite, the former owner, now an admin, creates a new address.
    ///
    /// - Returns: as `handOver(_:to:)`.
    func passOn(
        _ workspace: Workspace, to heir: MemberStanding
    ) throws(StorageError) -> OperationID? {
        let hadAddress = try core.membership.endOwnInvites(in: workspace)
        let made = try handOver(workspace, to: heir)
        if hadAddress, workspace.fields.mayInvite != .owner {
            _ = try core.links.makeAddress(for: workspace.fields.join, in: workspace)
        }
        return made
    }

    /// - Returns: the operation that makes somebody else the owner, and its author an admin.
    func handOver(
        _ workspace: Workspace, to heir: MemberStanding
    ) throws(StorageError) -> OperationID? {
        let own = workspace.members.first { $0.member == workspace.member }
        let kept = own.map { core.membership.listed($0, in: workspace) } ?? []
        let given = core.membership.listed(heir, in: workspace)
        guard !kept.isEmpty, !given.isEmpty else { return nil }
        let named = try core.membership.gatherBindings(of: given + kept, in: workspace)
        return try core.log.authorAuthority(in: workspace, naming: named) { _ in
            .grant(
                .init(
                    member: heir.member, devices: given, role: .owner, replaces: false,
                    drops: kept, cuts: []))
        }
    }

    /// Names who gets the workspace when the owner leaves; `nil` for nobody.
    func setSuccessor(
        _ reference: MemberReference?, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        var heir: MemberID?
        if let reference, reference != .name("none") {
            let meant = try standing(of: reference, in: workspace)
            guard meant.role <= .member else { throw guestOwnsNothing(meant, in: workspace) }
            heir = meant.member
        }
        guard workspace.ownRole == .owner else { throw core.membership.notAllowed(in: workspace) }
        guard heir != workspace.member else {
            throw NodeError(
                .badRequest, "you cannot name yourself as successor", hint: "name another member",
                reason: "successor.self", fields: [.init(name: "member", reason: "form")])
        }
        guard heir != workspace.fields.successor else {
            return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
        }
        let bytes = heir?.bytes ?? []
        let made = try stored { () throws(StorageError) in
            try core.log.authorAuthority(in: workspace) { _ in
                var settings = AuthorityPayload.WorkspaceSettings()
                settings.successor = bytes
                return .setWorkspace(settings)
            }
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
    }

    /// Ends the workspace for everybody who hears of it; the name has to be given exactly.
    func deleteWorkspace(
        name: String, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace = try core.queries.shownWorkspace(scope)
        guard name == workspace.displayName else {
            // A caller who means another workspace must not be led to end this one.
            let meant = workspaces.values.contains {
                $0.standing == .member && $0.displayName == name
            }
            let current = NodeError.quoted(workspace.displayName)
            throw NodeError(
                .badRequest,
                "\(NodeError.quoted(name)) is not the name of this workspace, "
                    + "which is \(current)",
                hint: meant
                    ? "choose the other one with -w, or with 'wsx-node workspace use' first"
                    : "see 'wsx-node workspace list'; nothing was deleted",
                reason: "workspace.name", fields: [.init(name: "name", reason: "form")])
        }
        guard workspace.ownRole == .owner else { throw core.membership.notAllowed(in: workspace) }
        if workspace.fields.deletion == nil {
            let made = try stored { () throws(StorageError) in
                try core.log.authorAuthority(in: workspace) { _ in .deleteWorkspace }
            }
            guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        }
        return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
    }

    /// A current member, by id or name.
    private func standing(
        of reference: MemberReference, in workspace: Workspace
    ) throws(NodeError) -> MemberStanding {
        let text: String
        let found: [MemberStanding]
        switch reference {
        case .id(let id):
            text = id
            found = workspace.members.filter { PublicID.member($0.member) == id }
        case .name(let name):
            text = name
            let named = workspace.named(name, among: workspace.members.map(\.member))
            found = workspace.members.filter { named.contains($0.member) }
        }
        if found.count > 1 {
            throw .ambiguous(
                text,
                candidates: found.map { core.membership.person($0.member, in: workspace).json },
                field: "member")
        }
        guard let only = found.first else {
            _ = try core.profiles.former(
                text, among: workspace.members.map(\.member), in: workspace, field: "member",
                isTaken: false)
            throw .unknownUser(text, field: "member")
        }
        return only
    }
}
