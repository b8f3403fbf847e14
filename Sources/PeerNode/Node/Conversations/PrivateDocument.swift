import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// A private document of which this node holds a key: who is in it, what it is called, and the
/// keys of its epochs. A relay holds the operations and has nothing of this.
///
/// Its keys are its own: none of them opens anything else of the workspace, nor the other way
/// round. Everything here can be made again from the store.
final class PrivateDocument {
    let id: DocumentID
    /// Its short number in the store.
    let number: Int64
    /// Epoch keys that are held.
    private(set) var keys: EpochKeyring
    /// What opens the membership operations of an epoch.
    private(set) var authorityKeys: PrivateKeyring
    /// What it was judged by last, for judging it once more as it was.
    private var basis: [PrivateBasis] = []
    /// What that came to, for those who ask of every document.
    private(set) var gist = PrivateGist()
    /// Where the judgement is kept, unless it is `resident`.
    private let shelf: PrivateShelf
    private let shelfName: UInt64
    /// The judgement of a large document, which would take too long to be made whenever it is asked for.
    private var resident: PrivateJudgement?
    /// What lists ask about the own member, once it was worked out.
    private var own: PrivateOwnPlace?
    /// The stored membership operations, opened or not, by id.
    private(set) var records: [OperationID: Record] = [:]
    /// The ids of `records` in the order of arrival.
    private(set) var order: [OperationID] = []
    /// Those of `records` that no key has opened so far.
    private(set) var closed: Set<OperationID> = []
    /// The same by the key that they name.
    private var closedByKey: [KeyID: Set<OperationID>] = [:]
    /// The opened operations that introduce the key under which they are sealed.
    private(set) var introducing: [KeyID: [OperationID]] = [:]
    /// What was not tried yet: operations that came, and epochs of which a key came.
    private var untried: (operations: [OperationID], epochs: [KeyID]) = ([], [])
    /// Operations that were opened, and what they cite.
    private var operationSize = 0
    /// Seats that they name for people whom the workspace has let in, as far as it was asked, and for
    /// others.
    private var seats = (given: 0, named: 0)
    /// How much there is to judge. A seat takes as long as some operations, a name next to nothing.
    var size: Int { operationSize + 6 * seats.given + (seats.named - seats.given) / 8 }
    /// How often an operation was looked at to open it, or to take what it hands on; for tests.
    private(set) var looks = 0
    /// How often all of it was judged; for tests.
    private(set) var judgements = 0
    /// Everybody whom an operation that could be opened ever let in, as it was judged last.
    private(set) var everIn: Set<MemberID> = []
    /// What ended memberships in the workspace of people who were ever in, as it was judged with.
    var ends: [MemberID: Set<OperationID>] = [:]
    /// The key that this device sealed content with last, since it was opened.
    var writtenUnder: KeyID?
    /// What people see of it, once it was worked out from the rest.
    var shown: Channel??
    /// What events have told of it.
    private var toldOf = Told.nothing
    /// The keys under which no content was folded so far.
    var unfoldedKeys: Set<KeyID> = []
    /// What is stored and no key opens.
    var sealed = SealedContent()
    /// Notices that the own member is out, in the order in which they came.
    var notices: [PrivateNotice] = []
    /// Those that name what is here, and those of them that name what stands.
    var soughtNotices: Set<PrivateNotice> = []
    var heededNotices: Set<PrivateNotice> = []
    /// How far content of a log is valid, until authority changes.
    var limits: [LimitPlace: PrivateContentLimit] = [:]
    /// How far a log has a right over what others wrote, of those that redactions made one ask
    /// about.
    private var deletionLimits: [LimitPlace: [PrivateContentLimit]] = [:]
    /// Members whose undos were passed over because they never had a right here.
    private var passedOver: Set<MemberID> = []
    /// Whether redactions have to be judged anew: at first, and whenever those limits change.
    var hasOtherRights = true
    /// Whether `limits` has every stretch that is stored, and not only those asked for since the
    /// start.
    var hasAllLimits = false
    /// Up to where removals and departures leave logs that were asked about.
    var cuts = PrivateCuts()
    /// Whether any operation tells guests what anything is called.
    private(set) var tellsNames = false
    /// Whether any operation leaves only a part of logs.
    private(set) var hasCuts = false

    /// What events have told of a document. Of a conversation they tell nothing that could change, and
    /// there may be very many.
    private enum Told {
        case nothing, conversation
        indirect case channel(Channel)
    }

