import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// One workspace as this node knows it: the judged authority document, the keys, and the views of
/// both. Everything here can be rebuilt from the store.
final class Workspace {
    /// The authority document.
    let id: WorkspaceID
    /// Its short number in the store.
    let number: Int64
    /// Who this home's person is in it, and this node's state in it.
    var seat: WorkspaceSeat
    /// The stored authority operations.
    var authority = AuthorityRecords() {
        didSet {
            judged.derived = .init()
            secrets.mailbox = [:]
        }
    }

    // What each room knows of it.
    let judged: JudgedState
    let secrets: WorkspaceSecrets
    let book = ChannelBook()
    let sealed = SealedState()
    let people: PeopleState
    let own = OwnState()
    let held = HeldState()

    /// A public channel that was deleted.
    struct DeletedChannel {
        let number: Int64
        /// Who deleted it.
        let author: MemberID?
        /// When this node first saw that, milliseconds.
        let seen: UInt64
        /// As it was shown last.
        var last: Channel?

        /// When its operations are erased here, milliseconds.
        var erasure: UInt64 { seen &+ Limits.deletedChannelMilliseconds }
    }

    struct NamePlace: Hashable {
        let operation: OperationID
        let key: UInt64
    }

    struct LimitPlace: Hashable {
        let grant: OperationID
        let log: LogName
    }

    /// - Parameter vault: opens its keys.
    init(id: WorkspaceID, row: RegistryStore.WorkspaceRow, vault: KeyVault) {
        self.id = id
        number = row.number
        seat = WorkspaceSeat(row)
        judged = JudgedState()
        secrets = WorkspaceSecrets(EpochKeyring(.epochKey, of: row.number, in: vault), judged)
        people = PeopleState(judged)
    }

    /// The local member.
    var member: MemberID { seat.member }
    /// How we stand to it.
    var standing: RegistryStore.Standing { seat.standing }
    /// The ids of the stored authority operations, in the order of arrival.
    var authorityOrder: [OperationID] { authority.order }

    /// How a public channel is ruled, or was when it was deleted: what was deleted in it before that
    /// stays deleted.
    func ruling(ofChannel document: DocumentID) -> ChannelRuling? {
        (book.channels[document] ?? book.deleted[document]?.last)?.ruling
    }

    /// Whether a document's operations are in no digest and told to nobody, because it, or the
    /// workspace, was deleted.
    func isGone(_ document: DocumentID) -> Bool {
        book.deleted[document] != nil || (seat.ended != nil && document != id)
    }

    /// The latest time of a log: its tip's timestamp or its place in the display, which citations
    /// may have moved behind that.
    static func latest(of branch: LogBranch) -> UInt64 {
        max(branch.tip.timestamp.rawValue, UInt64(max(branch.tipSort, 0)))
    }

    /// The document of what members are called.
    var profileDocument: DocumentID { Hash.name("wsx-prof", id.bytes) }

    /// The document of boxes with keys, each for one device.
    var mailboxDocument: DocumentID { Hash.name("wsx-mbox", id.bytes) }

    /// The key of a document in one epoch, or `nil` while the epoch key is not held.
    func documentKey(_ document: DocumentID, _ keyID: KeyID) -> SymmetricKey? {
        secrets.keys.contentKey(document, keyID)
    }

    /// The owner of a device, by valid operations; `nil` while nothing valid binds it. A device
    /// that is bound to the local member stays theirs, even if a thief has bound it elsewhere too.
    func owner(of device: DeviceID) -> MemberID? {
        judged.evaluator.isBound(device, to: member) ? member : judged.evaluator.owner(of: device)
    }

    /// The member that a home is here, by the authority document alone; `nil` where it is not one.
    /// A home keeps the member id that it joined with, even if someone else holds its device key.
    func member(of home: HomeIdentity) -> MemberID? {
        home.members(salt: id.bytes).first { judged.evaluator.isBound(home.device, to: $0) }
            ?? judged.evaluator.owner(of: home.device)
    }

    /// The cached key that seals content in a private document; the inner `nil` while a new key is
    /// due.
    func sealingKey(
        of document: DocumentID, orFind find: () -> (id: KeyID, key: SymmetricKey)?
    ) -> (id: KeyID, key: SymmetricKey)? {
        if let known = judged.derived.privateKeys[document] { return known }
        let found = find()
        judged.derived.privateKeys[document] = .some(found)
        return found
    }

    /// Called when something in a private document may change which key seals.
    func forgetSealing(of document: DocumentID) {
        judged.derived.privateKeys[document] = nil
        judged.derived.unheard[document] = nil
    }

