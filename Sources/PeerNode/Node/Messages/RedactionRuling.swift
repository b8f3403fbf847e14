import CRDTStore
import WorkspaceModel

/// Which redactions count: a function of the stored operations, and of those of a private document
/// that are opened (PROTOCOL.md, 4.6).
extension Messages {
    /// The outcome for an operation that redactions name.
    enum RedactionRuling {
        /// None of them counts.
        case stands
        /// This one counts; its payload was not read. The author's own word erases at once.
        case deleted(StoredOperation, isOwn: Bool)
        /// This node cannot judge its redactions, and leaves it unchanged.
        case open
    }

    /// The author of a redaction, and its rank.
    struct RedactionAuthor {
        let member: MemberID
        /// The right to delete what others wrote: the smaller the stronger, `nil` for none.
        let power: Int?
    }

    func ruling(
        on target: StoredOperation, _ before: ViewStore.Deletion?,
        because cause: RedactionReview.Cause, in workspace: Workspace, _ pass: RedactionPass
    ) throws(StorageError) -> RedactionRuling {
        // A spend cannot be deleted (W-93).
        guard !workspace.isLedger(target.log.document) else { return .stands }
        let author = workspace.judged.subject(ofGrant: target.entry.grant)
        var best: RankedRedaction?
        if let cause {
            // Nothing else has changed, so the former winner represents all the others.
            for arrival in cause.union([before?.by].compactMap { $0 }).sorted() {
                best = try weigh(arrival, about: target, by: author, best, in: workspace, pass)
            }
        }
        if best == nil, cause == nil || before != nil {
            for naming in try store.view.redactions.namings(
                of: target.place.link.id, in: target.document)
            {
                pass.noteLook()
                guard mayDelete(under: naming.grant, target, by: author, in: workspace, pass)
                else { continue }
                best = try weigh(naming.by, about: target, by: author, best, in: workspace, pass)
            }
        }
        if let best { return .deleted(best.redaction, isOwn: best.rank.0 == 0) }
        guard let before, !judgesOthers(in: target.log.document, workspace) else {
            return .stands
        }
        // A ruling made by members stays while the node is locked.
        let by = try store.operations.operation(before.by, hasPayload: false)
        let wasOwn = by.map {
            workspace.judged.subject(ofGrant: $0.entry.grant) == author
        }
        return wasOwn ?? true ? .stands : .open
    }

    /// A valid redaction, and its rank among others.
    private typealias RankedRedaction = (
        rank: (Int, UInt64, OperationID), redaction: StoredOperation
    )

    /// - Returns: the redaction where it counts and comes before `best`, else `best`.
    private func weigh(
        _ arrival: Int64, about target: StoredOperation, by author: MemberID?,
        _ best: RankedRedaction?,
        in workspace: Workspace, _ pass: RedactionPass
    ) throws(StorageError) -> RankedRedaction? {
        guard let validRedaction = try validRedaction(arrival, in: workspace, pass),
            let redactor = validRedaction.redactor(about: target)
        else { return best }
        let isOwn = redactor.member == author
        if !isOwn {
            if case .byNobody = moderation(of: target.log.document, in: workspace) { return best }
            guard redactor.power != nil,
                try !isUndone(validRedaction.operation, by: redactor, in: workspace, pass)
            else { return best }
        }
        let rank = (
            isOwn ? 0 : 1, validRedaction.operation.entry.timestamp.rawValue,
            validRedaction.operation.place.link.id
        )
        if let best, best.rank <= rank { return best }
        return (rank, validRedaction.operation)
    }

    /// A redaction or undo to weigh, once in a pass: its content is not read for that.
    private func validRedaction(
        _ arrival: Int64, in workspace: Workspace, _ pass: RedactionPass
    ) throws(StorageError) -> RedactionPass.ValidRedaction? {
        if let known = pass.validRedaction[arrival] { return known }
        var validRedaction: RedactionPass.ValidRedaction?
        if let operation = try store.operations.operation(arrival, hasPayload: false) {
            turn.tally.noteJudged(redactions: 1)
            pass.noteReading()
            validRedaction = try self.validRedaction(operation, in: workspace)
        }
        pass.validRedaction[arrival] = .some(validRedaction)
        return validRedaction
    }

