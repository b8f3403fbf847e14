import CRDTStore
import WorkspaceModel

/// Which redactions count: a function of the operations that are stored, and of what of a private
/// document is opened (PROTOCOL.md, 4.5).
extension NodeCore {
    /// What becomes of an operation that redactions name.
    enum RedactionRuling {
        /// None of them counts.
        case stands
        /// This one counts. The author's own word erases at once.
        case deleted(StoredOperation, isOwn: Bool)
        /// This node cannot judge what others said about it, and leaves it as it is.
        case open
    }

    /// Who says something, and with what weight.
    struct RedactionVoice {
        let member: MemberID
        /// The right to delete what others wrote: the smaller the stronger, `nil` for none.
        let power: Int?
    }

    func ruling(
        on target: StoredOperation, _ before: ViewStore.Deletion?, in workspace: Workspace
    ) throws(StorageError) -> RedactionRuling {
        let author = workspace.evaluator.subject(ofGrant: target.entry.grant)
        // Nobody deletes what somebody says of himself.
        let isProfile = target.log.document == workspace.profileDocument
        var best: (rank: (Int, UInt64, OperationID), redaction: StoredOperation)?
        for arrival in try store.view.redactions(
            of: target.place.link.id, in: target.document)
        {
            guard let redaction = try store.operations.operation(arrival),
                case .erase? = redaction.redaction,
                let voice = try voice(of: redaction, about: target, in: workspace)
            else { continue }
            let isOwn = voice.member == author
            if !isOwn {
                guard !isProfile, voice.power != nil,
                    try !isUndone(redaction, by: voice, in: workspace)
                else {
                    continue
                }
            }
            let rank = (
                isOwn ? 0 : 1, redaction.entry.timestamp.rawValue, redaction.place.link.id
            )
            if best.map({ rank < $0.rank }) ?? true { best = (rank, redaction) }
        }
        if let best { return .deleted(best.redaction, isOwn: best.rank.0 == 0) }
        guard let before, !judgesOthers(in: target.log.document, workspace) else {
            return .stands
        }
        // What members have judged stays while the keys are dropped.
        let by = try store.operations.operation(before.by)
        let wasOwn = by.map { workspace.evaluator.subject(ofGrant: $0.entry.grant) == author }
        return wasOwn ?? true ? .stands : .open
    }

    /// Whether this node can tell who may delete what others wrote.
    func judgesOthers(in document: DocumentID, _ workspace: Workspace) -> Bool {
        store.operations.document(document, in: workspace.number)?.kind != .privateDocument
            || workspace.privateDocuments[document]?.root != nil
    }

    /// Whether a valid word of its own author, or of somebody stronger, takes a redaction back.
    private func isUndone(
        _ redaction: StoredOperation, by voice: RedactionVoice, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        for arrival in try store.view.redactions(
            of: redaction.place.link.id, in: redaction.document)
        {
            guard let undo = try store.operations.operation(arrival),
                case .undo? = undo.redaction,
                let other = try self.voice(of: undo, about: nil, in: workspace)
            else { continue }
            if other.member == voice.member || Self.isStronger(other, than: voice) { return true }
        }
        return false
    }

    static func isStronger(_ one: RedactionVoice, than other: RedactionVoice) -> Bool {
        guard let power = one.power else { return false }
        return power < other.power ?? .max
    }

    /// Who speaks in a redaction or undo, `nil` where it is not valid.
    ///
    /// - Parameter target: what a redaction is about; of an undo nothing.
    func voice(
        of stored: StoredOperation, about target: StoredOperation?, in workspace: Workspace
    ) throws(StorageError) -> RedactionVoice? {
        guard store.operations.isValid(stored.place.sequence, in: stored.place.branch),
            let member = workspace.evaluator.subject(ofGrant: stored.entry.grant)
        else { return nil }
        if store.operations.document(numbered: stored.document)?.kind == .privateDocument {
            // An admin of the workspace has no power there, opened or not.
            guard let document = workspace.privateDocuments[stored.log.document] else {
                return RedactionVoice(member: member, power: nil)
            }
            return RedactionVoice(
                member: member,
                power: try power(of: member, stored, in: document, workspace))
        }
        return RedactionVoice(
            member: member, power: try power(of: member, stored, about: target, in: workspace))
    }

