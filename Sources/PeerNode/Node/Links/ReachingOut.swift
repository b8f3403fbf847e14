import CRDTStore
import WorkspaceModel

/// Finding peers: dialling them, and sending beacons into the local network.
extension Links {
    /// When somebody is dialled or called next.
    var nextReachingDeadline: UInt64? {
        var first = Earliest()
        if mayDialPeers {
            first.take(network.registry.nextDeadline.map { max($0, network.fullDisk.until) })
        }
        if network.addresses.announces, mayLink, !network.registry.isSuspended,
            !network.addresses.listening.isEmpty
        {
            first.take(network.beacons.next)
        }
        return first.moment
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

    /// Without a workspace there is no secret to dial with.
    private var mayDialPeers: Bool {
        mayLink && !network.registry.isSuspended
            && workspaces.values.contains { $0.standing == .member }
    }
}
