import WorkspaceModel

/// The channels of a workspace in the order of their making, to be found by name and number
/// without going through all of them: a call that names a channel must not cost more where there
/// are many.
struct ChannelIndex {
    /// Every channel, the oldest first.
    let all: [Workspace.Channel]
    /// The names under which they are shown, in the same order. Of two with one name the later one
    /// gets a suffix, and so does one whose name cannot be read yet.
    let names: [String]
    private let byKey: [String: [Int]]
    private let byNumber: [Int64: Int]
    private let byID: [String: Int]

    init(_ channels: [DocumentID: Workspace.Channel]) {
        all = channels.values.sorted {
            ($0.rank.lamport, $0.rank.id) < ($1.rank.lamport, $1.rank.id)
        }
        var names: [String] = []
        var byKey: [String: [Int]] = [:]
        var byNumber: [Int64: Int] = [:]
        var byID: [String: Int] = [:]
        var taken: Set<String> = []
        for (index, channel) in all.enumerated() {
            let name = Self.shownName(of: channel, besides: &taken)
            names.append(name)
            if let key = NameFolding.key(of: name) { byKey[key, default: []].append(index) }
            byNumber[channel.number] = index
            byID[PublicID.channel(channel.id)] = index
        }
        self.names = names
        self.byKey = byKey
        self.byNumber = byNumber
        self.byID = byID
    }

    private static func shownName(
        of channel: Workspace.Channel, besides taken: inout Set<String>
    ) -> String {
        let suffix = String(PublicID.channel(channel.id).dropFirst(2).prefix(6))
        guard let name = channel.name else { return "c_" + suffix }
        // A name too long to compare is nobody's twin.
        guard let key = NameFolding.key(of: name), !taken.insert(key).inserted else { return name }
        return "\(name)-\(suffix)"
    }

    /// The channels shown under a name like this one.
    func matching(_ name: String) -> [Int] {
        NameFolding.key(of: name).flatMap { byKey[$0] } ?? []
    }

    /// The channel with this short number.
    func channel(_ number: Int64) -> Workspace.Channel? { byNumber[number].map { all[$0] } }

    /// The place of the channel with this public id.
    func place(of id: String) -> Int? { byID[id] }
}
