import CRDTStore
import WorkspaceModel

/// Saying who follows a public channel, so that it counts.
extension NodeCore {
    /// What became of a word about following.
    enum SaidFollowing {
        /// It counts.
        case counts
        /// This device may not write there.
        case notAllowed
        /// Others say so much about the member that it would not, and nothing is written.
        case overruled(MemberID)
    }

    /// Says of people that they follow a channel, or no longer: once of all of whom nothing counts yet,
    /// and of each other with what it overwrites.
    func say(
        _ action: ContentPayload.MembershipAction, of people: [MemberID],
        in document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> SaidFollowing {
        let number = store.operations.document(document, in: workspace.number)?.number
        var (said, unsaid): ([MemberID], [MemberID]) = ([], [])
        for member in people {
            let heads = try number.map { (number) throws(StorageError) in
                try store.view.heads(
                    .init(document: number, member: member), limit: Limits.followingHeadsMax + 1)
            }
            switch heads?.count ?? 0 {
            case 0: unsaid.append(member)
            // Own words come before all others: one is enough.
            case ...Limits.followingHeadsMax: said.append(member)
            case _ where member == workspace.member: said.append(member)
            default: return .overruled(member)
            }
        }
        if !unsaid.isEmpty {
            let word = ContentPayload.membership(action, members: action.named(unsaid))
            guard try authorContent(word, to: document, in: workspace) != nil else {
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

    /// Says it of somebody of whom something else counts. Who wants that to stay may have said it many
    /// times, so there may be more to overwrite than one operation can cite.
    ///
    /// - Returns: whether this device may write there.
    private func overwrite(
        _ action: ContentPayload.MembershipAction, of member: MemberID,
        in document: DocumentID, _ number: Int64, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        for _ in 0...Limits.followingHeadsMax / Limits.dependenciesMax {
            // What a command says counts when it answers, whatever came in this turn.
            owedWords.room = max(owedWords.room, 1)
            let heads = try store.view.heads(
                .init(document: number, member: member), limit: Limits.dependenciesMax)
            let made = try authorContent(
                .membership(action, members: action.named([member])), to: document,
                in: workspace, overwriting: try references(to: heads))
            guard made != nil else { return false }
            if try store.view.isFollowing(member, number) == action.isJoined { return true }
        }
        return false
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
        case .notAllowed: throw notAllowed(in: workspace)
        case .overruled(let member):
            let name = NodeError.quoted(workspace.displayName(of: member))
            throw NodeError(
                .conflict,
                "others have said otherwise so often that only \(name) can change it",
                hint: "ask them to do it: wsx-node channel \(action.isJoined ? "join" : "leave")",
                reason: "channel.overruled")
        }
    }
}

extension ContentPayload.MembershipAction {
    /// Whom a word has to name: nobody, where it is said of oneself.
    fileprivate func named(_ people: [MemberID]) -> [MemberID] {
        self == .join || self == .leave ? [] : people
    }
}
