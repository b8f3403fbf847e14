public import WorkspaceModel

/// The valid claims about one channel, maintained incrementally: after a thousand transfers of a
/// channel, the next one does not need a walk over a thousand links.
///
/// It is a function of the set of operations, as a ruling made from scratch is, whatever the order
/// of arrival. Only the evaluator changes it, and it is meaningful only to the evaluator that made
/// it.
public struct ChannelLedger: Sendable {
    /// A valid claim whose link is in its past.
    struct Claim {
        /// The record of the link under which it was written.
        let link: Int
        let change: ChannelChange?
        /// Whether it has effect.
        var counts = false

        var isLink: Bool { change?.isLink == true }
    }

    /// A link of the chain, and the rights under it.
    struct Link {
        let index: Int
        let owner: MemberID
        /// Ascending.
        let admins: [MemberID]
        /// The latest time that this link or one between it and the creation names.
        let latest: UInt64
    }

    /// The effect of a change on the counting claims, in no order.
    public struct Change: Sendable {
        /// Claims that count now.
        public internal(set) var added: [OperationID] = []
        /// Claims that no longer count.
        public internal(set) var removed: [OperationID] = []
    }

    /// The document that the claims are about.
    public let channel: DocumentID
    /// The record that made it, once that is here.
    var creation: Int?
    /// By their records.
    var claims: [Int: Claim] = [:]
    /// Links by the link that they replace, the strongest first.
    var successors: [Int: [Int]] = [:]
    /// Claims that are not links and not by an admin of the workspace, by the link under which they
    /// were written.
    var others: [Int: [Int]] = [:]
    /// The creation, and each link that counts after the one that it replaces.
    var chain: [Link] = []
    /// The position of a link in the chain.
    var places: [Int: Int] = [:]
    /// Settings that count, in the order in which they overwrite each other.
    var counting: [Int] = []
    /// Those among them that archive the channel or open it again.
    var archivings: [Int] = []
    /// Those among them that say what newcomers see.
    var histories: [Int] = []
    /// Deletions that count, in the same order.
    var deletions: [Int] = []
    /// How many claims were looked at; for tests.
    public internal(set) var looks = 0

    init(_ channel: DocumentID) { self.channel = channel }
}

extension AuthEvaluator {
    /// The ledger of a channel about which there are no claims but these.
    ///
    /// - Parameter claims: in any order. They must not contain claims about other channels or
    ///   unknown operations; they may contain invalid ones.
    /// - Cost: n log n in the number of claims.
    public func ledger(of channel: DocumentID, claims: [ChannelClaim] = []) -> ChannelLedger {
        var ledger = ChannelLedger(channel)
        _ = update(&ledger, with: claims)
        return ledger
    }

    /// Applies claims about the channel that are new, or whose verdict has changed.
    ///
    /// - Cost: log n for each claim, and linear in the links that these add to the chain or take
    ///   from it and in what was written under those links.
    public func update(
        _ ledger: inout ChannelLedger, with claims: [ChannelClaim]
    ) -> ChannelLedger.Change {
        var change = ChannelLedger.Change()
        guard let creation = open(&ledger) else { return change }
        var recount: [Int] = []
        // Places of the chain after which another link may come, and links from which a claim was
        // taken.
        var (unsure, thinned): (Set<Int>, Set<Int>) = ([], [])
        for claim in claims {
            guard let index = indices[claim.id] else { continue }
            ledger.looks &+= 1
            let new = place(claim, at: index, creation: creation)
            if let known = ledger.claims[index] {
                guard new == nil else { continue }
                thinned.insert(known.link)
                ledger.places[index].map { _ = unsure.insert($0 - 1) }
                uncount(index, in: &ledger, &change)
                ledger.claims[index] = nil
            } else if let new {
                ledger.claims[index] = new
                enter(index, new, in: &ledger)
                if !new.isLink {
                    recount.append(index)
                } else if let place = ledger.places[new.link], outdoes(index, at: place, in: ledger)
                {
                    unsure.insert(place)
                }
            }
        }
        for link in thinned { thin(link, in: &ledger) }
        for place in unsure.sorted() {
            let next = strongest(behind: place, in: &ledger)
            let known = place + 1 < ledger.chain.count ? ledger.chain[place + 1].index : nil
            guard next != known else { continue }
            recount += follow(from: place, in: &ledger, &change)
            break
        }
        for index in recount { judge(index, in: &ledger, &change) }
        return change
    }

