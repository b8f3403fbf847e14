public import WorkspaceModel

/// Runs that cite something unknown, kept in memory until it comes.
///
/// The room is bounded by count and bytes, per source and in all. What does not fit is dropped:
/// it comes again by sync, so a limit here delays and never decides.
public struct WaitingRoom: Sendable {
    /// What a run waits for.
    public enum Missing: Hashable, Sendable {
        /// An operation that is cited as grant or dependency.
        case operation(OperationID)
        /// The operation before the run's first.
        case previous(OperationID)
    }

    /// One waiting run.
    public struct Guest: Sendable {
        /// What waits.
        public let run: OperationRun
        /// Who brought it, a number the owner gives to peers.
        public let source: UInt64
        /// When it came, milliseconds.
        public let arrived: UInt64
        /// The short number of the workspace that it was brought for; what it waits for may be
        /// another one's.
        public let workspace: Int64
        /// Whether it is part of a first sync.
        public let isBackfill: Bool
        /// Whether who brought it is nobody in that workspace, and has less room.
        public let isOutsiders: Bool
        /// Whether it changes rights, and is no part of a first sync: such runs have less room.
        public let isAuthority: Bool
        /// Whose it counts as: its author's, or where operations of somebody else need it that one's. A
        /// member's bytes, 16, or of a device whose member nobody knows that of whoever brought it;
        /// empty where nobody asks.
        public let payer: [UInt8]
        /// Whether an owner or admin has signed it, or needs it: these runs have a room of their own.
        public let isAdmins: Bool
        /// Who wants it: its author, and whose operations need it.
        public let vouchers: [Voucher]
        /// What it cites that is not stored, as far as it says where that lies.
        public let needed: [Place]
        /// What its first operation cites in a log that may have more branches than are kept.
        public let cited: [Citation]

        /// A run that `source` brought at `arrived`.
        public init(
            run: OperationRun, source: UInt64, arrived: UInt64, workspace: Int64 = 0,
            isBackfill: Bool = false, isOutsiders: Bool = false, isAuthority: Bool = false,
            payer: [UInt8] = [], isAdmins: Bool = false, vouchers: [Voucher] = [],
            needed: [Place] = [], cited: [Citation] = []
        ) {
            self.run = run
            self.source = source
            self.arrived = arrived
            self.workspace = workspace
            self.isBackfill = isBackfill
            self.isOutsiders = isOutsiders
            self.isAuthority = isAuthority
            self.payer = payer
            self.isAdmins = isAdmins
            self.vouchers = vouchers
            self.needed = needed
            self.cited = cited
        }

        /// Whether it is the same run, and has no other standing than one that waits.
        fileprivate func claims(noMoreThan other: Self) -> Bool {
            run == other.run && workspace == other.workspace && isBackfill == other.isBackfill
                && isOutsiders == other.isOutsiders && isAuthority == other.isAuthority
                && isAdmins == other.isAdmins && payer == other.payer
                && vouchers == other.vouchers && needed == other.needed
        }

        /// The same, which is known to cite these, too.
        fileprivate func citing(_ more: [Citation]) -> Self {
            Self(
                run: run, source: source, arrived: arrived, workspace: workspace,
                isBackfill: isBackfill, isOutsiders: isOutsiders, isAuthority: isAuthority,
                payer: payer, isAdmins: isAdmins, vouchers: vouchers, needed: needed,
                cited: cited + more.filter { !cited.contains($0) })
        }

        /// What it needs, for each who wants it.
        fileprivate var wishes: [(place: Place, voucher: Voucher)] {
            needed.flatMap { place in vouchers.map { (place, $0) } }
        }
    }

    /// Who wants something that is not stored, for what it wrote cites that.
    public struct Voucher: Hashable, Comparable, Sendable {
        /// A member's bytes, 16; of a device whose member nobody knows that of whoever brought it.
        public let member: [UInt8]
        /// The device that wrote what needs it.
        public let device: DeviceID

