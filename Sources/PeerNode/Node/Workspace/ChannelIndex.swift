import WorkspaceModel

/// Finds the channels and direct conversations of a workspace that this node may see by name,
/// number and people, without a scan: a call that names or changes a channel must not cost more
/// where there are many.
///
/// Public channels come first, so that a channel that others cannot see does not change the name of
/// a public one.
struct ChannelIndex {
    /// How names are compared, and what direct conversations are called.
    struct Naming {
        /// The form by which names are compared.
        let keyOf: (String) -> String?
        /// The form by which names are compared for their look.
        let skeletonOf: (String) -> String
        /// The name of a direct conversation.
        let nameOfPeople: (Workspace.Channel) -> String
    }

    /// The rank of a channel.
    fileprivate struct Rank: Comparable {
        let order: Int
        let lamport: UInt64
        let id: OperationID

        static func < (first: Self, second: Self) -> Bool {
            (first.order, first.lamport, first.id) < (second.order, second.lamport, second.id)
        }
    }

    /// Public channels, own private ones, those of others, direct conversations; of each kind the
    /// oldest first.
    private(set) var all: [Workspace.Channel]
    /// The displayed names, in the same order. Of two channels with the same name the later one
    /// gets a suffix, and so does one whose name cannot be read yet. The default channel keeps its
    /// name even if another is older. Direct conversations are named after the other people.
    private(set) var names: [String] = []
    /// Another number whenever one comes or goes, or is put into another place.
    private(set) var arrangement = 0
    /// The channels with a name, ascending.
    private var called: [String: [Rank]] = [:]
    /// Those that are displayed with a suffix.
    private var suffixed: [String: [Rank]] = [:]
    private var byNumber: [Int64: Rank] = [:]
    /// Numbers by public id; the id of a conversation depends on its members.
    private var byID: [String: Int64] = [:]
    /// How many channels are shown under names that look alike.
    private var lookalikes: [String: Int] = [:]
    /// The compared form of the default channel's name, which no other channel is displayed with.
    private let reserved: String?

    init(_ channels: [Workspace.Channel], _ naming: Naming) {
        all = channels.sorted { $0.place < $1.place }
        reserved = all.first { $0.isDefault }?.name.flatMap(naming.keyOf)
        for channel in all {
            let place = channel.place
            note(channel, at: place)
            if channel.isDirect {
                names.append(naming.nameOfPeople(channel))
                continue
            }
            if let key = channel.name.flatMap(naming.keyOf) {
                called[key, default: []].append(place)
            }
            let name = shownName(of: channel, at: place, naming)
            names.append(name)
            noteShown(name, of: channel, at: place, naming)
        }
    }

    // MARK: Changing

    /// Puts a channel in the place of the one with its number, or takes that out.
    ///
    /// - Returns: whether an incremental update was possible: the default channel's name affects
    ///   others, and several documents may appear as one conversation.
    mutating func replace(
        _ number: Int64, by channel: Workspace.Channel?, _ naming: Naming
    ) -> Bool {
        let known = byNumber[number]
        let before = known.flatMap(index).map { all[$0] }
        let changed = [before, channel].compactMap { $0 }
        guard changed.allSatisfy(\.others.isEmpty), isAlone(channel, at: known) else {
            return false
        }
        if let before, let channel, let index = index(of: before.place),
            before.place == channel.place, before.name == channel.name,
            before.publicID == channel.publicID, before.isDefault == channel.isDefault
        {
            all[index] = channel
            return true
        }
        guard !changed.contains(where: \.isDefault) else { return false }
        if let before { remove(before, naming) }
        if let channel { insert(channel, naming) }
        return true
    }

    /// Whether no other document shows as the same conversation.
    private func isAlone(_ channel: Workspace.Channel?, at place: Rank?) -> Bool {
        guard let channel, channel.isDirect else { return true }
        return rank(of: channel.publicID).map { $0 == place } ?? true
    }

    private mutating func remove(_ channel: Workspace.Channel, _ naming: Naming) {
        let place = channel.place
        guard let index = index(of: place) else { return }
        arrangement &+= 1
        if !channel.isDirect { forgetShown(names[index], of: channel, at: place, naming) }
        all.remove(at: index)
        names.remove(at: index)
        byID[channel.publicID] = nil
        for number in [channel.number] + channel.others { byNumber[number] = nil }
        guard !channel.isDirect, let key = channel.name.flatMap(naming.keyOf) else { return }
        let wasFirst = called[key]?.first == place
        called.take(place, from: key)
        if wasFirst { called[key]?.first.map { rename($0, naming) } }
    }

    private mutating func insert(_ channel: Workspace.Channel, _ naming: Naming) {
        let place = channel.place
        let index = all.firstPlace { !($0.place < place) }
        arrangement &+= 1
        note(channel, at: place)
        all.insert(channel, at: index)
        guard !channel.isDirect else {
            return names.insert(naming.nameOfPeople(channel), at: index)
        }
        let key = channel.name.flatMap(naming.keyOf)
        let former = key.flatMap { called[$0]?.first }
        if let key { called.put(place, under: key) }
        let name = shownName(of: channel, at: place, naming)
        names.insert(name, at: index)
        noteShown(name, of: channel, at: place, naming)
        if let former, place < former { rename(former, naming) }
    }