    /// Begins the chain as soon as the creation is here: claims that came earlier do not know it.
    private func open(_ ledger: inout ChannelLedger) -> Int? {
        if let creation = ledger.creation { return creation }
        guard let index = indices[OperationID(sameBytesAs: ledger.channel)],
            case .createDocument = records[index].operation.action,
            let creator = records[index].author
        else { return nil }
        ledger.creation = index
        ledger.places[index] = 0
        ledger.chain.append(.init(index: index, owner: creator, admins: [], latest: 0))
        return index
    }

    private func place(
        _ claim: ChannelClaim, at index: Int, creation: Int
    ) -> ChannelLedger.Claim? {
        guard records[index].isValid, let link = claim.link.map({ indices[$0] }) ?? creation,
            records[index].knows(records[link].place),
            records[index].knows(records[creation].place),
            records[index].author != nil, records[index].actingRole != nil
        else { return nil }
        return ChannelLedger.Claim(link: link, change: claim.change)
    }

    private func enter(
        _ index: Int, _ claim: ChannelLedger.Claim, in ledger: inout ChannelLedger
    ) {
        if claim.isLink {
            ledger.successors[claim.link, default: []].insert(index) {
                records[$0].rank < records[$1].rank
            }
        } else if !isByAdmin(index) {
            ledger.others[claim.link, default: []].append(index)
        }
    }

    /// Removes claims that are no longer placed from those written under a link.
    private func thin(_ link: Int, in ledger: inout ChannelLedger) {
        let claims = ledger.claims
        ledger.successors[link]?.removeAll { claims[$0] == nil }
        ledger.others[link]?.removeAll { claims[$0] == nil }
    }

    // MARK: The chain

    private func isByAdmin(_ index: Int) -> Bool {
        records[index].actingRole.map { $0 <= .admin } ?? false
    }

    /// Whether an owner or an admin of the workspace wrote it.
    private func mayReplace(_ index: Int, _ link: ChannelLedger.Link) -> Bool {
        isByAdmin(index) || records[index].author == link.owner
    }

    /// Whether a new link is stronger than the one after a place of the chain.
    private func outdoes(_ index: Int, at place: Int, in ledger: ChannelLedger) -> Bool {
        guard mayReplace(index, ledger.chain[place]) else { return false }
        guard place + 1 < ledger.chain.count else { return true }
        return records[index].rank < records[ledger.chain[place + 1].index].rank
    }

    /// The strongest link after a place of the chain.
    private func strongest(behind place: Int, in ledger: inout ChannelLedger) -> Int? {
        let link = ledger.chain[place]
        for index in ledger.successors[link.index] ?? [] {
            ledger.looks &+= 1
            if mayReplace(index, link) { return index }
        }
        return nil
    }

    /// Rebuilds the chain after a place.
    ///
    /// - Returns: the claims that may count now, or no longer.
    private func follow(
        from place: Int, in ledger: inout ChannelLedger, _ change: inout ChannelLedger.Change
    ) -> [Int] {
        var touched = ledger.others[ledger.chain[place].index] ?? []
        while ledger.chain.count > place + 1, let last = ledger.chain.popLast() {
            ledger.looks &+= 1
            ledger.places[last.index] = nil
            uncount(last.index, in: &ledger, &change)
            touched += ledger.others[last.index] ?? []
        }
        // A link has the one before it in its past, so this ends.
        while let next = strongest(behind: ledger.chain.count - 1, in: &ledger) {
            append(next, to: &ledger)
            touched.append(next)
            touched += ledger.others[next] ?? []
        }
        return touched
    }

