import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Current and former members of a workspace, for other components.
extension Memberships {
    /// How many operations of a member's devices count, and how many are stored; without the
    /// authority document.
    func keptCount(
        of member: MemberID, in workspace: Workspace
    ) -> (kept: Int64, stored: Int64) {
        let devices = devices(everOf: member, in: workspace)
        var count: (kept: Int64, stored: Int64) = (0, 0)
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            for branch in store.operations.branches(in: document, of: workspace.number)
            where devices.contains(branch.log.device) {
                count.stored += Int64(clamping: branch.tipSequence &- branch.forkSequence) + 1
                guard let kept = branch.kept, kept.sequence >= branch.forkSequence else { continue }
                count.kept += Int64(clamping: kept.sequence - branch.forkSequence) + 1
            }
        }
        return count
    }

    /// Everybody who was a member and is not now, in the order in which they came in.
    func formerMembers(of workspace: Workspace) -> [MemberID] {
        let current = Set(workspace.members.map(\.member))
        let visiblePeople =
            workspace.ownRole == .guest ? workspace.visiblePeople(of: workspace.member) : nil
        var former: [MemberID] = []
        for id in workspace.authorityOrder {
            var member: MemberID?
            switch workspace.authority[id]?.payload {
            case .admit(let joiner, _, _, _)?: member = joiner.member
            case .create(let create)?: member = create.member
            default: continue
            }
            if let visiblePeople, let member, !visiblePeople.contains(member) { continue }
            if let member, !current.contains(member), !former.contains(member) {
                former.append(member)
            }
        }
        return former
    }

    /// The operation by which a member is out. Of the valid ones it is the first that ends the
    /// membership, else the last that revoked a device, since the member was in until then, else
    /// the first of the others. `nil` for a member who is in.
    func removed(
        _ member: MemberID, from workspace: Workspace
    ) -> (at: Int64, operation: OperationID)? {
        guard workspace.role(of: member) == nil else { return nil }
        var ends: (membership: [Ending], devices: [Ending], others: [Ending]) = ([], [], [])
        let evaluator = workspace.judged.evaluator
        var found = evaluator.revocations(ending: member)
        if found.isEmpty { evaluator.departure(of: member).map { found = [$0] } }
        for id in found {
            guard let record = workspace.authority[id] else { continue }
            let ending = (Int64(clamping: record.timestamp.milliseconds), id)
            switch record.payload {
            case .remove(let remove) where remove.member == member: ends.membership.append(ending)
            case .leave where evaluator.author(of: id) == member: ends.membership.append(ending)
            case .removeDevice(let device, _, _)
            where evaluator.members(everUsing: device).contains(member):
                ends.devices.append(ending)
            default: ends.others.append(ending)
            }
        }
        return ends.membership.min { $0 < $1 } ?? ends.devices.max { $0 < $1 }
            ?? ends.others.min { $0 < $1 }
    }

    /// The valid revocations by which a member lost membership and devices; empty while they are
    /// in.
    func revocations(ending member: MemberID, in workspace: Workspace) -> [OperationID] {
        workspace.judged.evaluator.revocations(ending: member)
    }

    /// The operation that ended something, and its timestamp.
    private typealias Ending = (at: Int64, operation: OperationID)

    func person(_ member: MemberID, in workspace: Workspace) -> PersonObject {
        var object = PersonObject(
            id: PublicID.member(member), name: workspace.displayName(of: member))
        object.isTwin = workspace.hasTwin(member)
        return object
    }

    /// The operation that admitted a member; after a readmission the last one.
    func admission(
        of member: MemberID, in workspace: Workspace
    ) -> Workspace.AuthorityRecord? {
        if let known = workspace.judged.derived.admissions[member] { return known }
        var found: Workspace.AuthorityRecord?
        var best: (Int, UInt64, OperationID)?
        for id in workspace.authority.entrances {
            switch workspace.authority[id]?.payload {
            case .create(let create)? where create.member == member: break
            case .admit(let joiner, _, _, _)? where joiner.member == member: break
            default: continue
            }
            guard let record = workspace.authority[id] else { continue }
            // The latest valid one counts, whatever the order of arrival.
            let rank = (
                workspace.judged.evaluator.isValid(id) ? 1 : 0, record.timestamp.rawValue, id
            )
            if let best, best > rank { continue }
            (best, found) = (rank, record)
        }
        workspace.judged.derived.admissions[member] = .some(found)
        return found
    }

    /// The workspace in which calls act that name none. If that is over, or a damaged store has
    /// lost which it was, it is the first that is not over. If all are over it is the last one,
    /// though nothing shows it as selected: reads work, and all other calls are answered with how
    /// it ended.
    func selectedWorkspace() throws(StorageError) -> Workspace? {
        let own = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        if own.count <= 1 { return own.first }
        let id = try store.registry.value("selected").flatMap(WorkspaceID.init(untrusted:))
        let chosen = own.first { $0.id == id }
        if let chosen, !isOver(chosen) { return chosen }
        return own.first { !isOver($0) } ?? chosen ?? own.first
    }

    /// The name of this home's owner: from the first active workspace that has one, else from the
    /// home. A linked device has a name of its own.
    func personName(of home: HomeIdentity) -> String {
        let own = workspaces.values.filter { $0.standing == .member }
            .sorted { (isOver($0) ? 1 : 0, $0.number) < (isOver($1) ? 1 : 0, $1.number) }
        return own.lazy.compactMap { $0.saidName(of: $0.member) }.first ?? home.name
    }

    func author(ofGrant number: Int64, in workspace: Workspace) -> MemberID? {
        if let known = workspace.judged.grantSubjects[number] { return known }
        guard let grant = store.operations.grant(number),
            let subject = workspace.judged.evaluator.subject(ofGrant: grant)
        else { return nil }
        workspace.judged.grantSubjects[number] = subject
        return subject
    }

    func select(_ workspace: Workspace) throws(StorageError) {
        try write()
        try store.registry.setValue(workspace.id.bytes, of: "selected")
    }

    /// Enters the documents whose ids are derived from the workspace's id into the store.
    func enterComputedDocuments(of workspace: Workspace) throws(StorageError) {
        try store.operations.enter(
            workspace.profileDocument, workspace: workspace.number, kind: .profile)
        try store.operations.enter(
            workspace.mailboxDocument, workspace: workspace.number, kind: .mailbox)
    }

    /// Enters the document that an authority operation creates into the store.
    ///
    /// - Returns: whether it was there already, because its content came first.
    @discardableResult
    func enterDocument(
        of payload: AuthorityPayload, _ id: OperationID, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let number = workspace.number
        switch payload {
        case .createDocument:
            let document = DocumentID(sameBytesAs: id)
            let isKnown = store.operations.document(document, in: number) != nil
            try store.operations.enter(document, workspace: number, kind: .channel)
            return isKnown
        case .create:
            try enterComputedDocuments(of: workspace)
            return false
        default:
            return false
        }
    }

    /// The edit of a message that counts; `nil` if there is none.
    func edit(
        of key: MessageKey, in document: Int64, grant: Int64, _ workspace: Workspace
    ) throws(StorageError) -> ViewStore.Annotation? {
        guard let author = author(ofGrant: grant, in: workspace) else { return nil }
        return try store.view.current(
            .init(document: document, target: key, .edit, of: author))
    }

    /// Whether this home's member wrote an operation by a device under a grant. The device is
    /// checked too: anybody may cite a grant of this member.
    func isOwn(_ grant: OperationID, of device: DeviceID, _ workspace: Workspace) -> Bool {
        workspace.judged.evaluator.subject(ofGrant: grant) == workspace.member
            && workspace.judged.evaluator.devices(ofGrant: grant).contains(device)
    }
}