    /// One membership operation. It is no value, or the table of very few would have room for as many
    /// again of nearly 400 bytes.
    final class Record {
        /// `nil` until it was opened, and where it means nothing to this version. What it lists of
        /// logs stands in `cuts`.
        fileprivate(set) var change: PrivateChange?
        /// What it leaves of logs of this document.
        fileprivate(set) var cuts = CutTable.none
        /// The member whose device wrote it, `nil` where it cites no grant.
        let author: MemberID?
        let log: LogName
        let sequence: UInt64
        let timestamp: HybridTimestamp
        /// The workspace grant that it cites.
        let grant: OperationID
        let keyID: KeyID
        let arrival: Int64
        let branch: Int64
        /// The nearest membership operation before it in its log.
        let previous: OperationID?
        let dependencies: [OperationID]

        /// One that was not opened so far.
        init(
            author: MemberID?, log: LogName, sequence: UInt64, timestamp: HybridTimestamp,
            grant: OperationID, keyID: KeyID, arrival: Int64, branch: Int64,
            previous: OperationID?, dependencies: [OperationID]
        ) {
            self.author = author
            self.log = log
            self.sequence = sequence
            self.timestamp = timestamp
            self.grant = grant
            self.keyID = keyID
            self.arrival = arrival
            self.branch = branch
            self.previous = previous
            self.dependencies = dependencies
        }
    }