    private func append(_ index: Int, to ledger: inout ChannelLedger) {
        let before = ledger.chain[ledger.chain.count - 1]
        let said = ledger.claims[index]?.change
        ledger.places[index] = ledger.chain.count
        ledger.chain.append(
            .init(
                index: index, owner: said?.owner ?? before.owner,
                admins: said?.admins.map { Set($0).sorted() } ?? before.admins,
                latest: max(before.latest, records[index].operation.timestamp)))
    }

    // MARK: What counts

    private func judge(
        _ index: Int, in ledger: inout ChannelLedger, _ change: inout ChannelLedger.Change
    ) {
        ledger.looks &+= 1
        guard let claim = ledger.claims[index] else { return }
        let counts = counts(index, claim, in: ledger)
        guard counts != claim.counts else { return }
        if !counts { return uncount(index, in: &ledger, &change) }
        ledger.claims[index]?.counts = true
        change.added.append(records[index].operation.id)
        for list in claim.lists { ledger[keyPath: list].insert(index, by: isEarlier) }
    }

    private func uncount(
        _ index: Int, in ledger: inout ChannelLedger, _ change: inout ChannelLedger.Change
    ) {
        guard let claim = ledger.claims[index], claim.counts else { return }
        ledger.claims[index]?.counts = false
        change.removed.append(records[index].operation.id)
        for list in claim.lists { ledger[keyPath: list].remove(index, by: isEarlier) }
    }

    /// Whether a claim has effect: a link if it is on the chain, any other claim as long as the
    /// link that it cites was the last.
    private func counts(
        _ index: Int, _ claim: ChannelLedger.Claim, in ledger: ChannelLedger
    ) -> Bool {
        if claim.isLink { return ledger.places[index] != nil }
        if isByAdmin(index) { return true }
        guard let place = ledger.places[claim.link], let author = records[index].author else {
            return false
        }
        let link = ledger.chain[place]
        let right = claim.change?.right ?? .manage
        guard author == link.owner || (right == .edit && link.admins.contains(author)) else {
            return false
        }
        guard place + 1 < ledger.chain.count else { return true }
        return records[ledger.chain[place + 1].index].knows(records[index].place)
    }

    /// The order in which settings overwrite each other: (lam, rank of the grant, id).
    func isEarlier(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (records[left], records[right])
        if first.lamport != second.lamport { return first.lamport < second.lamport }
        let (one, other) = (first.rank.author.grant, second.rank.author.grant)
        return one != other ? one < other : first.operation.id < second.operation.id
    }
}

extension ChannelLedger.Claim {
    /// The lists that hold it while it counts.
    fileprivate var lists: [WritableKeyPath<ChannelLedger, [Int]>] {
        guard let change else { return [\.deletions] }
        var lists: [WritableKeyPath<ChannelLedger, [Int]>] = [\.counting]
        if change.archived != nil { lists.append(\.archivings) }
        if change.history != nil { lists.append(\.histories) }
        return lists
    }
}

extension Array {
    /// Inserts an element after all that come before it. Usually it is the last one.
    fileprivate mutating func insert(
        _ element: Element, by isBefore: (Element, Element) -> Bool
    ) {
        guard let last, isBefore(element, last) else { return append(element) }
        insert(element, at: place(of: element, by: isBefore))
    }

    /// The first place whose element does not come before another one.
    private func place(of element: Element, by isBefore: (Element, Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(self[middle], element) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Array<Int> {
    fileprivate mutating func remove(_ index: Int, by isBefore: (Int, Int) -> Bool) {
        let place = last == index ? count - 1 : place(of: index, by: isBefore)
        if place < count, self[place] == index { remove(at: place) }
    }
}
