import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The ways into a workspace: joining by a link, linking a device, recovering by the phrase, and
/// the answering side of each.
final class Enrolment: Component {
    /// Making identities, workspaces and channels.
    var founding: Founding { Founding(core) }
    /// The other end of joining: letting people in.
    var admissions: Admissions { Admissions(core) }
    /// Another device of the same person, on both ends.
    var linking: DeviceLinking { DeviceLinking(core) }
    /// The recovery phrase.
    var recovery: Recovery { Recovery(core) }

    override var nextDeadline: UInt64? {
        var first = Earliest()
        let rest = network.fullDisk.until
        for join in network.joining.joins {
            first.take(join.deadline)
            if join.hasOthers, join.stage != .syncing { first.take(join.turnEnds) }
            if join.stage == .searching, join.dial == nil, join.connection == nil,
                !join.addresses.isEmpty, !network.registry.isSuspended
            {
                first.take(max(join.nextDial, rest))
            }
        }
        if let linking = network.joining.linking {
            first.take(linking.deadline)
            if linking.isWaitingToDial, !network.registry.isSuspended {
                first.take(max(linking.nextDial, rest))
            }
        }
        return first.moment
    }

    override func tick() throws(StorageError) {
        try turnJoins()
        try expireJoins()
        try linking.expireLinking()
    }

    override func forgetSecrets() {
        network.joining.issuedLink = nil
        network.joining.pendingJoins = []
    }

    override func goOn(after former: Component) {
        network.joining.issuedLink = former.network.joining.issuedLink
    }

    /// Dials for joins that wait for a member to answer.
    func dialWhenDue() {
        for index in network.joining.joins.indices {
            guard let address = network.joining.joins[index].addressDue(now: time.monotonic) else {
                continue
            }
            network.joining.joins[index].dial = network.joining.nextJoinDial
            turn.emit(.dial(number: network.joining.nextJoinDial, address: address.text))
            network.joining.nextJoinDial -= 1
        }
        if let address = network.joining.linking?.addressDue(now: time.monotonic) {
            let number = network.joining.nextJoinDial
            network.joining.linking?.dial = number
            turn.emit(.dial(number: number, address: address.text))
            network.joining.nextJoinDial -= 1
        }
    }
}

extension Enrolment: LinkEntrances {
    var deviceLinkCandidates: [PSKCandidate] { linking.deviceLinkCandidates }

    func linkingEstablished(_ link: PeerLink, _ device: DeviceID) throws(StorageError) {
        try linking.linkingEstablished(link, device)
    }

    func offerLink(on link: PeerLink) { linking.offerLink(on: link) }

    func closed(_ link: PeerLink, because ending: LinkEnding) {
        joinLinkClosed(link, because: ending)
        linking.linkingClosed(link)
    }
}
