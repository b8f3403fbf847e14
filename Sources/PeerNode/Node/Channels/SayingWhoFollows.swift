import CRDTStore
import WorkspaceModel

/// Writes assertions about who follows a public channel, so that they count.
extension Channels {
    /// The outcome of writing an assertion about following.
    enum FollowingOutcome {
        /// It counts.
        case counts
        /// This device may not write there.
        case notAllowed
        /// Others say so much about the member that it would not, and nothing is written.
        case overruled(MemberID)
    }

    /// Writes that people follow a channel, or no longer do: one operation for all without an
    /// earlier assertion, and one for each other person with what it overwrites.
    func say(
        _ action: ContentPayload.MembershipAction, of people: [MemberID],
        in document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> FollowingOutcome {
        let number = store.operations.document(document, in: workspace.number)?.number
        var (said, unsaid): ([MemberID], [MemberID]) = ([], [])
        for member in people {
            let heads =
                try number.map { (number) throws(StorageError) in
                    try store.view.following.heads(
                        .init(document: number, member: member), limit: Limits.ownWordsMax + 1)
                } ?? []
            guard mayOverwrite(heads, by: action, isOwn: member == workspace.member) else {
                return .overruled(member)
            }
            if heads.isEmpty { unsaid.append(member) } else { said.append(member) }
        }
        if !unsaid.isEmpty {
            let word = ContentPayload.membership(action, members: action.named(unsaid))
            guard try core.privates.authorContent(word, to: document, in: workspace) != nil else {
                return .notAllowed
            }
        }
        guard let number else { return .counts }
        for member in said {
            guard try overwrite(action, of: member, in: document, number, of: workspace) else {
                return .notAllowed
            }
        }
        return .counts
    }

    /// Whether what says the opposite is not too much. Others' words do not matter beside the member's
    /// own.
    private func mayOverwrite(
        _ heads: [ViewStore.FollowingHead], by action: ContentPayload.MembershipAction, isOwn: Bool
    ) -> Bool {
        let opposite = heads.filter { $0.isJoined != action.isJoined }
        return isOwn
            ? opposite.count(where: \.isOwn) <= Limits.ownWordsMax
            : opposite.count <= Limits.followingHeadsMax
    }

    /// Overwrites the current assertion about somebody. Someone who wants that to persist may have
    /// made it many times, so there may be more to overwrite than one operation can cite.
    ///
    /// - Returns: whether this device may write there.
    private func overwrite(
        _ action: ContentPayload.MembershipAction, of member: MemberID,
        in document: DocumentID, _ number: Int64, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        func opposite() throws(StorageError) -> [Int64] {
            try store.view.following.heads(
                .init(document: number, member: member), limit: Limits.ownWordsMax
            ).filter { $0.isJoined != action.isJoined }.map(\.arrival)
        }
        return try write(over: try opposite().count) { (_) throws(StorageError) in
            try store.view.following.isFollowing(member, number) == action.isJoined
        } _: { () throws(StorageError) in
            // The assertion of a command counts when it answers, whatever else arrived in this
            // turn.
            pendingAssertions.room = max(pendingAssertions.room, 1)
            let cited = try opposite().prefix(Limits.dependenciesMax)
            return try core.privates.authorContent(
                .membership(action, members: action.named([member])), to: document,
                in: workspace, overwriting: try references(to: Array(cited)))?.id
        }
    }

    /// As ``say(_:of:in:of:)``, for a command.
    func say(
        _ action: ContentPayload.MembershipAction, of people: [MemberID],
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        let said = try stored { () throws(StorageError) in
            try say(action, of: people, in: channel.id, of: workspace)
        }
        switch said {
        case .counts: break
        case .notAllowed: throw core.membership.notAllowed(in: workspace)
        case .overruled(let member):
            guard member != workspace.member else { throw .overruledByOwnDevice }
            let name = NodeError.quoted(workspace.displayName(of: member))
            throw NodeError(
                .conflict,
                "others have set this so often that only \(name) can change it",
                hint: "ask them to do it: wsx-node channel \(action.isJoined ? "join" : "leave")",
                reason: "channel.overruled")
        }
    }
}

extension ContentPayload.MembershipAction {
    /// The people an assertion has to name: nobody, where its author follows or leaves.
    fileprivate func named(_ people: [MemberID]) -> [MemberID] {
        self == .join || self == .leave ? [] : people
    }
}
