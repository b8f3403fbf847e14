import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// A private document to which this node holds a key: its members, its name, and the keys of its
/// epochs. A relay holds the operations and knows nothing of this.
///
/// Its keys open nothing else of the workspace, and no other key opens it. Everything here can be
/// rebuilt from the store.
final class PrivateDocument {
    let id: DocumentID
    /// Its short number in the store.
    let number: Int64
    /// Epoch keys that are held.
    private(set) var keys: EpochKeyring
    /// What opens the membership operations of an epoch.
    private(set) var authorityKeys: PrivateKeyring
    /// The inputs of the last judgement, to repeat it.
    private var basis: [PrivateBasis] = []
    /// The summary for callers that ask about every document.
    private(set) var summary = PrivateSummary()
    /// Where the judgement is kept, unless it is `resident`.
    private let shelf: PrivateShelf
    private let shelfName: UInt64
    /// The judgement of a large document, which would take too long to be made whenever it is asked for.
    private var resident: PrivateJudgement?
    /// The cached answer to what lists ask about the local member.
    private var own: PrivateOwnPlace?
    /// Its membership operations.
    let membership: MembershipRecords
    /// How often an operation was looked at to open it, or to take what it hands on; for tests.
    private(set) var looks = 0
    /// How often all of it was judged; for tests.
    private(set) var judgements = 0
    /// Everyone whom an opened operation ever admitted, as of the last judgement.
    private(set) var everIn: Set<MemberID> = []
    /// The workspace membership ends of people who were ever in, as of the last judgement.
    var ends: [MemberID: Set<OperationID>] = [:]
    /// The key that this device sealed content with last, since it was opened.
    var writtenUnder: KeyID?
    /// The cached channel as people see it.
    var shown: Channel??
    /// The state that events have reported.
    private var toldOf = Told.nothing
    /// The keys under which no content was folded so far.
    var unfoldedKeys: Set<KeyID> = []
    /// Stored content that no key opens.
    var sealed = SealedContent()
    /// Notices that the local member is out, in the order of arrival.
    var notices: [PrivateNotice] = []
    /// Those whose named operation is here, and those of them whose operation is in force.
    var soughtNotices: Set<PrivateNotice> = []
    var heededNotices: Set<PrivateNotice> = []
    /// How far content counts.
    let rights = ContentRights()

    /// What events have reported of a document. Of a conversation they report nothing that could
    /// change, and there may be very many.
    private enum Told {
        case nothing, conversation
        indirect case channel(Channel)
    }

    /// One range of a log.
    struct LimitPlace: Hashable {
        let log: LogName
        let member: MemberID
        let key: KeyID
    }

    /// - Parameters:
    ///   - vault: opens its keys.
    ///   - shelf: keeps the judgement.
    init(
        id: DocumentID, number: Int64, vault: KeyVault, shelf: PrivateShelf = PrivateShelf()
    ) {
        self.id = id
        self.number = number
        membership = MembershipRecords(of: id)
        keys = EpochKeyring(.privateKey, of: number, in: vault)
        authorityKeys = PrivateKeyring(of: number, in: vault)
        self.shelf = shelf
        shelfName = shelf.makeName()
    }

    deinit { shelf.drop(shelfName) }

    /// The stored membership operations, opened or not, by id.
    var records: [OperationID: Record] { membership.records }
    /// The ids of `records` in the order of arrival.
    var order: [OperationID] { membership.order }
    /// Those of `records` that no key has opened so far.
    var closed: Set<OperationID> { membership.closed }

    /// The operation that made it.
    var rootID: OperationID { OperationID(sameBytesAs: id) }

    /// How it began, `nil` until that could be read.
    var root: PrivateRoot? {
        guard summary.hasRoot, case .root(let root)? = records[rootID]?.change?.action else {
            return nil
        }
        return root
    }

    /// Whether events have told that it is there.
    var isTold: Bool { if case .nothing = toldOf { false } else { true } }

    /// The state of a channel that events have reported; `nil` for a conversation.
    var told: Channel? {
        if case .channel(let channel) = toldOf { channel } else { nil }
    }

    /// Records the state that events have reported; `nil` for none.
    func noteTold(_ channel: Channel?) {
        guard let channel else { return toldOf = .nothing }
        toldOf = channel.isDirect ? .conversation : .channel(channel)
    }

