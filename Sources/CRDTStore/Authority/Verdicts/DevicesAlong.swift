import WorkspaceModel

/// Devices that lose effect together with the revoked ones that had bound them (PROTOCOL.md, 4.0.3,
/// V-11).
///
/// A chain of bindings leads to each device, starting with the operation that let its member in. An
/// end undoes the bindings by its device that it does not know. Of the ends under one grant, taken
/// strongest first, the one that leaves no chain to a device hits what that device does under the
/// grant.
///
/// - Cost: whenever such an end gains or loses its effect, a look for each binding that it undoes;
///   if it is the first that undoes one, another for each of the member's bindings that the grant
///   knows. Which end is the first that undoes a binding is stored, so that none is examined once
///   for every other one.
extension AuthVerdicts {
    /// Recomputes which devices the ends of a grant cut off, now that one has gained or lost its
    /// effect.
    ///
    /// - Returns: the devices whose cutting end has changed, or that no end cuts off any longer.
    mutating func findCutOff(from index: Int) -> [DeviceID] {
        guard let undoing = records[index].again.undoing, let grant = records[index].grant else {
            return []
        }
        var first = placed.further.firstUndoing[grant] ?? [:]
        placed.further.firstUndoing[grant] = nil
        var isChanged = false
        looks &+= undoing.additions.count
        for binding in undoing.additions {
            guard let known = first[binding] else {
                guard records[index].isValid else { continue }
                first[binding] = index
                isChanged = true
                continue
            }
            if records[index].isValid {
                guard placed.isStronger(index, than: known) else { continue }
                first[binding] = index
            } else {
                guard known == index else { continue }
                first[binding] = nextUndoing(binding, under: grant, after: index)
            }
            isChanged = true
        }
        placed.further.firstUndoing[grant] = first.isEmpty ? nil : first
        guard isChanged else { return [] }
        let before = placed.further.cutOff[grant] ?? [:]
        let now = first.isEmpty ? [:] : devicesCutOff(under: grant, first)
        placed.further.cutOff[grant] = now.isEmpty ? nil : now
        return Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }.sorted()
    }

    /// Of an end that has effect under several grants, notes which of its records is the strongest,
    /// now that one has gained or lost its effect.
    mutating func noteStrongest(_ index: Int, of end: Int) {
        let known = placed.further.strongest[end]
        if records[index].isValid {
            guard known.map({ placed.isStronger(index, than: $0) }) ?? true else { return }
            placed.further.strongest[end] = index
        } else if known == index {
            let all = placed.further.endsAgain[end] ?? []
            let from = placed.place(ofRecord: index, of: end)
            let next = all[from...].firstIndex { records[$0].isValid }
            looks &+= (next ?? all.count) - from
            placed.further.strongest[end] = next.map { all[$0] }
        }
    }

    /// Whether no other valid record of the same end is stronger than one that has just gained or
    /// lost its effect. A stronger one hits all that this one would.
    func isStrongest(_ index: Int) -> Bool {
        guard let end = records[index].again.original,
            let strongest = placed.further.strongest[end], strongest != index
        else { return true }
        return placed.isStronger(index, than: strongest)
    }

    /// The next valid end that undoes a binding.
    private mutating func nextUndoing(_ binding: Int, under grant: Int, after index: Int) -> Int? {
        let all = placed.further.undoing[grant] ?? []
        let from = placed.place(ofUndoing: index, under: grant)
        let next = all[from...].firstIndex {
            $0 != index && records[$0].isValid
                && records[$0].again.undoing?.contains(binding) == true
        }
        looks &+= (next ?? all.count) - from
        return next.map { all[$0] }
    }

    /// For each device the end that leaves no chain to it. A chain lasts until the first of its
    /// links is undone, and a device until the last of its chains is.
    private mutating func devicesCutOff(under grant: Int, _ first: [Int: Int]) -> [DeviceID: Int] {
        let links = links(under: grant)
        looks &+= links.count
        let ends = Set(first.values).sorted { placed.isStronger($0, than: $1) }
        let places = Dictionary(uniqueKeysWithValues: zip(ends, ends.indices))
        func end(_ link: DeviceRoll.Link) -> Int {
            first[link.binding].flatMap { places[$0] } ?? ends.count
        }
        // The devices by how long the longest-lasting chain to them lasts: the last place is for
        // those that no end cuts off.
        var open = [[DeviceID]](repeating: [], count: ends.count + 1)
        var linked: [DeviceID: [DeviceRoll.Link]] = [:]
        for link in links {
            if records[link.binding].operation.action.isAddition {
                linked[records[link.binding].operation.device, default: []].append(link)
            } else {
                open[end(link)].append(link.device)
            }
        }
        var reached: Set<DeviceID> = []
        var cutOff: [DeviceID: Int] = [:]
        for place in open.indices.reversed() {
            while let device = open[place].popLast() {
                guard reached.insert(device).inserted else { continue }
                if place < ends.count { cutOff[device] = ends[place] }
                for link in linked[device] ?? [] { open[min(place, end(link))].append(link.device) }
            }
        }
        return cutOff
    }

    /// The bindings of the member's devices that a grant knows, itself included, and that count.
    private mutating func links(under grant: Int) -> [DeviceRoll.Link] {
        if let known = placed.further.links[grant] { return known }
        guard let member = records[grant].gives.subject else { return [] }
        // No other operation that such a grant knows binds the member, so nothing else is
        // examined.
        let links: [DeviceRoll.Link]
        if placed.isEntry(grant) {
            links = placed.links(by: grant, after: nil)
        } else {
            let roll = placed.roll(of: member, before: placed.knowing(grant))
            placed.note(looksAtRolls: roll.looks)
            links = roll.links
        }
        placed.further.links[grant] = links
        return links
    }
}
