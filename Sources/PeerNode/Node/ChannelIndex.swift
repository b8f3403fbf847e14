import WorkspaceModel

/// The channels and direct conversations of a workspace that this node may see, to be found by
/// name, number and people without going through all of them: a call that names a channel must not
/// cost more where there are many.
///
/// Public channels come first, so that what nobody else sees changes no name of theirs.
struct ChannelIndex {
    /// Public channels, own private ones, those of others, direct conversations; of each kind the
    /// oldest first.
    let all: [Workspace.Channel]
    /// The names under which they are shown, in the same order. Of two with one name the later one
    /// gets a suffix, and so does one whose name cannot be read yet. The default channel keeps its
    /// name even where another is older. Direct conversations are called like the other people.
    let names: [String]
    private let byKey: [String: [Int]]
    private let byNumber: [Int64: Int]
    private let byID: [String: Int]
    private let byPeople: [[MemberID]: Int]

    /// - Parameters:
    ///   - keyOf: what a name is compared by.
    ///   - nameOfPeople: what a direct conversation is called.
    init(
        _ channels: [Workspace.Channel], keyOf: (String) -> String?,
        nameOfPeople: (Workspace.Channel) -> String
    ) {
        all = channels.sorted {
            ($0.order, $0.rank.lamport, $0.rank.id) < ($1.order, $1.rank.lamport, $1.rank.id)
        }
        var names: [String] = []
        var byKey: [String: [Int]] = [:]
        var byNumber: [Int64: Int] = [:]
        var byID: [String: Int] = [:]
        var byPeople: [[MemberID]: Int] = [:]
        var taken: Set<String> = []
        let first = all.first { $0.isDefault }
        let reserved = first?.name.flatMap(keyOf)
        for (index, channel) in all.enumerated() {
            byID[channel.publicID] = index
            for number in [channel.number] + channel.others { byNumber[number] = index }
            guard !channel.isDirect else {
                names.append(nameOfPeople(channel))
                byPeople[channel.people] = index
                continue
            }
            let own = channel.name.flatMap(keyOf)
            let name = Self.shownName(
                of: channel, under: own, besides: &taken,
                reserved: channel.isDefault ? nil : reserved)
            names.append(name)
            if let own { byKey[own, default: []].append(index) }
            if name != channel.name, let key = keyOf(name), key != own {
                byKey[key, default: []].append(index)
            }
        }
        self.names = names
        self.byKey = byKey
        self.byNumber = byNumber
        self.byID = byID
        self.byPeople = byPeople
    }

    private static func shownName(
        of channel: Workspace.Channel, under key: String?, besides taken: inout Set<String>,
        reserved: String?
    ) -> String {
        let suffix = String(channel.publicID.dropFirst(2).prefix(6))
        guard let name = channel.name else { return "c_" + suffix }
        // A name too long to compare is nobody's twin.
        guard let key else { return name }
        if key != reserved, taken.insert(key).inserted { return name }
        return "\(name)-\(suffix)"
    }

    /// The channels that are called, or shown as, something like this. Twins are all there, so
    /// that nothing goes to one of them by chance; only the default channel's name is its own.
    ///
    /// - Parameter name: without the `#` that a reference begins with. Where nothing is called so,
    ///   it may have been part of the name.
    func matching(_ name: String) -> [Int] {
        let found =
            [name, "#" + name].lazy
            .compactMap { NameFolding.key(of: $0).flatMap { byKey[$0] } }.first ?? []
        let own = found.filter { all[$0].isDefault }
        return own.isEmpty ? found : own
    }

    /// The channels that are called so, as somebody may type it; whatever they are shown as.
    func called(_ name: String) -> some Sequence<Workspace.Channel> {
        let key = NameFolding.key(of: name)
        return (key.flatMap { byKey[$0] } ?? []).lazy.map { all[$0] }.filter {
            $0.name.flatMap { NameFolding.key(of: $0) } == key
        }
    }

    /// The names by which commands take them.
    var references: [String] {
        zip(all, names).map { $0.isDirect ? "@" + $1 : $1 }
    }

    /// The channel with this short number.
    func channel(_ number: Int64) -> Workspace.Channel? { byNumber[number].map { all[$0] } }

    /// The place of the channel with this public id.
    func place(of id: String) -> Int? { byID[id] }

    /// The direct conversation of exactly these people, ascending, the own one included.
    func direct(of people: [MemberID]) -> Workspace.Channel? { byPeople[people].map { all[$0] } }
}

extension Workspace.Channel {
    /// Own private channels come before those of others, who could otherwise take their names by
    /// letting their maker in.
    fileprivate var order: Int { isDirect ? 3 : isPrivate ? (isOwn ? 1 : 2) : 0 }
}