    /// Whether this node can tell who may delete what others wrote.
    func judgesOthers(in document: DocumentID, _ workspace: Workspace) -> Bool {
        moderation(of: document, in: workspace).isKnown
    }

    private func moderation(of document: DocumentID, in workspace: Workspace) -> Moderation {
        Moderation(of: store.operations.document(document, in: workspace.number), in: workspace)
    }

    /// Whether a valid word of its own author, or of somebody stronger, takes a redaction back.
    private func isUndone(
        _ redaction: StoredOperation, by redactor: RedactionAuthor, in workspace: Workspace,
        _ pass: RedactionPass
    ) throws(StorageError) -> Bool {
        let place = RedactionPass.Undone(redaction: redaction.place.arrival, power: redactor.power)
        if let known = pass.undone[place] { return known }
        var isUndone = false
        let grants = try store.view.redactions.grantsOfUndos(
            of: redaction.place.link.id, in: redaction.document)
        for grant in grants where mayUndo(under: grant, redactor, redaction, in: workspace) {
            for arrival in try store.view.redactions.undos(
                of: redaction.place.link.id, in: redaction.document, citing: grant)
            {
                guard
                    let other = try validRedaction(arrival, in: workspace, pass)?.redactor(
                        about: nil),
                    other.member == redactor.member || Self.isStronger(other, than: redactor)
                else { continue }
                isUndone = true
                break
            }
            if isUndone { break }
        }
        pass.undone[place] = isUndone
        return isUndone
    }

    /// Whether anything under a grant can delete an operation. If not, it is not read: everybody
    /// can name the same one any number of times.
    private func mayDelete(
        under grant: Int64, _ target: StoredOperation, by author: MemberID?,
        in workspace: Workspace, _ pass: RedactionPass
    ) -> Bool {
        let place = RedactionPass.Place(grant: grant, document: target.document)
        let right: RedactionPass.Right?
        if let known = pass.rights[place] {
            right = known
        } else {
            right = self.right(under: grant, in: target.log.document, workspace)
            pass.rights[place] = .some(right)
        }
        return right.map { $0.member == author || $0.reachesOthers } ?? false
    }

    private func right(
        under grant: Int64, in document: DocumentID, _ workspace: Workspace
    ) -> RedactionPass.Right? {
        guard let id = store.operations.grant(grant),
            let member = workspace.judged.subject(ofGrant: id)
        else { return nil }
        let reachesOthers: Bool
        switch moderation(of: document, in: workspace) {
        case .bySeats(let document):
            reachesOthers = document?.everMayDelete(member) ?? false
        case .byNobody:
            reachesOthers = false
        case .byRoles:
            reachesOthers =
                workspace.judged.role(ofGrant: id).map { $0 <= .admin } ?? false
                || core.channels.everHadPower(member, in: document, workspace)
        }
        return .init(member: member, reachesOthers: reachesOthers)
    }

    /// Whether anything under a grant can undo a redaction. If not, it is not read: everybody can
    /// write any number of them.
    private func mayUndo(
        under grant: Int64, _ redactor: RedactionAuthor, _ redaction: StoredOperation,
        in workspace: Workspace
    ) -> Bool {
        guard let id = store.operations.grant(grant),
            let member = workspace.judged.subject(ofGrant: id)
        else { return false }
        if member == redactor.member { return true }
        switch moderation(of: redaction.log.document, in: workspace) {
        case .bySeats(let document): return document?.everMayDelete(member) ?? false
        case .byRoles, .byNobody:
            if let role = workspace.judged.role(ofGrant: id), role <= .admin { return true }
            return workspace.ruling(ofChannel: redaction.log.document)?.power(of: member) != nil
        }
    }

    /// Whether an undo has a say about a redaction now. Where it gets one later, that is seen as a
    /// change of what it cites.
    func hasSay(
        _ undo: Int64, about redaction: Int64, in workspace: Workspace, _ pass: RedactionPass
    ) throws(StorageError) -> Bool {
        guard let undo = try validRedaction(undo, in: workspace, pass),
            let redaction = try validRedaction(redaction, in: workspace, pass)
        else { return false }
        return undo.power != nil || undo.member == redaction.member
    }

