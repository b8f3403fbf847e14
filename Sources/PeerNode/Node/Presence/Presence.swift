import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Who is online, in each workspace: told over links, never stored, dropped with the link.
extension Presences {
    // MARK: The own choice

    /// Applies the presence that this person's devices have chosen, and tells it where it has
    /// changed.
    func reviewPresence(of workspace: Workspace) throws(StorageError) {
        guard home != nil else { return }
        var choice = PresenceChoice()
        if let place = core.own.place(ofPreference: PresenceChoice.setting, in: workspace),
            let row = try store.view.own.register(place),
            case .preference(_, let value)? = try core.own.register(place, in: workspace)
        {
            choice = PresenceChoice(setting: value, at: row.timestamp)
        }
        workspace.own.presenceChoice = choice
        showPresence(of: workspace)
    }

    private func showPresence(of workspace: Workspace) {
        let now = workspace.own.presenceChoice.effective(at: time.wall)
        guard now != workspace.own.shownPresence else { return }
        let before = workspace.own.shownPresence.update(asks: false)
        workspace.own.shownPresence = now
        untoldPresence.insert(workspace.number)
        guard PresenceObject.Shown(before) != .init(now.update(asks: false)) else { return }
        core.events.pass(
            .presenceChanged, presenceObject(of: workspace.member, in: workspace).json,
            in: workspace)
    }

    /// The next time at which this member's presence has to be told, on the monotonic clock. Only
    /// when a choice expires, or was made within two seconds of the previous one.
    var nextPresenceDeadline: UInt64? {
        guard home != nil else { return nil }
        var first = Earliest()
        for workspace in untoldPresence {
            first.take((toldPresence[workspace] ?? 0) &+ Limits.presenceMilliseconds)
        }
        for workspace in workspaces.values {
            guard let until = workspace.own.presenceChoice.until,
                workspace.own.shownPresence == workspace.own.presenceChoice
            else { continue }
            first.take(time.monotonic &+ (until > time.wall ? until - time.wall : 0))
        }
        return first.moment
    }

    /// Ends the choices whose time is over.
    func endPresences() {
        guard home != nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.own.presenceChoice.until != nil {
            showPresence(of: workspace)
        }
    }

    // MARK: Telling

    /// Tells presence: all of it to newly connected peers, and changes to everybody.
    func tellPresence() {
        guard home != nil else { return }
        let due = untoldPresence.filter { number in
            toldPresence[number].map {
                $0 &+ Limits.presenceMilliseconds <= time.monotonic
            } ?? true
        }
        untoldPresence.subtract(due)
        for number in due { toldPresence[number] = time.monotonic }
        for link in network.ordered where !link.isClosing {
            for sync in link.orderedSyncs
            where sync.owesPresence || due.contains(sync.workspace) {
                sync.owesPresence = false
                guard sync.standing == .full, let workspace = core.workspaces[sync.workspace],
                    workspace.standing == .member, workspace.ownRole ?? .guest <= .member,
                    companion(on: link, in: workspace) != nil
                else { continue }
                let word = workspace.own.shownPresence.update(asks: sync.presence == nil)
                link.session.send(.presence(sync.number, word), in: .control, isUnasked: false)
            }
        }
    }

    /// Whose presence a link carries: somebody else who is more than a guest.
    func companion(on link: PeerLink, in workspace: Workspace) -> MemberID? {
        guard let device = link.peer?.device,
            let standing = workspace.members.first(where: { $0.devices.contains(device) }),
            standing.member != workspace.member, standing.role <= .member
        else { return nil }
        return standing.member
    }

    // MARK: Hearing

    /// Takes over what a peer says of itself. The link's handshake says who speaks, and nobody
    /// can speak for somebody else.
    func presenceHeard(_ word: PresenceUpdate, in workspace: Workspace, on link: PeerLink) {
        guard home != nil, let sync = link.syncs[workspace.number], sync.standing == .full,
            sync.passing.take(at: time.monotonic),
            workspace.ownRole ?? .guest <= .member,
            let member = companion(on: link, in: workspace)
        else { return }
        if word.asks { sync.owesPresence = true }
        changePresence(of: [(workspace, member)]) {
            sync.presence = word
            network.departures.forget(member, in: workspace.number)
        }
    }

