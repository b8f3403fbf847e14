import CRDTStore
import WorkspaceModel

/// `check`: everything stored is computed again, a slice a turn, so that the node goes on.
struct Checking {
    /// Operations of one slice: their signatures take about 10 ms.
    static let sliceMax: Int64 = 128

    let call: CallID
    let repairs: Bool
    /// The next arrival number to look at.
    var next: Int64 = 1
    var result = CheckObject()
    /// What the operations say about who follows what: the largest (hlc, id) of each.
    var subscriptions: [Place: (HybridTimestamp, ViewStore.Subscription)] = [:]
    /// What the own documents say.
    var registers: [ViewStore.Register.Place: ViewStore.Register] = [:]
    /// What read markers say of logs, added up.
    var frontiers: [ViewStore.Register.Place: ReadFrontier] = [:]
    /// What the operations say about messages, by document and message.
    var annotations: [Int64: [MessageKey: [ExpectedAnnotation]]] = [:]
    /// Messages that the operations give.
    var messages: Int64 = 0

    /// What is said of a problem that a repair puts right on the spot.
    var mended: String? { repairs ? "mended" : nil }

    struct Place: Hashable {
        let document: Int64
        let member: MemberID
    }
}

extension NodeCore {
    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        guard checking == nil else {
            throw NodeError(
                .busy, "a check is under way", hint: "wait until it is done", reason: "check.busy")
        }
        checking = Checking(call: scope.call, repairs: repairs)
        return .later
    }

    /// One slice of the check that is under way, if any.
    func continueChecking() throws(StorageError) {
        guard var check = checking else { return }
        let end = min(store.operations.arrival, check.next + Checking.sliceMax - 1)
        while check.next <= end {
            try self.check(arrival: check.next, &check)
            check.next += 1
        }
        guard check.next > store.operations.arrival else {
            checking = check
            hasMoreToDo = true
            return
        }
        // The last slice came up to the newest operation, so nothing has moved in between.
        try finish(&check)
        checking = nil
        effects.append(.answer(check.call, .success(check.result.json)))
    }

    private func check(arrival: Int64, _ check: inout Checking) throws(StorageError) {
        guard let stored = try store.operations.operation(arrival) else { return }
        check.result.operations += 1
        let problems = try StoreCheck.problems(in: store.operations, arrivals: arrival...arrival)
        if let problem = problems.first {
            check.result.add(
                "operation", PublicID.operation(stored.place.link.id), problem.what,
                done: check.repairs ? "asked" : nil)
            if check.repairs { try askAgain(for: stored, &check) }
            return
        }
        guard let document = store.operations.document(numbered: stored.document),
            document.kind == .channel || document.kind == .privateDocument,
            let workspace = workspaces[document.workspace]
        else { return }
        try compare(stored, document.number, in: workspace, &check)
    }

    // MARK: Views

    private func compare(
        _ stored: StoredOperation, _ document: Int64, in workspace: Workspace,
        _ check: inout Checking
    ) throws(StorageError) {
        let position = ViewStore.Position(
            sort: stored.place.sort, arrival: stored.place.arrival)
        guard stored.entry.absent == nil else {
            return try compareAbsent(stored, at: position, in: workspace, &check)
        }
        let isValid = store.operations.isValid(
            stored.place.sequence, in: stored.place.branch)
        let visibility = try visibility(of: stored, in: workspace)
        let shown = try store.view.stored(at: position, in: document)
        switch try content(of: stored, in: workspace) {
        case .message(let message):
            check.messages += 1
            check.result.rows += 1
            let expected = try row(of: message, stored, in: workspace)
            guard shown?.row != expected || shown?.visibility != visibility else { return }
            check.result.add(
                "view", PublicID.operation(stored.place.link.id),
                shown == nil ? "a message is not in its channel's view" : "the view differs",
                done: check.mended)
            guard check.repairs else { return }
            try write()
            try store.view.fold(expected, as: visibility)
            check.result.repaired += 1
        case .membership(let action, let members)
        where isValid && workspace.privateDocuments[stored.log.document] == nil:
            note(action, members, stored, document, in: workspace, &check)
        case .own(let register) where shown == nil:
            try note(register, stored, in: workspace, &check)
        case .annotation(let annotation) where shown == nil:
            try note(annotation, stored, in: workspace, &check)
        case .membership, .profile, .profileField, .device, .own, .annotation, nil:
            guard shown != nil else { return }
            check.result.add(
                "view", PublicID.operation(stored.place.link.id), "what is no message is shown",
                done: check.mended)
            guard check.repairs else { return }
            try write()
            try store.view.remove(at: position, in: document)
            check.result.repaired += 1
        }
    }

    /// What is deleted is as it should be. What is missing is asked for, unless this node cannot
    /// tell whether its members have deleted it.
    private func compareAbsent(
        _ stored: StoredOperation, at position: ViewStore.Position, in workspace: Workspace,
        _ check: inout Checking
    ) throws(StorageError) {
        if try store.view.stored(at: position, in: stored.document) != nil {
            check.messages += 1
            check.result.rows += 1
        }
        let isRead =
            workspace.channels[stored.log.document] != nil
            || workspace.privateDocuments[stored.log.document]?.root != nil
        guard isRead,
            try store.operations.absentPayload(stored.place.arrival)?.isMissing == true
        else { return }
        check.result.add(
            "operation", PublicID.operation(stored.place.link.id), "its payload is missing",
            done: check.repairs ? "asked" : nil)
        guard check.repairs else { return }
        check.result.repaired += 1
        for link in network.ordered { link.askedPayloads.remove(stored.place.arrival) }
        asksForPayloads = true
        hasMoreToDo = true
    }

    private func note(
        _ action: ContentPayload.MembershipAction, _ members: [MemberID],
        _ stored: StoredOperation, _ document: Int64, in workspace: Workspace,
        _ check: inout Checking
    ) {
        guard let author = workspace.evaluator.subject(ofGrant: stored.entry.grant) else { return }
        let word = ViewStore.Subscription(
            isJoined: action == .join || action == .add, id: stored.place.link.id)
        for member in members.isEmpty ? [author] : members {
            let place = Checking.Place(document: document, member: member)
            if let (timestamp, known) = check.subscriptions[place],
                (timestamp.rawValue, known.id) > (stored.entry.timestamp.rawValue, word.id)
            {
                continue
            }
            check.subscriptions[place] = (stored.entry.timestamp, word)
        }
    }

    // MARK: The end

    private func finish(_ check: inout Checking) throws(StorageError) {
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            compareVerdicts(of: workspace, &check)
            try compareRegisters(of: workspace, &check)
            try compareAnnotations(of: workspace, &check)
            for channel in workspace.channels.values.sorted(by: { $0.number < $1.number }) {
                try compareSubscriptions(of: channel, &check)
            }
        }
        let surplus = try store.view.messageCount() - check.messages
        if surplus > 0 {
            check.result.add(
                "view", "message", "\(surplus) rows of no operation are shown",
                done: check.mended)
            if check.repairs {
                try write()
                check.result.repaired += try store.view.removeOrphans()
            }
        }
    }

    /// Judges the authority document once more, from nothing and in one pass.
    private func compareVerdicts(of workspace: Workspace, _ check: inout Checking) {
        let operations = workspace.authorityOrder.compactMap { workspace.evaluator.operation($0) }
        guard let fresh = try? AuthEvaluator.evaluateFromScratch(operations) else {
            return check.result.add(
                "authority", PublicID.workspace(workspace.id), "it cannot be judged again")
        }
        for id in workspace.authorityOrder {
            if !fresh.contains(id) {
                check.result.add("authority", PublicID.operation(id), "it is not judged")
            } else if fresh.isValid(id) != workspace.evaluator.isValid(id) {
                check.result.add("authority", PublicID.operation(id), "its verdict differs")
            }
        }
    }

    private func compareSubscriptions(
        of channel: Workspace.Channel, _ check: inout Checking
    ) throws(StorageError) {
        var expected: [MemberID: ViewStore.Subscription] = [:]
        for (place, word) in check.subscriptions where place.document == channel.number {
            expected[place.member] = word.1
        }
        let stored = try store.view.subscriptions(of: channel.number)
        check.result.rows += Int64(expected.count)
        for member in Set(expected.keys).union(stored.keys).sorted()
        where expected[member] != stored[member] {
            check.result.add(
                "view", channel.publicID,
                "who follows it differs for \(PublicID.member(member))", done: check.mended)
            guard check.repairs else { continue }
            try write()
            try store.view.forget(member, in: channel.number)
            let place = Checking.Place(document: channel.number, member: member)
            if let (timestamp, word) = check.subscriptions[place] {
                try store.view.fold(
                    member, joined: word.isJoined, in: channel.number, at: timestamp, by: word.id)
            }
            check.result.repaired += 1
        }
    }

    // MARK: Repairing

    /// Sets a damaged operation aside, to be written over by what a peer sends.
    private func askAgain(
        for stored: StoredOperation, _ check: inout Checking
    ) throws(StorageError) {
        check.result.repaired += 1
        guard case .id? = try StoreCheck.damage(of: stored, in: store.operations) else {
            return noteDamage(at: stored.place.sequence, of: stored.place.branch)
        }
        _ = try intact(stored)
    }
}
