import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore
@testable import PeerNode

/// An incrementally updated index of channels equals one built from scratch.
struct `An index of channels` {
    private static let names = ["plans", "Plans", "plans-a", "general", "ideas", nil]

    private var naming: ChannelIndex.Naming {
        .init(
            keyOf: { NameFolding.key(of: $0) }, skeletonOf: { $0.lowercased() },
            nameOfPeople: { "people \($0.people.count)" })
    }

    /// A conversation with a document of this number.
    private func conversation(_ number: Int64, of people: Int) -> Workspace.Channel {
        let members = (0..<people).map { MemberID(words: (UInt64(people), UInt64($0))) }
        let document = channel(number, nil, isPrivate: true)
        return Workspace.Channel(
            id: document.id, publicID: "c_\(people)", number: number, createdAt: 0,
            rank: document.rank,
            rule: .closed(
                .init(
                    kind: .direct,
                    roles: Dictionary(uniqueKeysWithValues: members.map { ($0, .member) }))),
            isDefault: false)
    }

    private func channel(
        _ number: Int64, _ name: String?, isPrivate: Bool, isOwn: Bool = false,
        isDefault: Bool = false
    ) -> Workspace.Channel {
        let id = OperationID(words: (UInt64(number) &* 0x9E37_79B9_7F4A_7C15, 1, 2, 3))
        let owner = MemberID(prefixOf: id)
        let ruling = ChannelRuling(creation: id, owner: owner, admins: [], lastLink: id)
        var channel = Workspace.Channel(
            id: DocumentID(sameBytesAs: id), publicID: PublicID.channel(.init(sameBytesAs: id)),
            number: number, createdAt: 0, rank: (UInt64(number % 7), id),
            rule: isPrivate
                ? .closed(.init(kind: .channel, roles: [:])) : .open(ruling), isDefault: isDefault)
        channel.name = name
        channel.isOwn = isOwn
        return channel
    }

    private func said(_ index: ChannelIndex) -> [String] {
        index.all.indices.map { place in
            let channel = index.all[place]
            let found = Self.names.compactMap { $0 } + [index.names[place]]
            return """
                \(channel.publicID) \(index.names[place]) \(channel.topic ?? "") \
                \(found.map { index.matching($0) }) \(index.hasTwin(channel, naming)) \
                \(found.map { index.called($0).map(\.number) }) \
                \(index.direct(channel.publicID)?.number ?? -1) \
                \(index.place(of: channel.publicID) ?? -1) \(index.channel(channel.number)?.id == channel.id)
                """
        }
    }

    @Test(arguments: Seeds.explore(8))
    func `follows what comes, goes and is renamed`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var channels: [Int64: Workspace.Channel] = [:]
        if seed % 2 == 0 {
            channels[99] = channel(99, "general", isPrivate: false, isDefault: true)
        }
        var index = ChannelIndex(Array(channels.values), naming)
        for step in 0..<200 {
            let number = Int64.random(in: 1...24, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                channels[number] = nil
            } else if number % 5 == 0 {
                // Others may be meant now than before.
                let people = Int(number) + Int.random(in: 0..<5, using: &random)
                channels[number] = conversation(number, of: people)
            } else {
                var made = channel(
                    number, Self.names.randomElement(using: &random) ?? nil,
                    isPrivate: number % 3 == 0, isOwn: Bool.random(using: &random))
                made.topic = "\(step)"
                channels[number] = made
            }
            let isDone = index.replace(number, by: channels[number], naming)
            #expect(isDone)
            let anew = ChannelIndex(Array(channels.values), naming)
            #expect(said(index) == said(anew), "step \(step)")
        }
    }

    @Test func `is rebuilt for the default channel, and if several show as one`() {
        let general = channel(99, "general", isPrivate: false, isDefault: true)
        var index = ChannelIndex([general], naming)
        let isGone = index.replace(99, by: nil, naming)
        #expect(!isGone)
        let isRenamed = index.replace(
            99, by: channel(99, "lobby", isPrivate: false, isDefault: true), naming)
        #expect(!isRenamed)
        // What it is about is nobody else's affair.
        var other = general
        other.topic = "all of us"
        let isSame = index.replace(99, by: other, naming)
        #expect(isSame)
        #expect(index.channel(99)?.topic == "all of us")
        let isFirst = index.replace(3, by: conversation(3, of: 2), naming)
        #expect(isFirst)
        let isSecond = index.replace(4, by: conversation(4, of: 2), naming)
        #expect(!isSecond)
        var both = conversation(3, of: 2)
        both.others = [4]
        index = ChannelIndex([general, both], naming)
        for number in [3, 4] as [Int64] {
            let isPart = index.replace(number, by: conversation(number, of: 2), naming)
            #expect(!isPart)
        }
        #expect(index.all.count == 2)
    }
}