    /// Does something that may change who is there, and tells what has changed by it.
    func changePresence(
        of people: [(workspace: Workspace, member: MemberID)], _ change: () -> Void
    ) {
        let before = people.map { presence(of: $0.member, in: $0.workspace) }
        change()
        guard home != nil else { return }
        for (index, (workspace, member)) in people.enumerated() {
            let now = presence(of: member, in: workspace)
            guard now != before[index] else { continue }
            core.events.pass(
                .presenceChanged, presenceObject(of: member, in: workspace).json, in: workspace)
        }
    }

    /// A link is gone, and with it what came over it: what its other end said of itself, and whom
    /// that one said to reach.
    func forgetPresence(on link: PeerLink) {
        var ended: [(workspace: Workspace, member: MemberID)] = []
        var others: [(workspace: Workspace, member: MemberID)] = []
        for sync in link.orderedSyncs
        where home != nil && sync.standing == .full {
            guard let workspace = core.workspaces[sync.workspace] else { continue }
            let member = companion(on: link, in: workspace)
            if let member { ended.append((workspace, member)) }
            others += departed(sync.reach, in: workspace).filter { $0.member != member }
        }
        ended += awaited(on: link).filter { one in
            !ended.contains { $0.workspace === one.workspace && $0.member == one.member }
        }
        changePresence(of: ended + others) {
            for sync in link.syncs.values {
                sync.presence = nil
                sync.reach = []
            }
            noteDepartures(of: ended, with: link)
        }
    }

    /// Drops the presence of, and from, members who are guests now, and asks those who are no
    /// longer guests: they are not new on an existing link.
    func reviewCompanions(in changed: Set<Int64>) {
        guard home != nil else { return }
        for link in network.ordered {
            for sync in link.orderedSyncs
            where changed.contains(sync.workspace) {
                guard let workspace = core.workspaces[sync.workspace], sync.standing == .full,
                    workspace.ownRole ?? .guest <= .member,
                    companion(on: link, in: workspace) != nil
                else {
                    sync.presence = nil
                    continue
                }
                if sync.presence == nil { sync.owesPresence = true }
            }
        }
    }

    /// The keys are dropped: what was heard is forgotten, and asked for again afterwards.
    func forgetPresences() {
        untoldPresence = []
        network.departures.forgetAll()
        for link in network.links.values {
            for sync in link.syncs.values {
                sync.presence = nil
                sync.owesPresence = sync.standing == .full
            }
        }
    }

    // MARK: Reading

    /// The presence of a member: as they say, or `unknown`. `nil` for members who are offline or
    /// out, and for guests, whose presence is not told.
    func presence(of member: MemberID, in workspace: Workspace) -> PresenceObject.Shown? {
        if member == workspace.member {
            return PresenceObject.Shown(workspace.own.shownPresence.update(asks: false))
        }
        // Presence from before this person became a guest is outdated, since no update follows.
        guard workspace.ownRole ?? .guest <= .member,
            let standing = workspace.members.first(where: { $0.member == member }),
            standing.role <= .member
        else { return nil }
        var best: (word: PresenceUpdate, device: DeviceID)?
        for link in network.ordered {
            guard let word = link.syncs[workspace.number]?.presence, let peer = link.peer,
                standing.devices.contains(peer.device)
            else { continue }
            if let other = best,
                (other.word.chosen, other.device) >= (word.chosen, peer.device)
            {
                continue
            }
            best = (word, peer.device)
        }
        guard let word = best?.word else {
            return isOffline(standing, in: workspace) ? nil : PresenceObject.Shown.unknown
        }
        if let until = word.until, until <= time.wall {
            return PresenceObject.Shown(PresenceUpdate(.online))
        }
        return word.state == .offline ? nil : PresenceObject.Shown(word)
    }

    func presenceObject(of member: MemberID, in workspace: Workspace) -> PresenceObject {
        var object = PresenceObject(
            id: PublicID.member(member), name: workspace.displayName(of: member),
            isSelf: member == workspace.member)
        if let shown = presence(of: member, in: workspace) { object.shown = shown }
        return object
    }
}

extension PresenceObject.Shown {
    init(_ word: PresenceUpdate) {
        self.init(
            state: word.state.word, text: word.text, emoji: word.emoji,
            until: word.until.map { Int64(clamping: $0) })
    }
}