        /// Somebody who is `member`, with `device`.
        public init(_ member: [UInt8], _ device: DeviceID) {
            self.member = member
            self.device = device
        }

        /// By member, then by device.
        public static func < (left: Self, right: Self) -> Bool {
            if left.member == right.member { return left.device < right.device }
            return left.member.lexicographicallyPrecedes(right.member)
        }
    }

    /// An operation that another one cites, and where it lies.
    public struct Citation: Hashable, Sendable {
        /// Its place.
        public let place: Place
        /// Its id.
        public let id: OperationID

        /// The operation with this id, at its place.
        public init(_ id: OperationID, at place: Place) {
            self.id = id
            self.place = place
        }
    }

    /// A place in a log, from 0.
    public struct Place: Hashable, Sendable {
        /// The log.
        public let log: LogName
        /// The number of an operation.
        public let sequence: UInt64

        /// The operation `sequence` of `log`.
        public init(_ log: LogName, _ sequence: UInt64) {
            self.log = log
            self.sequence = sequence
        }
    }

    /// What is bounded by itself.
    private struct Source: Hashable {
        let number: UInt64
        let isAuthority: Bool
        let isAdmins: Bool

        init(_ guest: Guest) {
            number = guest.source
            isAuthority = guest.isAuthority
            isAdmins = guest.isAdmins
        }

        var rank: (UInt64, Int) { (number, (isAuthority ? 2 : 0) + (isAdmins ? 1 : 0)) }
    }

    /// Whose part of that is known.
    private struct Part: Hashable {
        let source: Source
        let payer: [UInt8]

        init(_ guest: Guest) {
            source = Source(guest)
            payer = guest.payer
        }
    }

    private struct Usage {
        var count = 0
        var byteCount = 0

        static func + (left: Self, right: Self) -> Self {
            Self(count: left.count + right.count, byteCount: left.byteCount + right.byteCount)
        }

        static func - (left: Self, right: Self) -> Self? {
            let count = left.count - right.count
            return count == 0
                ? nil : Self(count: count, byteCount: left.byteCount - right.byteCount)
        }
    }

    private struct Seat {
        let missing: Missing
        let others: [OperationID]
        var cited: [Citation]
        let guest: Guest
        let byteCount: Int
    }

    /// What a run that comes again is known by, before it is compared.
    private struct Name: Hashable {
        let source: UInt64
        let missing: Missing
        let log: LogName
        let firstSequence: UInt64
        let signature: Signature?

        init(_ guest: Guest, _ missing: Missing) {
            source = guest.source
            self.missing = missing
            log = guest.run.log
            firstSequence = guest.run.firstSequence
            signature = guest.run.entries.last?.signature
        }
    }

    private var guests: [UInt64: Seat] = [:]
    /// The ticket that a run had last.
    private var tickets: [Name: UInt64] = [:]
    private var waiting: [Missing: [UInt64]] = [:]
    /// How many runs that members brought need it besides what they wait for.
    private var wanted: [OperationID: Int] = [:]
    /// Who wants something of a log: in how many runs of members, and up to where. As long as any
    /// is left, the farthest stands.
    private var wanting: [LogName: [Voucher: (runs: Int, through: UInt64)]] = [:]
    /// What runs of members cite where logs are bounded, and how many of them each; of very many
    /// not all.
    private var cited: [DocumentID: [Citation: Int]] = [:]
    /// How many citations of each source are known.
    private var citing: [UInt64: Int] = [:]
    private var citedCount = 0
    /// Logs of which nothing that waits cites a certain operation any more, by workspace: what stayed
    /// stored only for its sake may go.
    private var loosened: [Int64: Set<LogName>] = [:]
    private var usage: [Source: Usage] = [:]
    private var usageByPayer: [Part: Usage] = [:]
    private var nextTicket: UInt64 = 0

