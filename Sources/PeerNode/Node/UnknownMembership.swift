import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A membership that others do not know: whoever let this device in had been removed, or shows what
/// nobody else has. Only others can tell, and they say no more than that they serve nothing.
extension NodeCore {
    /// Somebody who is in, as far as is known here, and does not know this device as a member. Who has held
    /// the same as this device knows it: were it out since, they would say by what. As many have to say so as
    /// hold the same, for one of them alone may lie.
    func doubter(of workspace: Workspace) -> MemberID? {
        guard isInHere(workspace) else { return nil }
        var equals = Set(
            store.peers.agreedDevices(workspace: workspace.number)
                .compactMap { workspace.owner(of: $0) })
        equals.remove(workspace.member)
        guard !isVouchedFor(by: equals, in: workspace) else { return nil }
        var doubters: Set<MemberID> = []
        for link in network.ordered {
            guard let device = link.peer?.device, let sync = link.syncs[workspace.number],
                let since = sync.unknownSince,
                time.monotonic >= since &+ Limits.unknownMembershipMilliseconds,
                standing(of: device, in: workspace) == .full,
                let member = workspace.owner(of: device), !equals.contains(member)
            else { continue }
            doubters.insert(member)
        }
        let voices = Set(doubters.map { voice(of: $0, in: workspace) })
        return voices.count >= equals.count ? doubters.min() : nil
    }

    /// Whose word somebody's is: members may let people in without number, who say what they are told to.
    private func voice(of member: MemberID, in workspace: Workspace) -> MemberID {
        var (voice, seen): (MemberID, Set<MemberID>) = (member, [])
        while seen.insert(voice).inserted, let host = admitter(of: voice, in: workspace),
            workspace.role(of: host).map({ $0 > .admin }) ?? true
        {
            voice = host
        }
        return voice
    }

    /// Whether one of those who hold the same as this device does not owe being in to the one who let it
    /// in: then others know it, whatever one of them says. Nobody let the founder in.
    private func isVouchedFor(by equals: Set<MemberID>, in workspace: Workspace) -> Bool {
        guard let host = admitter(of: workspace.member, in: workspace) else { return true }
        return equals.contains { !isIn($0, by: host, workspace) }
    }

    /// Whether somebody is a certain person, or was let in by that one, or by whom that one let in.
    private func isIn(_ member: MemberID, by host: MemberID, _ workspace: Workspace) -> Bool {
        var (next, seen): (MemberID?, Set<MemberID>) = (member, [])
        while let one = next, seen.insert(one).inserted {
            if one == host { return true }
            next = admitter(of: one, in: workspace)
        }
        return false
    }

    /// Who let somebody in first; `nil` for the founder.
    private func admitter(of member: MemberID, in workspace: Workspace) -> MemberID? {
        let devices = devices(everOf: member, in: workspace)
        for id in workspace.evaluator.bindings(of: devices) {
            guard case .admit(let joiner, _, _, _)? = workspace.authority[id]?.payload,
                joiner.member == member
            else { continue }
            return workspace.evaluator.author(of: id)
        }
        return nil
    }

    /// What `status` says of such memberships.
    var doubtWarnings: [StatusObject.Warning] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            guard let member = doubter(of: workspace) else { return nil }
            let error = NodeError.doubted(workspace, by: member)
            return .init(kind: "membership.unknown", message: error.message, hint: error.hint)
        }
    }
}

extension NodeError {
    /// To join once more changes nothing while what the first one who answered said is kept.
    static func doubted(_ workspace: Workspace, by member: MemberID) -> NodeError {
        let (name, person) = (workspace.displayName, workspace.displayName(of: member))
        return .forbidden(
            "\(quoted(person)) does not know you as a member of \(quoted(name)): whoever let you in may "
                + "have been removed",
            reason: "membership.unknown",
            hint:
                "ask an owner whether you are in; if not: wsx-node workspace leave, then join again "
                + "by a link of theirs")
    }
}