    // MARK: Public channels

    /// 0 and 1: an owner or admin of the workspace; 2 and 3: the owner or an admin of the channel.
    private func power(
        of member: MemberID, _ stored: StoredOperation, about target: StoredOperation?,
        in workspace: Workspace
    ) throws(StorageError) -> Int? {
        for (power, role) in [Role.owner, .admin].enumerated() {
            let limit = workspace.evaluator.contentLimit(
                grant: stored.entry.grant, log: stored.log, leastRole: role)
            if try allows(limit, stored.place, in: workspace) { return power }
        }
        guard let ruling = workspace.channels[stored.log.document]?.ruling else { return nil }
        if let power = ruling.power(of: member) { return power }
        // Who had the right when it was written keeps what was deleted by it. Clocks can be wrong
        // on purpose, so this reaches nothing that was written later than it says.
        guard let target, target.entry.timestamp.rawValue < stored.entry.timestamp.rawValue else {
            return nil
        }
        return workspace.rulingLinks(of: ruling, until: stored.entry.timestamp).power(of: member)
    }

    private func allows(
        _ limit: ContentLimit, _ place: StoredPlace, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let branch = store.operations.branch(place.branch) else { return false }
        return try allowing(place, on: branch, in: workspace) { isAtOrBefore in
            limit.allows(sequence: place.sequence, isAtOrBefore: isAtOrBefore)
        }
    }

    private func allowing(
        _ place: StoredPlace, on branch: LogBranch, in workspace: Workspace,
        _ ask: ((CutEntry) -> Bool) -> Bool
    ) throws(StorageError) -> Bool {
        var failure: StorageError?
        let answer = ask { cut in
            do throws(StorageError) {
                let last = try lastCovered(by: cut, of: branch, in: workspace)
                return last.map { place.sequence <= $0 } ?? false
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        return answer
    }

    // MARK: Private channels

    /// 0 and 1: an owner or admin of the channel. In a conversation nobody.
    private func power(
        of member: MemberID, _ stored: StoredOperation, in document: PrivateDocument,
        _ workspace: Workspace
    ) throws(StorageError) -> Int? {
        guard document.root?.subtype == .channel, let key = stored.entry.keyID,
            let branch = store.operations.branch(stored.place.branch)
        else { return nil }
        for (power, role) in [Role.owner, .admin].enumerated() {
            let limit = document.authority.contentLimit(
                of: member, in: stored.log, under: key, leastRole: role)
            let isAllowed = try allowing(stored.place, on: branch, in: workspace) { isAtOrBefore in
                limit.allows(sequence: stored.place.sequence, isAtOrBefore: isAtOrBefore)
            }
            if isAllowed { return power }
        }
        return nil
    }
}

/// Who owned a channel, and who were its admins.
private struct ChannelRoles {
    var owner: MemberID?
    var admins: [MemberID] = []

    func power(of member: MemberID) -> Int? {
        member == owner ? 2 : admins.contains(member) ? 3 : nil
    }
}

extension ChannelRuling {
    fileprivate func power(of member: MemberID) -> Int? {
        ChannelRoles(owner: owner, admins: admins).power(of: member)
    }
}

extension Workspace {
    /// Owner and admins of a channel as the links of its chain up to a time say.
    fileprivate func rulingLinks(
        of ruling: ChannelRuling, until timestamp: HybridTimestamp
    ) -> ChannelRoles {
        var roles = ChannelRoles()
        guard let creation = authority[ruling.creation] else { return roles }
        roles.owner = evaluator.subject(ofGrant: creation.grant)
        let claims = channelClaims[DocumentID(sameBytesAs: ruling.creation)] ?? []
        for link in ruling.chain.dropFirst() {
            guard let record = authority[link],
                record.timestamp.rawValue <= timestamp.rawValue,
                let change = claims.first(where: { $0.id == link })?.change
            else { break }
            roles.owner = change.owner ?? roles.owner
            roles.admins = change.admins ?? roles.admins
        }
        return roles
    }
}