    /// Bytes of everything that waits.
    public private(set) var byteCount = 0
    /// Operations that wait.
    public private(set) var operationCount = 0

    /// An empty room.
    public init() {}

    /// Lets a run wait for `missing`. One that waits for that already does not wait twice.
    ///
    /// - Parameter others: what it needs besides, which is not waited for but known to be wanted.
    /// - Returns: whether there was room.
    public mutating func admit(
        _ guest: Guest, until missing: Missing, besides others: [OperationID] = []
    ) -> Bool {
        if waitsAlready(guest, until: missing, besides: others) { return true }
        if let former = takeFormer(guest, until: missing) {
            let heir = guest.citing(former.cited)
            if enter(heir, until: missing, besides: others) { return true }
            return enter(former.guest, until: missing, besides: former.others)
        }
        return enter(guest, until: missing, besides: others)
    }

    /// Takes out the same run with another standing: whose it counts as may have changed, and it takes its
    /// room once.
    private mutating func takeFormer(_ guest: Guest, until missing: Missing) -> Seat? {
        guard let ticket = tickets[Name(guest, missing)], let seat = guests[ticket],
            seat.guest.run == guest.run, seat.guest.workspace == guest.workspace
        else { return nil }
        _ = remove(ticket)
        waiting[missing]?.removeAll { $0 == ticket }
        if waiting[missing]?.isEmpty == true { waiting[missing] = nil }
        return seat
    }

    private mutating func enter(
        _ guest: Guest, until missing: Missing, besides others: [OperationID]
    ) -> Bool {
        let bytes = byteCount(of: guest)
        let size = Usage(count: guest.run.entries.count, byteCount: bytes)
        guard makeRoom(for: guest, size),
            makeRoom(for: bytes, beside: usage[Source(guest)]?.byteCount ?? 0)
        else { return false }
        let cited = mayCite(guest.cited.count, guest.source) ? guest.cited : []
        guests[nextTicket] = Seat(
            missing: missing, others: others, cited: guest.isOutsiders ? [] : cited, guest: guest,
            byteCount: bytes)
        if !guest.isOutsiders {
            for citation in cited { note(citation, by: guest.source) }
            for other in others { wanted[other, default: 0] += 1 }
            for (place, voucher) in guest.wishes {
                let known = wanting[place.log]?[voucher] ?? (0, 0)
                wanting[place.log, default: [:]][voucher] = (
                    known.runs + 1, max(known.through, place.sequence)
                )
            }
        }
        waiting[missing, default: []].append(nextTicket)
        tickets[Name(guest, missing)] = nextTicket
        usage[Source(guest)] = (usage[Source(guest)] ?? Usage()) + size
        usageByPayer[Part(guest)] = (usageByPayer[Part(guest)] ?? Usage()) + size
        byteCount += bytes
        operationCount += size.count
        nextTicket += 1
        return true
    }

    /// Whether its source has brought the run before, and for as much. What it cites may be known, or
    /// heeded, only now.
    private mutating func waitsAlready(
        _ guest: Guest, until missing: Missing, besides others: [OperationID]
    ) -> Bool {
        guard let ticket = tickets[Name(guest, missing)], let seat = guests[ticket],
            guest.claims(noMoreThan: seat.guest), seat.others == others
        else { return false }
        let new = guest.isOutsiders ? [] : guest.cited.filter { !seat.cited.contains($0) }
        if mayCite(new.count, guest.source) {
            guests[ticket]?.cited += new
            for citation in new { note(citation, by: guest.source) }
        }
        return true
    }

    /// Takes out, in the order in which they came, the runs that waited for `found`.
    public mutating func release(_ found: Missing) -> [Guest] {
        (waiting.removeValue(forKey: found) ?? []).compactMap { remove($0) }
    }

    /// Whether something waits for this.
    public func awaits(_ missing: Missing) -> Bool { waiting[missing] != nil }

