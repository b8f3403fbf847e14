import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Everything that happens because time has passed.
extension NodeCore {
    /// When the core wants to be asked again at the latest, on the monotonic clock.
    var nextDeadline: UInt64? {
        var deadlines: [UInt64] = []
        for link in network.links.values {
            link.session.nextDeadline.map { deadlines.append($0) }
            link.agreementDue.map { deadlines.append($0) }
            link.farewell.map { deadlines.append($0.due) }
            deadlines += link.syncs.values.compactMap(\.deadline)
        }
        network.budget.nextDeadline.map { deadlines.append($0) }
        network.addressNews.due.map { deadlines.append($0) }
        // What nothing is done about now must not keep the loop awake.
        let rest = network.fullDisk.until
        if mayDialPeers { network.registry.nextDeadline.map { deadlines.append(max($0, rest)) } }
        deadlines += network.contests.map(\.deadline)
        for join in network.joins {
            join.deadline.map { deadlines.append($0) }
            if join.hasOthers, join.stage != .syncing { join.turnEnds.map { deadlines.append($0) } }
            if join.stage == .searching, join.dial == nil, join.connection == nil,
                !join.addresses.isEmpty, !network.registry.isSuspended
            {
                deadlines.append(max(join.nextDial, rest))
            }
        }
        if let linking = network.linking {
            deadlines.append(linking.deadline)
            if linking.isWaitingToDial, !network.registry.isSuspended {
                deadlines.append(max(linking.nextDial, rest))
            }
        }
        deadlines += subscriptions.waiters.map(\.deadline)
        deadlines += subscriptions.keepalives
        receiptsDue.map { deadlines.append($0) }
        erasureDue.map { deadlines.append($0) }
        if mayWrite, home != nil { deadlines.append(nextVoidErasure) }
        forgettingDue.map { deadlines.append($0) }
        patrolDue.map { deadlines.append($0) }
        deadlines += keyChanges.deadlines
        deadlines += confirmations.deadlines
        deadlines += guestsDue.values.flatMap(\.values)
        payloadErasureDue.map { deadlines.append($0) }
        judgingDue.map { deadlines.append($0) }
        if search.quietAfter > time.monotonic { deadlines.append(search.quietAfter) }
        nextMarker.map { deadlines.append($0) }
        nextReminder.map { deadlines.append($0) }
        deadlines += presenceDeadlines
        network.ownHistory.nextDeadline.map { deadlines.append($0) }
        if network.announces, mayLink, !network.registry.isSuspended,
            !network.listening.isEmpty
        {
            deadlines.append(network.beacons.next)
        }
        return deadlines.min()
    }

    func processDeadlines() throws(StorageError) {
        let now = time.monotonic
        endOverdueAnonymous()
        for link in network.ordered {
            if let due = link.agreementDue, due <= now { try grantAgreement(to: link) }
            if let due = link.session.nextDeadline, due <= now {
                try perform(link.session.tick(now: now), on: link)
            }
            for sync in link.syncs.values.sorted(by: { $0.workspace < $1.workspace }) {
                if let due = sync.deadline, due <= now {
                    sync.deadline = nil
                    try feed(.deadline, to: sync, on: link)
                }
            }
        }
        try endContests()
        subscriptions.noteKeepalives(now: now)
        try turnJoins()
        try expireJoins()
        try eraseDeleted()
        try eraseForgotten()
        try eraseVoid()
        try eraseRedacted()
        try expireLinking()
        try changeKeysWhenDue()
        try confirmWhenDue()
        try answerDeparturesWhenDue()
        try addGuestsWhenDue()
        try mailWhenDue()
        try writeMarkers()
        try tellAddressesWhenDue()
        endPresences()
        dialWhenDue()
        announceWhenDue()
    }

    /// Whether there is somebody to prove on a link: also while the keys are dropped.
    private var mayLink: Bool { home != nil || lock.certified != nil }

    /// Without a workspace there is no secret to dial under.
    private var mayDialPeers: Bool {
        mayLink && !network.registry.isSuspended
            && workspaces.values.contains { $0.standing == .member }
    }

    private func dialWhenDue() {
        guard !network.registry.isSuspended, mayLink,
            !network.fullDisk.isOn(at: time.monotonic)
        else { return }
        for index in network.joins.indices {
            guard let address = network.joins[index].addressDue(now: time.monotonic) else {
                continue
            }
            network.joins[index].dial = network.nextJoinDial
            effects.append(.dial(number: network.nextJoinDial, address: address.text))
            network.nextJoinDial -= 1
        }
        if let address = network.linking?.addressDue(now: time.monotonic) {
            let number = network.nextJoinDial
            network.linking?.dial = number
            effects.append(.dial(number: number, address: address.text))
            network.nextJoinDial -= 1
        }
        guard mayDialPeers else { return }
        for dial in network.registry.dialsDue(now: time.monotonic) {
            effects.append(.dial(number: dial.number, address: dial.address.text))
        }
    }
}