    /// Takes over what events have reported from the object that this one replaces.
    func noteTold(as former: PrivateDocument) { toldOf = former.toldOf }

    /// Who may do what, as it was judged last.
    var authority: PrivateAuthority { judgement.authority }

    private var judgement: PrivateJudgement {
        if let resident { return resident }
        if let known = shelf.judgement(shelfName) { return known }
        if !basis.isEmpty { shelf.noteRemade() }
        let judged = Set(basis.lazy.map(\.id))
        let operations = basis.compactMap { entry in
            records[entry.id].map { record in
                PrivateOperation(
                    id: entry.id, author: record.author, previous: record.previous,
                    // Operations that arrived since were not part of the judgement.
                    dependencies: record.dependencies.filter(judged.contains),
                    keyID: record.keyID, change: entry.isOpened ? record.change : nil,
                    isAllowed: entry.isAllowed, knownEnds: entry.knownEnds, people: everIn,
                    cuts: entry.isOpened ? record.cuts : CutTable.none)
            }
        }
        let remade = PrivateJudgement(PrivateAuthority(of: id, operations, ends: ends))
        shelf.keep(remade, as: shelfName)
        return remade
    }

    /// Judges its operations, with `ends` and `everIn` as they are now.
    func judge(_ operations: [PrivateOperation]) {
        let judged = PrivateJudgement(PrivateAuthority(of: id, operations, ends: ends))
        basis = operations.map { PrivateBasis($0) }
        summary = PrivateSummary(judged.authority)
        rights.cuts = PrivateCuts()
        own = nil
        resident = membership.size > Limits.judgedOnceMoreMax ? judged : nil
        if resident == nil { shelf.keep(judged, as: shelfName) } else { shelf.drop(shelfName) }
    }

    /// The keys that may be given to a member and are not held.
    func missingKeys(of member: MemberID) -> [KeyID] {
        place(of: member).missing.filter { !keys.holds($0) }
    }

    /// The operations that gave a member seats of a channel which still hold.
    func lastingSeats(of member: MemberID) -> [OperationID] { place(of: member).lasting }

    /// Called when it was judged, so that listing all documents judges none again.
    func notePlace(of member: MemberID) {
        if resident == nil { _ = place(of: member) }
    }

    private func place(of member: MemberID) -> PrivateOwnPlace {
        if let own, own.member == member { return own }
        let authority = authority
        let found = PrivateOwnPlace(
            member: member, missing: authority.keys(for: member).filter { !keys.holds($0) },
            lasting: authority.root?.subtype == .channel
                ? authority.lasting(seatsOf: member) : [])
        own = found
        return found
    }

    /// The key for the content of one epoch, or `nil` while it is not held.
    func contentKey(_ keyID: KeyID) -> SymmetricKey? {
        keys.contentKey(id, keyID)
    }

    /// Takes an epoch key that is stored.
    ///
    /// - Parameter key: it, where it is at hand.
    /// - Returns: whether it was new.
    func take(_ name: KeyID, _ key: SymmetricKey? = nil) -> Bool {
        guard !keys.holds(name) else { return false }
        if let key { keys.insert(key, as: name) } else { keys.insert(name) }
        authorityKeys.takeEpoch(name)
        membership.noteKey(of: name)
        unfoldedKeys.insert(name)
        return true
    }

    /// Takes what was handed on of an epoch.
    ///
    /// - Parameter stored: its place in the store, `nil` for one that is new.
    /// - Returns: its place; `nil` where it is of no use.
    func take(
        _ key: PrivateAuthorityKey, of name: KeyID, stored: UInt8? = nil
    ) -> UInt8? {
        guard !keys.holds(name),
            let place = authorityKeys.take(key.key, of: name, stored: stored)
        else { return nil }
        membership.noteKey(of: name)
        return place
    }

    /// Computes again which of the people that operations name were ever admitted.
    ///
    /// - Parameter isKnown: whether the workspace ever let somebody in.
    func noteNamed(_ isKnown: (MemberID) -> Bool) {
        everIn = []
        membership.seats.given = 0
        for record in records.values {
            for seat in record.change?.action.seats ?? [] {
                guard everIn.contains(seat.member) || isKnown(seat.member) else { continue }
                everIn.insert(seat.member)
                membership.seats.given += 1
            }
        }
    }

