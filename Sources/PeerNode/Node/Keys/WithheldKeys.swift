import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Keys of private documents that this home withholds, above all from other devices of the same
/// person, while one of these may have been lost without this home having been told (PROTOCOL.md,
/// 4.4).
extension KeySchedule {
    /// Whether another device of this person gets no keys of a private document from here for now.
    func keepsWaiting(
        _ device: DeviceID, forKeysOf document: PrivateDocument, in workspace: Workspace
    ) -> Bool {
        guard let binding = bindingBesideThis(of: device, in: workspace) else { return false }
        // The person still held a device when linking it on this home.
        let isLinkedHere = binding.log.device == home?.device
        if awaitsConfirmation(workspace), !isLinkedHere { return true }
        guard let unheard = workspace.unheardEnds(in: document), isBehind(unheard, in: workspace)
        else { return false }
        return !isLinkedHere || binding.arrival < unheard.arrival
    }

    /// Whether somebody who asks is given no key of a private document for now.
    func withholds(
        keysOf document: PrivateDocument, from member: MemberID, on device: DeviceID,
        in workspace: Workspace
    ) -> Bool {
        if keepsWaiting(device, forKeysOf: document, in: workspace) { return true }
        guard member != workspace.member, let unheard = workspace.unheardEnds(in: document) else {
            return false
        }
        // A person admitted by an operation that only this home knows may have been admitted by a
        // lost device.
        return !unheard.holders.contains(member) && isBehind(unheard, in: workspace)
    }

    /// The operation that made a device another one of this person; `nil` for other devices, and
    /// for the phrase, which is on no machine.
    private func bindingBesideThis(
        of device: DeviceID, in workspace: Workspace
    ) -> Workspace.AuthorityRecord? {
        guard device != home?.device, !workspace.recoveryDevices.contains(device) else {
            return nil
        }
        return workspace.judged.binding(of: device, to: workspace.member)
            .flatMap { workspace.authority[$0] }
    }

    /// The other devices of this person that may act and were not linked here.
    private func devicesBesideThis(in workspace: Workspace) -> [DeviceID] {
        let own = workspace.members.first { $0.member == workspace.member }?.devices ?? []
        return own.filter { device in
            guard let binding = bindingBesideThis(of: device, in: workspace) else { return false }
            return binding.log.device != home?.device
        }
    }

    /// Whether this home was recovered by the phrase, and knows the workspace only from devices of
    /// this person. It would not notice what a stolen one of them withholds.
    private func awaitsConfirmation(_ workspace: Workspace) -> Bool {
        guard let home,
            let binding = workspace.judged.binding(of: home.device, to: workspace.member),
            let signer = workspace.authority[binding]?.log.device,
            workspace.recoveryDevices.contains(signer)
        else { return false }
        // Guests decide about nobody's devices.
        let others = workspace.members.filter {
            $0.member != workspace.member && $0.role != .guest
        }
        // Where nobody else is, nobody could ever confirm it.
        return !others.isEmpty && lastAgreement(with: others, in: workspace) == nil
    }

    /// Whether others knew more of the workspace than this home when they created keys of a
    /// document: those keys answer ends that are not here. Someone who was given all of these keys
    /// has no reason to hide an end, because they could give away the keys themselves: so if one of
    /// them says that nothing is missing, that is believed.
    private func isBehind(_ unheard: UnreceivedEnds, in workspace: Workspace) -> Bool {
        let others = workspace.members.filter {
            $0.member != workspace.member && unheard.holders.contains($0.member)
        }
        return (lastAgreement(with: others, in: workspace) ?? -1) < unheard.arrival
    }

    /// The arrival number up to which a device of somebody among `people` was last known to hold
    /// the same. A device that is also one of this person's does not count for others.
    private func lastAgreement(
        with people: [MemberStanding], in workspace: Workspace
    ) -> Int64? {
        let (peers, number) = (store.peers, workspace.number)
        return people.flatMap(\.devices)
            .filter { !workspace.judged.isBound($0, to: workspace.member) }
            .compactMap { device in
                let agreed = (try? peers.agreed(with: device, workspace: number))?.arrival
                return [agreed, workspace.held.agreedInScope[device]].compactMap { $0 }.max()
            }.max()
    }

    /// Takes note that a guest, or a member where this home is a guest's, has the same of all that both
    /// may know. The authority document is part of that; it is worth as much until the node ends.
    func noteAgreedInScope(_ workspace: Workspace, with link: PeerLink) {
        guard let device = link.peer?.device else { return }
        workspace.held.agreedInScope[device] = Int64(
            clamping: CoreReplica(for: self, workspace: workspace, peer: device).arrival)
    }

    // MARK: Keys made by this device