    /// Called when something about a private document changed; without one, about all of them.
    func forgetChannelIndex(of document: PrivateDocument? = nil) {
        people.pictureEdits += 1
        if let document {
            let channel = channel(of: document)
            reindex(document.number, as: channel)
            // A visible channel is not deleted; that is a cheap check.
            let wasDeleted = judged.derived.privateErasures?.contains(where: {
                $0.document === document
            })
            if channel == nil || wasDeleted == true { judged.derived.privateErasures = nil }
        } else {
            judged.derived.channels = nil
            judged.derived.privateErasures = nil
        }
        judged.derived.visiblePeople = [:]
        guard judged.derived.told != nil, document?.membership.tellsNames ?? true else { return }
        judged.derived.told = nil
        judged.derived.names = [:]
        judged.derived.twins = nil
        judged.derived.goneNames = nil
    }

    /// Applies the current state of a public channel, `nil` where it is not one.
    func set(_ channel: Channel?, of document: DocumentID) {
        let before = book.channels.removeValue(forKey: document)
        book.channels[document] = channel
        if before?.image != channel?.image { people.pictureEdits += 1 }
        guard ownRole != .guest, let number = (channel ?? before)?.number else { return }
        reindex(number, as: channel)
    }

    /// Wipes what public channels are called.
    func forgetChannelNames() {
        for document in book.channels.keys {
            book.channels[document]?.name = nil
            book.channels[document]?.topic = nil
            book.channels[document]?.description = nil
            book.channels[document]?.image = nil
        }
        people.pictureEdits += 1
        forgetChannelIndex()
    }

    private func reindex(_ number: Int64, as channel: Channel?) {
        guard var index = judged.derived.channels else { return }
        // Else it would be copied.
        judged.derived.channels = nil
        judged.derived.overview.forget(number)
        if index.replace(number, by: channel, naming) { judged.derived.channels = index }
    }

    /// The channels and direct conversations by name, by number and by people.
    var channelIndex: ChannelIndex {
        if let known = judged.derived.channels { return known }
        // A guest is in no public channel, and what a former member had of them is over.
        let open = ownRole == .guest ? [] : Array(book.channels.values)
        let index = ChannelIndex(open + privateChannels, naming)
        judged.derived.channels = index
        judged.derived.overview.forgetAll()
        return index
    }

    /// How names of channels are compared here.
    var naming: ChannelIndex.Naming {
        .init(
            keyOf: { self.people.foldedNames.key(of: $0) },
            skeletonOf: { self.people.foldedNames.skeleton(of: $0) }, nameOfPeople: name(ofDirect:))
    }

    /// The valid revocations of invites.
    var revokedInvites: [OperationID] {
        if let known = judged.derived.revokedInvites { return known }
        let found = judged.evaluator.revokedInvites
        judged.derived.revokedInvites = found
        return found
    }

    /// The operations that ended memberships, by member: valid removals and departures.
    var memberEnds: [MemberID: Set<OperationID>] {
        if let known = judged.derived.memberEnds { return known }
        let ends = judged.evaluator.endsByMember
        judged.derived.memberEnds = ends
        return ends
    }

    /// The epoch key for what is written now, and whose word it is.
    var sealingKey: SealingKey? {
        if let known = secrets.index.sealing { return known }
        let found = findSealingKey()
        secrets.index.keep(sealing: found)
        return found
    }

    /// The epoch key for what is written now; see `findSealingKey`.
    var currentKey: (id: KeyID, key: SymmetricKey)? {
        guard let id = sealingKey?.id, let key = secrets.keys[id] else { return nil }
        return (id, key)
    }

    /// The tips of the authority document up to what ended the membership of `device`.
    func farewell(to device: DeviceID) -> [LogTip] {
        if let known = judged.derived.farewells[device] { return known }
        let past = judged.evaluator.past(upTo: judged.evaluator.revocations(ending: device))
        let covered = Set(past.compactMap { judged.evaluator.operation($0)?.previous })
        let tips = past.subtracting(covered).compactMap { id in
            authority[id].map {
                LogTip(log: $0.log, sequence: $0.sequence, id: Identifier16(prefixOf: id))
            }
        }.sorted { ($0.log, $0.sequence, $0.id) < ($1.log, $1.sequence, $1.id) }
        judged.derived.farewells[device] = tips
        return tips
    }