    /// Whether something waits for this, or needs it besides, that a member has brought.
    public func awaitsForMembers(_ missing: Missing) -> Bool {
        if case .operation(let id) = missing, wanted[id] != nil { return true }
        return (waiting[missing] ?? []).contains { guests[$0]?.guest.isOutsiders == false }
    }

    /// What members' runs that wait cite in a document, in no order.
    public func citations(in document: DocumentID) -> [Citation] {
        (cited[document] ?? [:]).map(\.key)
    }

    /// Whether a member's run that waits cites this operation.
    public func cites(_ citation: Citation) -> Bool {
        cited[citation.place.log.document]?[citation] != nil
    }

    /// Whether a run that waits cites one of these operations, which follow each other from `sequence`
    /// on in `log`.
    public func needs(
        _ operations: some Collection<ChainLink>, at sequence: UInt64, of log: LogName
    ) -> Bool {
        operations.enumerated().contains { offset, link in
            awaits(.operation(link.id))
                || cites(Citation(link.id, at: Place(log, sequence &+ UInt64(offset))))
        }
    }

    /// Who wants an operation, or one behind it in its log, besides the device whose log that is.
    /// Ascending.
    ///
    /// - Cost: linear in the devices that want something of that log, not in what waits.
    public func vouchers(for place: Place) -> [Voucher] {
        (wanting[place.log] ?? [:])
            .filter { $0.key.device != place.log.device && $0.value.through >= place.sequence }
            .keys.sorted()
    }

    /// Whether anybody, its author too, wants an operation, or one behind it in its log.
    public func isWanted(_ place: Place) -> Bool {
        (wanting[place.log] ?? [:]).values.contains { $0.through >= place.sequence }
    }

    /// Forgets what `source` brought.
    public mutating func forget(source: UInt64) {
        // Nearly every link that ends has brought nothing, and thousands may end in a second.
        guard usage.keys.contains(where: { $0.number == source }) else { return }
        forget { $0.source == source }
    }

    private mutating func forget(where fits: (Guest) -> Bool) {
        var affected: Set<Missing> = []
        let tickets = guests.filter { fits($0.value.guest) }.map(\.key)
        for ticket in tickets {
            if let missing = guests[ticket]?.missing { affected.insert(missing) }
            _ = remove(ticket)
        }
        // One pass a cause, however many waited for it: a stranger chooses both numbers.
        for missing in affected {
            let left = waiting[missing]?.filter { guests[$0] != nil } ?? []
            waiting[missing] = left.isEmpty ? nil : left
        }
    }

