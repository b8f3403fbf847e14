import CRDTStore
import WorkspaceModel

/// The people who should get a message, with the devices on which they can read it.
///
/// They are the members of its conversation, each counted once. Not included are relays, guests who
/// are not in the channel, members who are not in a private one, members who were added later to a
/// channel that shows no history, and members with no device but a phrase.
struct MessageReaders {
    /// This home's person, who is not waited for.
    let own: MemberID
    /// The devices of each, phrases left out; never empty.
    let devices: [MemberID: [DeviceID]]

    /// The number of readers besides this person.
    var count: Int { devices.keys.count { $0 != own } }

    /// For how many readers at least one device is among the holders.
    func count(holding holders: Set<DeviceID>) -> Int {
        devices.count { $0.key != own && $0.value.contains { holders.contains($0) } }
    }

    /// All devices, including this person's.
    var allDevices: Set<DeviceID> { Set(devices.values.joined()) }
}

/// How far a message has reached one person, on any of their devices.
enum HolderVerdict: String {
    /// A device on which they can read it has it.
    case held
    /// None is known to have it.
    case waiting
    /// The same for a person whose devices were never heard of.
    case unknown
}

extension Syncing {
    /// The people who should get a message.
    ///
    /// - Parameter key: under which it is sealed, which tells who was given that where people who
    ///   come later see nothing older.
    func readers(
        of channel: Workspace.Channel, sealedUnder key: KeyID?, in workspace: Workspace
    ) throws(StorageError) -> MessageReaders {
        var people = Set(try core.channels.followers(of: channel, in: workspace))
        if channel.privateMembership?.isFromJoin == true, let key,
            let given = workspace.sealed.documents[channel.id]?.seated(before: key)
        {
            people.formIntersection(given)
        }
        let phrases = workspace.recoveryDevices
        var devices: [MemberID: [DeviceID]] = [:]
        for standing in workspace.members where people.contains(standing.member) {
            let usable = standing.devices.filter { !phrases.contains($0) }
            if !usable.isEmpty { devices[standing.member] = usable }
        }
        return MessageReaders(own: workspace.member, devices: devices)
    }

    /// The verdict for one person; `nil` for somebody who only relays the message.
    func verdict(
        on member: MemberID, _ readers: MessageReaders, _ holders: Set<DeviceID>
    ) -> HolderVerdict? {
        // The caller has it here.
        if member == readers.own { return .held }
        guard let devices = readers.devices[member] else { return nil }
        if devices.contains(where: { holders.contains($0) }) { return .held }
        let isHeardOf = devices.contains(where: { core.links.lastSeen($0) != nil })
        return isHeardOf ? HolderVerdict.waiting : HolderVerdict.unknown
    }
}

extension PrivateDocument {
    /// Everyone who had a seat in the past of the operation that introduced a key, including those
    /// added by it; `nil` where no known operation introduces it.
    func seated(before key: KeyID) -> Set<MemberID>? {
        var made = membership.introducing[key] ?? []
        if records[rootID]?.keyID == key { made.append(rootID) }
        guard !made.isEmpty else { return nil }
        let authority = authority
        var people: Set<MemberID> = []
        for (id, record) in records {
            guard let seats = record.change?.action.seats, !seats.isEmpty,
                made.contains(where: { $0 == id || authority.isAncestor(id, of: $0) })
            else { continue }
            people.formUnion(seats.map(\.member))
        }
        return people
    }
}
