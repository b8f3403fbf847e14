import CRDTStore
import WorkspaceModel

/// People and channels whose names look alike; all of them are marked.
extension Workspace {
    /// Whether somebody else's name could be taken for this person's, on a screen.
    ///
    /// Former members count too: their messages are still displayed beside those of others.
    func hasTwin(_ member: MemberID) -> Bool {
        if let known = judged.derived.twins { return known.contains(member) }
        var people = Set(visibleMembers.map(\.member))
        people.formUnion(self.people.profileNames.keys)
        people.formUnion(told.people.keys)
        for id in authority.entrances {
            guard case .admit(let joiner, _, _, _)? = authority[id]?.payload else { continue }
            people.insert(joiner.member)
            // Looking up each name separately would take as long as there are people, each time.
            if judged.derived.names[joiner.member] == nil,
                self.people.profileNames[joiner.member] == nil
            {
                judged.derived.names[joiner.member] = name(joiner.name, key: 7, of: id)
            }
        }
        var bySkeleton: [String: [MemberID]] = [:]
        for person in people.sorted() {
            bySkeleton[self.people.foldedNames.skeleton(of: displayName(of: person)), default: []]
                .append(person)
        }
        let twins = Set(bySkeleton.values.filter { $0.count > 1 }.flatMap { $0 })
        judged.derived.twins = twins
        return twins.contains(member)
    }

    /// Whether another channel's name looks the same on a screen.
    func hasTwin(_ channel: Channel) -> Bool {
        channelIndex.hasTwin(channel, naming)
    }
}