    static func isStronger(_ one: RedactionAuthor, than other: RedactionAuthor) -> Bool {
        guard let power = one.power else { return false }
        return power < other.power ?? .max
    }

    /// The author of a redaction or undo, `nil` where it is not valid.
    ///
    /// - Parameter target: what a redaction is about; of an undo nothing.
    func redactor(
        of stored: StoredOperation, about target: StoredOperation?, in workspace: Workspace
    ) throws(StorageError) -> RedactionAuthor? {
        try validRedaction(stored, in: workspace)?.redactor(about: target)
    }

    private func validRedaction(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> RedactionPass.ValidRedaction? {
        guard store.operations.isValid(stored.place.sequence, in: stored.place.branch),
            let member = workspace.judged.subject(ofGrant: stored.entry.grant)
        else { return nil }
        var validRedaction = RedactionPass.ValidRedaction(operation: stored, member: member)
        switch moderation(of: stored.log.document, in: workspace) {
        case .bySeats(let document):
            // An admin of the workspace has no power there, opened or not.
            if let document {
                validRedaction.power = try power(of: member, stored, in: document, workspace)
            }
        case .byRoles, .byNobody:
            validRedaction.power = try power(of: member, stored, in: workspace)
            if validRedaction.power == nil,
                let ruling = workspace.ruling(ofChannel: stored.log.document)
            {
                validRedaction.formerPower = try core.channels.formerPower(
                    of: member, stored, ruling, in: workspace)
            }
        }
        return validRedaction
    }

    // MARK: Public channels

    /// 0 and 1: an owner or admin of the workspace; 2 and 3: the owner or an admin of the channel.
    private func power(
        of member: MemberID, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Int? {
        guard try isUnwidened(stored, in: workspace) else { return nil }
        let limits = deletionLimits(of: stored.entry.grant, in: stored.log, workspace)
        if let branch = store.operations.branch(stored.place.branch) {
            var search = CutSearch(branch, store.operations, workspace: workspace.number)
            for (power, limit) in limits.enumerated() {
                let bound = try search.bound(of: limit)
                if let bound, stored.place.sequence <= bound { return power }
            }
        }
        return workspace.ruling(ofChannel: stored.log.document)?.power(of: member)
    }

    /// Whether somebody could have said it while in: a recut gives no say about what others wrote.
    private func isUnwidened(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.membership.standsUnwidened(
            stored.place.sequence, on: stored.place.branch, under: stored.entry.grant,
            in: workspace)
    }

    /// How far operations of a log under a grant have the right of an owner, and of an admin.
    func deletionLimits(
        of grant: OperationID, in log: LogName, _ workspace: Workspace
    ) -> [ContentLimit] {
        let place = Workspace.LimitPlace(grant: grant, log: log)
        if let known = workspace.judged.deletionLimits[place] { return known }
        let limits = [Role.owner, .admin].map {
            workspace.judged.contentLimit(grant: grant, log: log, leastRole: $0)
        }
        workspace.judged.deletionLimits[place] = limits
        return limits
    }

    // MARK: Private channels

    /// 0 and 1: an owner or admin of the channel. In a conversation nobody.
    private func power(
        of member: MemberID, _ stored: StoredOperation, in document: PrivateDocument,
        _ workspace: Workspace
    ) throws(StorageError) -> Int? {
        guard document.root?.subtype == .channel, let key = stored.entry.keyID,
            let branch = store.operations.branch(stored.place.branch),
            try isUnwidened(stored, in: workspace)
        else { return nil }
        let limits = document.deletionLimits(
            at: .init(log: stored.log, member: member, key: key))
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        for (power, limit) in limits.enumerated() {
            let bound = try search.bound(of: limit)
            if let bound, stored.place.sequence <= bound { return power }
        }
        return nil
    }
}

extension ChannelRuling {
    fileprivate func power(of member: MemberID) -> Int? {
        ChannelPast.power(of: member, owner: owner, admins: admins)
    }
}
