import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Waits for what peers know of this device's past, before anything is signed.
extension Syncing {
    func askForOwnHistory() {
        guard workspaces.values.contains(where: { $0.standing == .member }) else { return }
        network.ownHistory.begin(at: time.monotonic)
    }

    /// Whether a call is kept until it may write; it is then answered later.
    func holdsCall(_ call: CallID, _ method: String, _ arguments: JSONObject) -> Bool {
        guard core.log.mustWait, Command.known(method)?.effect(of: arguments) == .signs,
            network.ownHistory.held.count < OwnHistory.heldMax
        else { return false }
        network.ownHistory.held.append(.call(call, method: method, arguments))
        return true
    }

    /// Whether somebody's admission is kept until it may be written.
    func holdsJoin(_ request: JoinRequest, on link: PeerLink) -> Bool {
        guard core.log.mustWait, network.ownHistory.held.count < OwnHistory.heldMax else {
            return false
        }
        network.ownHistory.held.append(.join(link.id, request))
        return true
    }

    /// Takes a new store id when peers knew more, and resumes the waiting calls.
    ///
    /// - Returns: whether anything was written.
    func settleOwnHistory() throws(StorageError) -> Bool {
        let wasSurpassed = network.ownHistory.surpassed != nil
        try core.log.leaveSurpassedLog()
        guard network.ownHistory.isAsking, !core.log.canLearnMore else { return wasSurpassed }
        network.ownHistory.end()
        let held = network.ownHistory.held
        network.ownHistory.held = []
        for waiting in held {
            turn.wroteInInput = false
            switch waiting {
            case .call(let call, let method, let arguments):
                try core.answer(call, method, arguments)
            case .join(let link, let request):
                guard let link = network.links[link], !link.isClosing else { continue }
                try core.enrolment.admissions.joinRequest(request, on: link)
            }
        }
        return wasSurpassed || !held.isEmpty
    }
}
