import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A membership that others do not know: the member who admitted this device had been removed, or
/// the admission never reached anybody else. Only other members can tell, and the only sign is that
/// they serve nothing.
extension Memberships {
    /// A member, as far as this node knows, who does not know this device as a member's. A peer
    /// that has compared equal with this device does know it: if it had been removed since, the
    /// peer would send the remove. A single peer may lie. But if a removed member admitted many
    /// devices, these do compare equal with each other. So the doubt is reported together with
    /// their number.
    func doubt(about workspace: Workspace) -> MembershipDoubt? {
        guard isInHere(workspace) else { return nil }
        var equals = Set(
            store.peers.agreedDevices(workspace: workspace.number)
                .compactMap { workspace.owner(of: $0) })
        equals.remove(workspace.member)
        guard !isVouchedFor(by: equals, in: workspace) else { return nil }
        for link in network.ordered {
            guard let device = link.peer?.device, let sync = link.syncs[workspace.number],
                let since = sync.unknownSince,
                time.monotonic >= since &+ Limits.unknownMembershipMilliseconds,
                standing(of: device, in: workspace) == .full,
                let member = workspace.owner(of: device), !equals.contains(member)
            else { continue }
            return MembershipDoubt(member: member, equals: equals.count)
        }
        return nil
    }

    /// Whether one of the members who compared equal with this device came in without the member
    /// who admitted it: then others know this device, whatever a single peer claims. The founder
    /// was admitted by nobody.
    private func isVouchedFor(by equals: Set<MemberID>, in workspace: Workspace) -> Bool {
        guard let host = admitter(of: workspace.member, in: workspace) else { return true }
        return equals.contains { !isIn($0, by: host, workspace) }
    }

    /// Whether `member` is `host`, or was admitted by `host`, directly or through others.
    private func isIn(_ member: MemberID, by host: MemberID, _ workspace: Workspace) -> Bool {
        var (next, seen): (MemberID?, Set<MemberID>) = (member, [])
        while let one = next, seen.insert(one).inserted {
            if one == host { return true }
            next = admitter(of: one, in: workspace)
        }
        return false
    }

    /// The member who first admitted another one; `nil` for the founder.
    private func admitter(of member: MemberID, in workspace: Workspace) -> MemberID? {
        let devices = devices(everOf: member, in: workspace)
        for id in workspace.judged.evaluator.bindings(of: devices) {
            guard case .admit(let joiner, _, _, _)? = workspace.authority[id]?.payload,
                joiner.member == member
            else { continue }
            return workspace.judged.evaluator.author(of: id)
        }
        return nil
    }

    /// The warnings of `status` about such memberships.
    var doubtWarnings: [StatusObject.Warning] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            guard let doubt = doubt(about: workspace) else { return nil }
            let error = NodeError.doubted(workspace, doubt)
            return .init(kind: .membershipUnknown, message: error.message, hint: error.hint)
        }
    }
}

/// A member who does not know the local membership.
struct MembershipDoubt {
    let member: MemberID
    /// How many others have compared equal with this device.
    let equals: Int
}

extension NodeError {
    /// Joining again changes nothing while the answer of the first admitter is kept.
    static func doubted(_ workspace: Workspace, _ doubt: MembershipDoubt) -> NodeError {
        let person = workspace.displayName(of: doubt.member)
        let others = doubt.equals > 1 ? "; \(doubt.equals) others see it as you do" : ""
        return .forbidden(
            "\(quoted(person)) does not know you as a member of \(quoted(workspace.displayName)): "
                + "the person who let you in may have been removed\(others)",
            reason: "membership.unknown",
            hint:
                "ask an owner whether you are a member; if not: wsx-node workspace leave, then "
                + "join again with a link from them")
    }
}