    /// Whether a seat for somebody counts otherwise than when this was judged last.
    ///
    /// - Parameter isKnown: whether the workspace ever let that one in.
    func isOutdated(on member: MemberID, isKnown: Bool) -> Bool {
        guard isKnown else { return everIn.contains(member) }
        return !everIn.contains(member) && names(member)
    }

    /// Whether operations name somebody for a seat whom the workspace has not let in.
    var namesStrangers: Bool { membership.seats.named > membership.seats.given }

    private func names(_ member: MemberID) -> Bool {
        guard namesStrangers else { return false }
        return records.values.contains { record in
            record.change?.action.seats.contains { $0.member == member } == true
        }
    }

    func noteLook() { looks &+= 1 }

    func noteJudged() { judgements &+= 1 }

    /// The right of an owner, and of an admin.
    func deletionLimits(at place: LimitPlace) -> [PrivateContentLimit] {
        if let known = rights.deletionLimits[place] { return known }
        let limits = [Role.owner, .admin].map { contentLimit(at: place, leastRole: $0) }
        rights.deletionLimits[place] = limits
        return limits
    }

    /// How far content of a range counts, by the seats of its author.
    ///
    /// - Parameter leastRole: as for `PrivateAuthority.contentLimit`.
    func contentLimit(
        at place: LimitPlace, leastRole: Role = .guest
    ) -> PrivateContentLimit {
        let judgement = judgement
        let seats = judgement.seatRights(of: place.member)
        return judgement.authority.contentLimit(
            by: seats, in: place.log, under: place.key, leastRole: leastRole
        ) { self.rights.cuts.places(of: $0, in: place.log, judgement.authority) }
    }

    /// Whether a member ever had a right to delete what others wrote here.
    func everMayDelete(_ member: MemberID) -> Bool {
        guard root?.subtype == .channel, authority.hasSeated(member, asAtLeast: .admin) else {
            rights.passedOver.insert(member)
            return false
        }
        return true
    }

    /// Called when `authority` was computed again.
    func noteRights() {
        if rights.passedOver.contains(where: { authority.hasSeated($0, asAtLeast: .admin) }) {
            rights.hasOtherRights = true
        }
        rights.passedOver = []
        let before = rights.deletionLimits
        rights.deletionLimits = [:]
        for (place, limits) in before where deletionLimits(at: place) != limits {
            rights.hasOtherRights = true
        }
    }

    /// Whether a removal or departure leaves the log of an operation up to exactly that one, of those
    /// on which something hangs that was shown or hidden.
    func isCut(at operation: CheckedOperation) -> Bool {
        let header = operation.header
        let log = LogName(document: id, device: header.device, incarnation: header.incarnation)
        return rights.cuts.names(operation.id, of: log)
    }

    /// Whether a removal or departure, of those that were asked about, leaves something of a log.
    func hasCuts(in log: LogName) -> Bool { rights.cuts.concern(log) }

    /// Called when operations came, before any of them is shown.
    func noteStored(_ operations: [CheckedOperation]) {
        if operations.contains(where: { isCut(at: $0) }) { rights.cuts.forgetBounds() }
    }

    /// The bytes that places take in memory which removals and departures name; for tests.
    var cutBytes: Int {
        records.values.reduce(rights.cuts.byteCount) { sum, record in
            let listed = record.change?.action.cuts.count ?? 0
            return sum + record.cuts.byteCount + listed * MemoryLayout<CutEntry>.stride
        }
    }

    /// Notes what an operation says, and by which key it was opened: what comes first is tried
    /// first.
    func opened(_ id: OperationID, _ change: PrivateChange?, by place: Int) {
        membership.noteOpened(id, change)
        guard place > 0, let name = records[id]?.keyID, !keys.holds(name) else { return }
        authorityKeys.prefer(place, of: name)
    }
}

extension PrivateDocument {
    /// The reference to a stored membership operation.
    func reference(_ id: OperationID) -> OperationReference? {
        records[id].map { record in
            OperationReference(
                device: record.log.device, incarnation: record.log.incarnation,
                sequence: record.sequence, id: id)
        }
    }
}