    /// One stretch of a log.
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
        keys = EpochKeyring(.privateKey, of: number, in: vault)
        authorityKeys = PrivateKeyring(of: number, in: vault)
        self.shelf = shelf
        shelfName = shelf.makeName()
    }

    deinit { shelf.drop(shelfName) }

    /// The operation that made it.
    var rootID: OperationID { OperationID(sameBytesAs: id) }

    /// How it began, `nil` until that could be read.
    var root: PrivateRoot? {
        guard gist.hasRoot, case .root(let root)? = records[rootID]?.change?.action else {
            return nil
        }
        return root
    }

    /// Whether events have told that it is there.
    var isTold: Bool { if case .nothing = toldOf { false } else { true } }

    /// What events have told of a channel; `nil` of a conversation.
    var told: Channel? {
        if case .channel(let channel) = toldOf { channel } else { nil }
    }

    /// Notes what events have told of it, `nil` where that is nothing.
    func noteTold(_ channel: Channel?) {
        guard let channel else { return toldOf = .nothing }
        toldOf = channel.isDirect ? .conversation : .channel(channel)
    }

    /// Takes over what events have told of it when it was another object.
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
                    // What has come since is nothing that it was judged with.
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
        gist = PrivateGist(judged.authority)
        cuts = PrivateCuts()
        own = nil
        resident = size > Limits.judgedOnceMoreMax ? judged : nil
        if resident == nil { shelf.keep(judged, as: shelfName) } else { shelf.drop(shelfName) }
    }

    /// The keys that may be given to a member and are not held.
    func missingKeys(of member: MemberID) -> [KeyID] {
        place(of: member).missing.filter { !keys.holds($0) }
    }

    /// The operations that gave a member seats of a channel which still hold.
    func lastingSeats(of member: MemberID) -> [OperationID] { place(of: member).lasting }

    /// Called when it was judged: who lists all documents has none judged again.
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
        untried.epochs.append(name)
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
        untried.epochs.append(name)
        return place
    }

    func enter(_ id: OperationID, _ record: Record) {
        guard records[id] == nil else { return }
        records[id] = record
        order.append(id)
        closed.insert(id)
        closedByKey[record.keyID, default: []].insert(id)
        untried.operations.append(id)
    }

    /// What was opened, and what that has in its past, in the order of arrival. Everything else says
    /// nothing, and nothing that does stands on it: members who are not in the document can write
    /// any number of such operations.
    var telling: [OperationID] {
        guard !closed.isEmpty else { return order }
        var found: Set<OperationID> = []
        var next = order.filter { !closed.contains($0) }
        while let id = next.popLast() {
            guard let record = records[id], found.insert(id).inserted else { continue }
            next += record.dependencies
            record.previous.map { next.append($0) }
        }
        return order.filter(found.contains)
    }

    /// What came since this was asked last: every operation is tried when it comes, and when a key
    /// of its epoch does.
    func takeUntried() -> (operations: [OperationID], epochs: [KeyID]) {
        defer { untried = ([], []) }
        return untried
    }

    /// Works out anew who of those that operations name was ever let in.
    ///
    /// - Parameter isKnown: whether the workspace ever let somebody in.
    func noteNamed(_ isKnown: (MemberID) -> Bool) {
        everIn = []
        seats.given = 0
        for record in records.values {
            for seat in record.change?.action.seats ?? [] {
                guard everIn.contains(seat.member) || isKnown(seat.member) else { continue }
                everIn.insert(seat.member)
                seats.given += 1
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
    var namesStrangers: Bool { seats.named > seats.given }

    private func names(_ member: MemberID) -> Bool {
        guard namesStrangers else { return false }
        return records.values.contains { record in
            record.change?.action.seats.contains { $0.member == member } == true
        }
    }

    func noteLook() { looks &+= 1 }

    func noteJudged() { judgements &+= 1 }

    /// Whether any of `records` names a key.
    func names(key: KeyID) -> Bool { records.values.contains { $0.keyID == key } }

    /// The operations that name a key and were not opened so far.
    func closed(under name: KeyID) -> Set<OperationID> { closedByKey[name] ?? [] }

    /// The right of an owner, and of an admin.
    func deletionLimits(at place: LimitPlace) -> [PrivateContentLimit] {
        if let known = deletionLimits[place] { return known }
        let limits = [Role.owner, .admin].map { contentLimit(at: place, leastRole: $0) }
        deletionLimits[place] = limits
        return limits
    }

    /// How far content of a stretch counts, by the seats of whoever wrote it.
    ///
    /// - Parameter leastRole: as for `PrivateAuthority.contentLimit`.
    func contentLimit(
        at place: LimitPlace, leastRole: Role = .guest
    ) -> PrivateContentLimit {
        let judgement = judgement
        let seats = judgement.seatRights(of: place.member)
        return judgement.authority.contentLimit(
            by: seats, in: place.log, under: place.key, leastRole: leastRole
        ) { self.cuts.places(of: $0, in: place.log, judgement.authority) }
    }

    /// Whether a member ever had a right to delete what others wrote here.
    func everMayDelete(_ member: MemberID) -> Bool {
        guard root?.subtype == .channel, authority.hasSeated(member, asAtLeast: .admin) else {
            passedOver.insert(member)
            return false
        }
        return true
    }

    /// Called when `authority` was made anew.
    func noteRights() {
        if passedOver.contains(where: { authority.hasSeated($0, asAtLeast: .admin) }) {
            hasOtherRights = true
        }
        passedOver = []
        let before = deletionLimits
        deletionLimits = [:]
        for (place, limits) in before where deletionLimits(at: place) != limits {
            hasOtherRights = true
        }
    }

    /// Whether a removal or departure leaves the log of an operation up to exactly that one, of those
    /// on which something hangs that was shown or hidden.
    func isCut(at operation: CheckedOperation) -> Bool {
        let header = operation.header
        let log = LogName(document: id, device: header.device, incarnation: header.incarnation)
        return cuts.names(operation.id, of: log)
    }

    /// Whether a removal or departure, of those that were asked about, leaves something of a log.
    func hasCuts(in log: LogName) -> Bool { cuts.concern(log) }

    /// Called when operations came, before any of them is shown.
    func noteStored(_ operations: [CheckedOperation]) {
        if operations.contains(where: { isCut(at: $0) }) { cuts.forgetBounds() }
    }

    /// The bytes that places take in memory which removals and departures name; for tests.
    var cutBytes: Int {
        records.values.reduce(cuts.byteCount) { sum, record in
            let listed = record.change?.action.cuts.count ?? 0
            return sum + record.cuts.byteCount + listed * MemoryLayout<CutEntry>.stride
        }
    }

    /// An empty table goes, with the room that it has: mostly all that is there opens.
    private func noteOpened(_ id: OperationID) {
        closed.remove(id)
        if closed.isEmpty { closed = [] }
        guard let name = records[id]?.keyID else { return }
        closedByKey[name]?.remove(id)
        if closedByKey[name]?.isEmpty == true { closedByKey[name] = nil }
        if closedByKey.isEmpty { closedByKey = [:] }
    }

    /// Notes what an operation says, and by which key it was opened: what comes first is tried
    /// first.
    func opened(_ id: OperationID, _ change: PrivateChange?, by place: Int) {
        noteOpened(id)
        let own = (change?.action.cuts ?? []).filter { $0.log.document == self.id }
        records[id]?.change = change?.withoutCuts
        records[id]?.cuts = CutTable(own)
        if !own.isEmpty { hasCuts = true }
        if let name = records[id]?.keyID, change?.action.epoch?.keyID == name {
            introducing[name, default: []].append(id)
        }
        if case .add(let addition)? = change?.action,
            addition.workspaceName != nil || addition.displayNames != nil
        {
            tellsNames = true
        }
        operationSize += 1 + (records[id]?.dependencies.count ?? 0)
        let named = change?.action.seats ?? []
        seats = (seats.given + named.count, seats.named + named.count)
        guard place > 0, let name = records[id]?.keyID, !keys.holds(name) else { return }
        authorityKeys.prefer(place, of: name)
    }
}

extension PrivateDocument {
    /// What names a stored membership operation to others.
    func reference(_ id: OperationID) -> OperationReference? {
        records[id].map { record in
            OperationReference(
                device: record.log.device, incarnation: record.log.incarnation,
                sequence: record.sequence, id: id)
        }
    }
}