    /// Takes out the logs that operations cited which wait no more, by workspace.
    public mutating func takeLoosened() -> [(workspace: Int64, logs: [LogName])] {
        defer { loosened = [:] }
        return loosened.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    /// Has what counts as somebody else's go where a source's room is full, while that one has more in it
    /// than whose comes now would: whoever passes on what others write lends nobody all of its room.
    /// What goes comes again by comparison.
    private mutating func makeRoom(for guest: Guest, _ size: Usage) -> Bool {
        let source = Source(guest)
        let most = guest.isOutsiders ? Limits.waitingPerOutsiderMax : Limits.waitingPerPeerMax
        let members =
            guest.isAuthority
            ? Limits.waitingAuthorityBytesPerPeerMax : Limits.waitingBytesPerPeerMax
        let bytesMax = guest.isOutsiders ? Limits.outsiderBytesHourly : members
        guard size.count <= most, size.byteCount <= bytesMax else { return false }
        while let used = usage[source] {
            let isCrowded = used.count + size.count > most
            guard isCrowded || used.byteCount + size.byteCount > bytesMax else { break }
            let extent = isCrowded ? \Usage.count : \Usage.byteCount
            let own = (usageByPayer[Part(guest)] ?? Usage()) + size
            guard
                let largest = usageByPayer.filter({ $0.key.source == source }).max(by: {
                    $0.value[keyPath: extent] == $1.value[keyPath: extent]
                        ? $0.key.payer.lexicographicallyPrecedes($1.key.payer)
                        : $0.value[keyPath: extent] < $1.value[keyPath: extent]
                }), largest.value[keyPath: extent] > own[keyPath: extent]
            else { return false }
            forget { Part($0) == largest.key }
        }
        return true
    }

    /// Has others go where the room is full, while one of them has more in it than whoever comes now
    /// would: so nobody fills it for all. What goes comes again by comparison.
    private mutating func makeRoom(for bytes: Int, beside used: Int) -> Bool {
        while byteCount + bytes > Limits.waitingBytesMax {
            guard
                let largest = usage.max(by: {
                    $0.value.byteCount == $1.value.byteCount
                        ? $0.key.rank < $1.key.rank : $0.value.byteCount < $1.value.byteCount
                }), largest.value.byteCount > used + bytes
            else { return false }
            forget { Source($0) == largest.key }
        }
        return true
    }

    private mutating func remove(_ ticket: UInt64) -> Guest? {
        guard let seat = guests.removeValue(forKey: ticket) else { return nil }
        let (guest, bytes) = (seat.guest, seat.byteCount)
        let name = Name(guest, seat.missing)
        if tickets[name] == ticket { tickets[name] = nil }
        if !guest.isOutsiders {
            for citation in seat.cited {
                forget(citation, by: guest.source)
                loosened[guest.workspace, default: []].insert(citation.place.log)
            }
            for other in seat.others {
                wanted[other] = wanted[other].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
            for (place, voucher) in guest.wishes {
                guard let known = wanting[place.log]?[voucher] else { continue }
                wanting[place.log]?[voucher] =
                    known.runs > 1 ? (known.runs - 1, known.through) : nil
                if wanting[place.log]?.isEmpty == true { wanting[place.log] = nil }
            }
        }
        let size = Usage(count: guest.run.entries.count, byteCount: bytes)
        byteCount -= bytes
        operationCount -= size.count
        usage[Source(guest)] = usage[Source(guest)].flatMap { $0 - size }
        usageByPayer[Part(guest)] = usageByPayer[Part(guest)].flatMap { $0 - size }
        return guest
    }

    /// Whether so many more citations of what a source brings are heeded. Each may keep a branch that
    /// is too many, and each makes pruning longer.
    public func mayCite(_ count: Int, _ source: UInt64) -> Bool {
        (citing[source] ?? 0) + count <= Limits.waitingCitationsPerPeerMax
            && citedCount + count <= Limits.waitingCitationsMax
    }

    private mutating func note(_ citation: Citation, by source: UInt64) {
        cited[citation.place.log.document, default: [:]][citation, default: 0] += 1
        citing[source, default: 0] += 1
        citedCount += 1
    }

    private mutating func forget(_ citation: Citation, by source: UInt64) {
        let document = citation.place.log.document
        if let count = cited[document]?[citation] {
            cited[document]?[citation] = count > 1 ? count - 1 : nil
            if cited[document]?.isEmpty == true { cited[document] = nil }
        }
        citing[source] = citing[source].flatMap { $0 > 1 ? $0 - 1 : nil }
        citedCount -= 1
    }

    /// About what memory takes. Runs of the authority document are of one operation, and each log that
    /// members need has an entry in a table, which all of them share.
    private func byteCount(of guest: Guest) -> Int {
        let entries = guest.wishes.count { wanting[$0.place.log]?[$0.voucher] == nil }
        let wanted = guest.isOutsiders ? 0 : 512 * entries + 96 * guest.needed.count
        let start = (guest.isAuthority && !guest.isOutsiders ? 640 : 128) + wanted
        return guest.run.entries.reduce(start + 192 * guest.cited.count) {
            $0 + $1.payload.count + 80 * $1.dependencies.count + 240
        }
    }
}
