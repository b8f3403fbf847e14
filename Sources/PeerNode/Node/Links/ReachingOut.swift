import CRDTStore
import WorkspaceModel

/// Finding others: dialling them, and calling into the local network.
extension Links {
    /// When somebody is dialled or called next.
    var reachingDeadlines: [UInt64] {
        var deadlines: [UInt64] = []
        if mayDialPeers {
            network.registry.nextDeadline.map { deadlines.append(max($0, network.fullDisk.until)) }
        }
        if network.addresses.announces, mayLink, !network.registry.isSuspended,
            !network.addresses.listening.isEmpty
        {
            deadlines.append(network.beacons.next)
        }
        return deadlines
    }

    /// Tells addresses, dials and calls, as far as that is due.
    func reachOut() throws(StorageError) {
        try tellAddressesWhenDue()
        if !network.registry.isSuspended, mayLink, !network.fullDisk.isOn(at: time.monotonic) {
            core.entrances.dialWhenDue()
            if mayDialPeers {
                for dial in network.registry.dialsDue(now: time.monotonic) {
                    turn.emit(.dial(number: dial.number, address: dial.address.text))
                }
            }
        }
        announceWhenDue()
    }

    /// Whether there is somebody to prove on a link: also while the keys are dropped.
    private var mayLink: Bool { home != nil || turn.session.lock.certified != nil }

    /// Without a workspace there is no secret to dial under.
    private var mayDialPeers: Bool {
        mayLink && !network.registry.isSuspended
            && workspaces.values.contains { $0.standing == .member }
    }
}
