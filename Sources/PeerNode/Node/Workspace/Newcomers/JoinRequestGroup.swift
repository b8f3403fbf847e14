import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// One person's request by one invite. Several members may have recorded it, each in a `request`
/// operation, when the person met them before they had heard of each other.
struct JoinRequestGroup {
    /// As the first operation says.
    let joiner: AuthorityPayload.Joiner
    /// In the order of arrival.
    var operations: [OperationID]

    /// H("wsx-request2", invite || member || Enc keys of the devices): equal on every node,
    /// whichever member was asked.
    var id: String {
        let name: OperationID = Hash.name(
            "wsx-request2", joiner.invite.bytes, joiner.member.bytes,
            DeviceEntry.encodedKeys(joiner.devices))
        return PublicID.request(name)
    }

    /// Distinguishes one request from another.
    struct Person: Hashable {
        private let invite: OperationID
        private let member: MemberID
        private let answering: OperationID?
        private let keys: [UInt8]

        init(_ joiner: AuthorityPayload.Joiner) {
            invite = joiner.invite
            member = joiner.member
            answering = joiner.answering
            keys = DeviceEntry.encodedKeys(joiner.devices)
        }
    }
}

extension AuthorityPayload {
    /// The person who asks to join or was admitted.
    var joiner: Joiner? {
        switch self {
        case .request(let joiner), .admit(let joiner, _, _, _): joiner
        default: nil
        }
    }
}

extension Workspace {
    /// Every request in the order in which the invites were made and the requests came.
    var joinRequests: [JoinRequestGroup] {
        grouped(invites.invites.flatMap { invites.requests[$0] ?? [] })
    }

    /// The requests of one person, in the order of arrival. Anybody may ask by an open invite, so a
    /// query about one person must not cost what all have asked.
    func joinRequests(by member: MemberID) -> [JoinRequestGroup] {
        grouped(invites.requestsByMember[member] ?? [])
    }

    private func grouped(_ requests: [OperationID]) -> [JoinRequestGroup] {
        var groups: [JoinRequestGroup] = []
        var places: [JoinRequestGroup.Person: Int] = [:]
        for id in requests {
            guard let joiner = authority[id]?.payload.joiner else { continue }
            let person = JoinRequestGroup.Person(joiner)
            if let place = places[person] {
                groups[place].operations.append(id)
            } else {
                places[person] = groups.count
                groups.append(JoinRequestGroup(joiner: joiner, operations: [id]))
            }
        }
        return groups
    }
}
