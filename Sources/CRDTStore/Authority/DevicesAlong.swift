import WorkspaceModel

/// Devices that go with those that are ended again: whoever had these has bound them with them
/// (PROTOCOL.md, 4.0.3, V-11).
///
/// A chain of bindings leads to each device, from what let its member in. An end undoes what its
/// device has bound and it does not know. Of the ends under one grant, the strongest first, the one that
/// leaves no chain to a device hits what that device does under the grant.
///
/// - Cost: whenever such an end gains or loses its effect, a look for each binding that it undoes, and for
///   each of the member that the grant knows. Which end is the first that undoes a binding is kept, so
///   that none is looked at for each other one.
extension AuthVerdicts {
    /// Finds anew which devices the ends of a grant cut off, now that one has gained or lost its effect.
    mutating func findCutOff(from index: Int) {
        guard let undoing = records[index].again.undoing, let grant = records[index].grant else {
            return
        }
        var first = placed.further.firstUndoing[grant] ?? [:]
        placed.further.firstUndoing[grant] = nil
        looks &+= undoing.additions.count
        for binding in undoing.additions {
            guard let known = first[binding] else {
                if records[index].isValid { first[binding] = index }
                continue
            }
            if records[index].isValid {
                if placed.isStronger(index, than: known) { first[binding] = index }
            } else if known == index {
                first[binding] = nextUndoing(binding, under: grant, after: index)
            }
        }
        placed.further.cutOff[grant] = first.isEmpty ? nil : devicesCutOff(under: grant, first)
        placed.further.firstUndoing[grant] = first.isEmpty ? nil : first
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

    /// By device the end that leaves no chain to it. A chain lasts as long as the first of its links that
    /// is undone, and a device as long as the last of the chains to it.
    private mutating func devicesCutOff(under grant: Int, _ first: [Int: Int]) -> [DeviceID: Int] {
        let links = links(under: grant)
        looks &+= links.count
        let ends = Set(first.values).sorted { placed.isStronger($0, than: $1) }
        let places = Dictionary(uniqueKeysWithValues: zip(ends, ends.indices))
        func end(_ link: DeviceRoll.Link) -> Int {
            first[link.binding].flatMap { places[$0] } ?? ends.count
        }
        // The devices to which a chain leads that lasts as long: the last place is for what no end undoes.
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

    /// What binds the member's devices, as far as a grant knows, itself included, and counts.
    private mutating func links(under grant: Int) -> [DeviceRoll.Link] {
        if let known = placed.further.links[grant] { return known }
        guard let member = records[grant].gives.subject else { return [] }
        let links = placed.roll(of: member, before: placed.knowing(grant)).links
        placed.further.links[grant] = links
        return links
    }
}