    /// The name in a field of an authority operation, or `nil` while its key is not held.
    func name(_ field: SealedField?, key: UInt64, of operation: OperationID) -> String? {
        guard let field, let record = authority[operation] else { return nil }
        let place = NamePlace(operation: operation, key: key)
        if let known = people.openedNames[place] { return known }
        guard let epochKey = secrets.keys[field.keyID],
            let bytes = XChaCha20Poly1305.open(
                field.ciphertext, under: epochKey.nameKey, nonce: field.nonce,
                associatedData: Self.nameContext(
                    document: record.isRoot ? .zero : id, device: record.log.device,
                    incarnation: record.log.incarnation, sequence: record.sequence, key: key)),
            let name = String(validating: bytes, as: UTF8.self),
            name.utf8.count <= Limits.messageTextBytesMax
        else { return nil }
        people.openedNames[place] = name
        return name
    }

    /// The associated data of a sealed name (PROTOCOL.md, 3.1).
    static func nameContext(
        document: DocumentID, device: DeviceID, incarnation: UInt32, sequence: UInt64, key: UInt64
    ) -> [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 96)
        encoder.array(count: 5)
        encoder.byteString(document)
        encoder.byteString(device)
        encoder.uint(UInt64(incarnation))
        encoder.uint(sequence)
        encoder.uint(key)
        return encoder.bytes
    }

    /// A member's name: from the profile, else from the admission.
    func displayName(of member: MemberID) -> String {
        if let known = judged.derived.names[member] { return known }
        var name = admittedName(of: member)
        if CheckedName.isBlank(name) { name = Self.namelessName(of: member) }
        judged.derived.names[member] = name
        return name
    }

    private static func namelessName(of member: MemberID) -> String {
        String(PublicID.member(member).prefix(10))
    }

    /// A person's name by their profile or since they joined; `nil` where neither is known.
    func saidName(of member: MemberID) -> String? {
        if let name = people.profileNames[member] { return name }
        for id in authority.entrances {
            if case .admit(let joiner, _, _, _)? = authority[id]?.payload,
                joiner.member == member, let name = name(joiner.name, key: 7, of: id)
            {
                return CheckedName.isBlank(name) ? nil : name
            }
        }
        return nil
    }

    private func admittedName(of member: MemberID) -> String {
        if let name = saidName(of: member) { return name }
        if let name = told.people[member] { return name }
        if member == self.member, let ownName = people.ownName { return ownName }
        return Self.namelessName(of: member)
    }

    /// Its settings.
    var fields: WorkspaceFields {
        if let known = judged.derived.fields { return known }
        let fields = WorkspaceFields(of: self)
        judged.derived.fields = fields
        return fields
    }

    /// Invites, and what came of them.
    var invites: InviteIndex {
        if let known = judged.derived.invites { return known }
        let index = InviteIndex(of: self)
        judged.derived.invites = index
        return index
    }

    /// The workspace's name, or its short id while the key is not held.
    var displayName: String {
        fields.name ?? told.workspace ?? String(PublicID.workspace(id).prefix(10))
    }

    /// Our role, `nil` when we are not a member (any more).
    var ownRole: Role? { role(of: member) }

    /// A person's role; `nil` for a non-member or former member.
    func role(of person: MemberID) -> Role? {
        if let known = judged.derived.standings.roles[person] { return known }
        judged.standingsMade.single &+= 1
        let role = judged.evaluator.standing(of: person).flatMap { isIn($0) ? $0.role : nil }
        judged.derived.standings.roles[person] = .some(role)
        return role
    }
}

extension AuthorityPayload {
    /// The epoch key that the operation introduces.
    var newKey: KeyID? {
        switch self {
        case .create(let create): create.keyID
        case .rekey(let change): change.rekey.keyID
        case .remove(let remove): remove.rekey?.keyID
        case .removeDevice(_, _, let rekey): rekey?.keyID
        default: nil
        }
    }

    /// The key boxes in the operation, and which key they hold.
    var wrappedKeys: (key: KeyID, wraps: [WrappedKey])? {
        switch self {
        case .create(let create): (create.keyID, create.wraps)
        case .admit(_, let keyID, let wraps, _): (keyID, wraps)
        case .addDevices(_, let keyID, let wraps, _): (keyID, wraps)
        case .rekey(let change): (change.rekey.keyID, change.rekey.wraps)
        case .remove(let remove): remove.rekey.map { ($0.keyID, $0.wraps) }
        case .removeDevice(_, _, let rekey): rekey.map { ($0.keyID, $0.wraps) }
        default: nil
        }
    }
}