    /// Shows a channel under the name that it has now, since another came before it or went.
    private mutating func rename(_ place: Rank, _ naming: Naming) {
        guard let index = index(of: place) else { return }
        let channel = all[index]
        forgetShown(names[index], of: channel, at: place, naming)
        names[index] = shownName(of: channel, at: place, naming)
        noteShown(names[index], of: channel, at: place, naming)
    }

    private mutating func note(_ channel: Workspace.Channel, at place: Rank) {
        byID[channel.publicID] = channel.number
        for number in [channel.number] + channel.others { byNumber[number] = place }
    }

    private mutating func noteShown(
        _ name: String, of channel: Workspace.Channel, at place: Rank, _ naming: Naming
    ) {
        lookalikes[naming.skeletonOf(name), default: 0] += 1
        if let key = suffixedKey(name, of: channel, naming) { suffixed.put(place, under: key) }
    }

    private mutating func forgetShown(
        _ name: String, of channel: Workspace.Channel, at place: Rank, _ naming: Naming
    ) {
        let skeleton = naming.skeletonOf(name)
        let count = lookalikes[skeleton] ?? 0
        lookalikes[skeleton] = count > 1 ? count - 1 : nil
        if let key = suffixedKey(name, of: channel, naming) { suffixed.take(place, from: key) }
    }

    private func suffixedKey(
        _ name: String, of channel: Workspace.Channel, _ naming: Naming
    ) -> String? {
        guard name != channel.name, let key = naming.keyOf(name) else { return nil }
        return key == channel.name.flatMap(naming.keyOf) ? nil : key
    }

    private func shownName(
        of channel: Workspace.Channel, at place: Rank, _ naming: Naming
    ) -> String {
        let suffix = String(channel.publicID.dropFirst(2).prefix(6))
        guard let name = channel.name else { return "c_" + suffix }
        // A name too long to compare is nobody's twin.
        guard let key = naming.keyOf(name) else { return name }
        let isPlain = channel.isDefault || (key != reserved && called[key]?.first == place)
        return isPlain ? name : "\(name)-\(suffix)"
    }

    private func index(of place: Rank) -> Int? {
        let index = all.firstPlace { !($0.place < place) }
        return all.indices.contains(index) && all[index].place == place ? index : nil
    }

    // MARK: Asking

    /// The channels that are called, or shown as, something like this. Twins are all there, so
    /// that nothing goes to one of them by chance; only the default channel's name is its own.
    ///
    /// - Parameter name: without the `#` that a reference begins with. Where nothing is called so,
    ///   it may have been part of the name.
    func matching(_ name: String) -> [Int] {
        let found =
            [name, "#" + name].lazy.compactMap { NameFolding.key(of: $0) }
            .map { ((called[$0] ?? []) + (suffixed[$0] ?? [])).sorted() }
            .first { !$0.isEmpty } ?? []
        let places = found.compactMap(index)
        let own = places.filter { all[$0].isDefault }
        return own.isEmpty ? places : own
    }

    /// The channels that are called so, as somebody may type it; whatever they are shown as.
    func called(_ name: String) -> some Sequence<Workspace.Channel> {
        let places = NameFolding.key(of: name).flatMap { called[$0] } ?? []
        return places.lazy.compactMap(index).map { all[$0] }
    }

    /// Whether another channel's name looks the same on a screen.
    func hasTwin(_ channel: Workspace.Channel, _ naming: Naming) -> Bool {
        guard let index = place(of: channel.publicID) else { return false }
        return (lookalikes[naming.skeletonOf(names[index])] ?? 0) > 1
    }

    /// The names by which commands take them.
    var references: [String] {
        zip(all, names).map { $0.isDirect ? "@" + $1 : $1 }
    }

    /// The channel with this short number.
    func channel(_ number: Int64) -> Workspace.Channel? {
        byNumber[number].flatMap(index).map { all[$0] }
    }

    /// The place of the channel with this short number.
    func place(ofNumber number: Int64) -> Int? { byNumber[number].flatMap(index) }

    /// The place of the channel with this public id.
    func place(of id: String) -> Int? { rank(of: id).flatMap(index) }

    private func rank(of id: String) -> Rank? { byID[id].flatMap { byNumber[$0] } }

    /// The direct conversation with this public id.
    func direct(_ id: String) -> Workspace.Channel? {
        place(of: id).map { all[$0] }.flatMap { $0.isDirect ? $0 : nil }
    }
}

extension Workspace.Channel {
    /// Its rank among the others. The member's own private channels come before those of others,
    /// who could otherwise take their names by adding the member to theirs.
    fileprivate var place: ChannelIndex.Rank {
        .init(
            order: isDirect ? 3 : isPrivate ? (isOwn ? 1 : 2) : 0, lamport: rank.lamport,
            id: rank.id)
    }
}

extension Dictionary where Key == String, Value == [ChannelIndex.Rank] {
    /// Puts a place among those under a key, ascending.
    fileprivate mutating func put(_ place: ChannelIndex.Rank, under key: String) {
        let index = self[key]?.firstPlace { !($0 < place) } ?? 0
        self[key, default: []].insert(place, at: index)
    }

    fileprivate mutating func take(_ place: ChannelIndex.Rank, from key: String) {
        guard let index = self[key]?.firstIndex(of: place) else { return }
        self[key]?.remove(at: index)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
