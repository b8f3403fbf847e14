public import WorkspaceModel

/// Runs that cite missing operations, kept in memory until those arrive.
///
/// Count and bytes are bounded, per source and in total. What exceeds a bound is dropped: sync
/// sends it again, so a limit delays and never decides.
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
        /// The run.
        public let run: OperationRun
        /// The peer that sent it, by a number that the owner assigns.
        public let source: UInt64
        /// When it arrived, milliseconds.
        public let arrived: UInt64
        /// The short number of the workspace that it was sent for; it may wait for
        /// something of another one.
        public let workspace: Int64
        /// Whether it is part of a first sync.
        public let isBackfill: Bool
        /// Whether its sender is not a member of that workspace, and has less room.
        public let isOutsiders: Bool
        /// Whether it changes rights, and is not part of a first sync: such runs have less room.
        public let isAuthority: Bool
        /// The member whose budget it uses: its author or, if another member's operations need it,
        /// that member. 16 bytes; for a device of an unknown member, those of the sender; empty
        /// where no budget applies.
        public let payer: [UInt8]
        /// Whether an owner or admin signed it, or needs it: these runs have room of their own.
        public let isAdmins: Bool
        /// The members that need it: its author, and the authors of operations that need it.
        public let vouchers: [Voucher]
        /// The places of cited operations that are not stored, as far as it names them.
        public let needed: [Place]
        /// Its first operation's citations in logs that may have more branches than are kept.
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

        /// Whether it is the same run with no more privileges than a waiting one.
        fileprivate func claims(noMoreThan other: Self) -> Bool {
            run == other.run && workspace == other.workspace && isBackfill == other.isBackfill
                && isOutsiders == other.isOutsiders && isAuthority == other.isAuthority
                && isAdmins == other.isAdmins && payer == other.payer
                && vouchers == other.vouchers && needed == other.needed
        }

        /// The same run with further known citations.
        fileprivate func citing(_ more: [Citation]) -> Self {
            Self(
                run: run, source: source, arrived: arrived, workspace: workspace,
                isBackfill: isBackfill, isOutsiders: isOutsiders, isAuthority: isAuthority,
                payer: payer, isAdmins: isAdmins, vouchers: vouchers, needed: needed,
                cited: cited + more.filter { !cited.contains($0) })
        }

        /// Its needed places, paired with each member that needs them.
        fileprivate var wishes: [(place: Place, voucher: Voucher)] {
            needed.flatMap { place in vouchers.map { (place, $0) } }
        }
    }

    /// A member whose operation cites something that is not stored.
    public struct Voucher: Hashable, Comparable, Sendable {
        /// The member's bytes, 16; for a device of an unknown member, those of the sender.
        public let member: [UInt8]
        /// The device that wrote the citing operation.
        public let device: DeviceID

        /// The voucher of `member`, with `device`.
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

    /// A cited operation with its place.
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

    /// The units that have a bound of their own.
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

    /// The key of a share of that room.
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

    /// A key under which a repeated run is found, before it is compared.
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
    /// The latest ticket of each run.
    private var tickets: [Name: UInt64] = [:]
    private var waiting: [Missing: [UInt64]] = [:]
    /// How many members' runs need an operation besides what they wait for.
    private var wanted: [OperationID: Int] = [:]
    /// The members that need something of a log: in how many of their runs, and up to which place.
    /// The farthest place stands while any such run is left.
    private var wanting: [LogName: [Voucher: (runs: Int, through: UInt64)]] = [:]
    /// Citations of members' runs in documents with bounded logs, with the number of runs;
    /// not all of very many.
    private var cited: [DocumentID: [Citation: Int]] = [:]
    /// The number of recorded citations of each source.
    private var citing: [UInt64: Int] = [:]
    private var citedCount = 0
    /// Logs that no waiting run cites any more, by workspace: operations that were stored only for
    /// such a citation may be pruned.
    private var loosened: [Int64: Set<LogName>] = [:]
    private var usage: [Source: Usage] = [:]
    private var usageByPayer: [Part: Usage] = [:]
    private var nextTicket: UInt64 = 0

    /// Bytes of all waiting runs.
    public private(set) var byteCount = 0
    /// Number of waiting operations.
    public private(set) var operationCount = 0

    /// An empty room.
    public init() {}

    /// Makes a run wait for `missing`, unless it already does.
    ///
    /// - Parameter others: other operations that it needs; it does not wait for them, but they are
    ///   recorded as needed.
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

    /// Removes the same run with other properties: its budget may have changed, and it
    /// must be counted once.
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

    /// Whether its source has sent the run before, with the same privileges. Its citations may only
    /// now be known, or counted.
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

    /// Removes and returns the runs that waited for `found`, in order of arrival.
    public mutating func release(_ found: Missing) -> [Guest] {
        (waiting.removeValue(forKey: found) ?? []).compactMap { remove($0) }
    }

    /// Whether a run waits for this.
    public func awaits(_ missing: Missing) -> Bool { waiting[missing] != nil }

    /// Whether a member's run waits for this, or needs it besides.
    public func awaitsForMembers(_ missing: Missing) -> Bool {
        if case .operation(let id) = missing, wanted[id] != nil { return true }
        return (waiting[missing] ?? []).contains { guests[$0]?.guest.isOutsiders == false }
    }

    /// The citations of waiting members' runs in a document, in no order.
    public func citations(in document: DocumentID) -> [Citation] {
        (cited[document] ?? [:]).map(\.key)
    }

    /// Whether a waiting member's run cites this operation.
    public func cites(_ citation: Citation) -> Bool {
        cited[citation.place.log.document]?[citation] != nil
    }

    /// Whether a waiting run cites one of these consecutive operations, which start at
    /// `sequence` in `log`.
    public func needs(
        _ operations: some Collection<ChainLink>, at sequence: UInt64, of log: LogName
    ) -> Bool {
        operations.enumerated().contains { offset, link in
            awaits(.operation(link.id))
                || cites(Citation(link.id, at: Place(log, sequence &+ UInt64(offset))))
        }
    }

    /// The members that need an operation, or a later one of its log, other than the log's own
    /// device. Ascending.
    ///
    /// - Cost: linear in the devices that need something of that log, not in the waiting runs.
    public func vouchers(for place: Place) -> [Voucher] {
        (wanting[place.log] ?? [:])
            .filter { $0.key.device != place.log.device && $0.value.through >= place.sequence }
            .keys.sorted()
    }

    /// Whether anybody, including its author, needs an operation, or a later one of its log.
    public func isWanted(_ place: Place) -> Bool {
        (wanting[place.log] ?? [:]).values.contains { $0.through >= place.sequence }
    }

    /// Drops everything from `source`.
    public mutating func forget(source: UInt64) {
        // Nearly every link that ends has sent nothing, and thousands may end in a second.
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
        // One pass per cause, however many waited for it: a stranger chooses both numbers.
        for missing in affected {
            let left = waiting[missing]?.filter { guests[$0] != nil } ?? []
            waiting[missing] = left.isEmpty ? nil : left
        }
    }

    /// Removes and returns the logs cited by runs that no longer wait, by workspace.
    public mutating func takeLoosened() -> [(workspace: Int64, logs: [LogName])] {
        defer { loosened = [:] }
        return loosened.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) }
    }

    /// Evicts the runs of the member that uses most of a source's full room, if that is more than
    /// the new run's member would use: a source that relays others' operations does not give one of
    /// them all of its room. A comparison brings evicted runs back.
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

    /// Evicts the runs of the source that uses most of the full room, if that is more
    /// than the new run's source would use: so no source fills it for all. A comparison
    /// brings evicted runs back.
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

    /// Whether this many more citations by a source are recorded. Each may keep a branch above the
    /// limit, and each makes pruning slower.
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

    /// The approximate memory use. Runs of the authority document have one operation, and each log
    /// that members need takes an entry in a shared table.
    private func byteCount(of guest: Guest) -> Int {
        let entries = guest.wishes.count { wanting[$0.place.log]?[$0.voucher] == nil }
        let wanted = guest.isOutsiders ? 0 : 512 * entries + 96 * guest.needed.count
        let start = (guest.isAuthority && !guest.isOutsiders ? 640 : 128) + wanted
        return guest.run.entries.reduce(start + 192 * guest.cited.count) {
            $0 + $1.payload.count + 80 * $1.dependencies.count + 240
        }
    }
}