    /// Whether the next content of a document needs a key that this side has created and mailed.
    ///
    /// In a conversation of several people that someone else created, its creator may have given
    /// the key to only some of them. And while other devices of this person have to wait, a key
    /// that they hold cannot be used.
    func owesKey(of document: PrivateDocument, in workspace: Workspace) -> Bool {
        let makers = document.authority.epochs.lazy.compactMap { document.records[$0.operation] }
        if awaitsConfirmation(workspace), !devicesBesideThis(in: workspace).isEmpty {
            return !makers.contains { $0.log.device == self.home?.device }
        }
        return document.root?.subtype == .directMessage && document.people.count > 2
            && !makers.contains { $0.author == workspace.member }
    }

    // MARK: Giving later

    /// Gives this person's devices the keys that they asked for and did not get, as far as nothing
    /// forbids it now.
    func giveWithheld(in workspace: Workspace) throws(StorageError) {
        for link in network.ordered where !link.keys.withheld.isEmpty {
            for (document, want) in link.keys.withheld.sorted(by: { $0.key < $1.key })
            where workspace.sealed.documents[document] != nil {
                link.keys.withheld[document] = nil
                try core.sink.keysWanted(want, in: workspace, on: link)
            }
        }
    }

    // MARK: Telling

    /// One sentence for each workspace in which other devices of this person wait, and until when.
    private var waits: [String] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            let devices = devicesBesideThis(in: workspace)
            guard workspace.standing == .member, !devices.isEmpty,
                isPrivate(somewhereIn: workspace),
                awaitsConfirmation(workspace)
            else { return nil }
            let names = devices.prefix(Self.namedMax).map { device in
                NodeError.quoted(
                    workspace.deviceName(device) ?? String(PublicID.device(device).prefix(10)))
            }
            let more = devices.count > names.count ? " and others" : ""
            return "in \(NodeError.quoted(workspace.displayName)) your other devices "
                + "(\(names.joined(separator: ", "))\(more)) cannot read what you write privately "
                + "here until this one has "
                + (memberThere(in: workspace).map {
                    "compared everything with \(NodeError.quoted($0)), who is connected: this takes "
                        + "a minute or two"
                } ?? "reached another member")
        }
    }

    /// Whether there is a conversation in which other devices of this person might have to wait for
    /// keys.
    private func isPrivate(somewhereIn workspace: Workspace) -> Bool {
        workspace.sealed.documents.values.contains { document in
            document.root != nil && !workspace.isOwn(document)
                && document.isIn(workspace.member)
        }
    }

    /// The name of a member who is linked with this home and can confirm what it knows.
    private func memberThere(in workspace: Workspace) -> String? {
        for link in network.ordered {
            guard let device = link.peer?.device, !link.isClosing,
                link.syncs[workspace.number]?.standing == .full,
                let member = workspace.owner(of: device), member != workspace.member,
                workspace.role(of: member).map({ $0 != .guest }) == true,
                !workspace.judged.isBound(device, to: workspace.member)
            else { continue }
            return workspace.displayName(of: member)
        }
        return nil
    }

    private static let namedMax = 5
    private static let waitHint = "revoke those you have lost: wsx-node device list"

    /// A warning for each workspace.
    func withheldWarnings() -> [StatusObject.Warning] {
        waits.map { .init(kind: .keysWithheld, message: $0, hint: Self.waitHint) }
    }

    /// A finding for each workspace.
    func withheldFindings() -> [FindingObject] {
        waits.map { .init(id: "keys", state: "warn", message: $0, hint: Self.waitHint) }
    }
}

extension Workspace {
    /// The ends that a document's keys answer and that are not here.
    func unheardEnds(in document: PrivateDocument) -> UnreceivedEnds? {
        if let known = judged.derived.unheard[document.id] { return known }
        let found = findUnheard(in: document)
        judged.derived.unheard[document.id] = .some(found)
        return found
    }

    private func findUnheard(in document: PrivateDocument) -> UnreceivedEnds? {
        let authority = document.authority
        let keys = authority.epochs
            .filter { $0.epoch.answers.contains { self.authority[$0] == nil } }
            .compactMap { known in
                document.records[known.operation].map { (known.operation, $0.arrival) }
            }.sorted { $0.1 < $1.1 }
        guard let newest = keys.last?.1 else { return nil }
        let seats = document.records.mapValues { $0.change?.action.seats.map(\.member) ?? [] }
            .filter { !$0.value.isEmpty }
        var holders = document.people.filter { authority.ends(of: $0).isEmpty }
        // The first are enough: nobody who joined later was given those.
        for (key, _) in keys.prefix(Limits.unprovenKeysMax) {
            let given = seats.filter { $0.key == key || authority.isAncestor($0.key, of: key) }
            holders.formIntersection(given.values.joined())
        }
        return UnreceivedEnds(arrival: newest, holders: holders)
    }
}
