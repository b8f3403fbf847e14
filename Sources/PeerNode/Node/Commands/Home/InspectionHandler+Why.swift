import CRDTStore
import WorkspaceModel

/// `why`: resolves its subject and assembles the steps.
extension InspectionHandler {
    func why(
        _ subject: String, can action: String?, _ scope: CallScope
    ) throws(NodeError) -> WhyObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        if let action, Why.leastRole(for: action) == nil {
            throw NodeError(
                .badRequest, "there is no action \(NodeError.quoted(action))",
                hint: "one of: \(Why.actions)", reason: "bad_action",
                fields: [.init(name: "can", reason: "form")])
        }
        if let key = PublicID.messageKey(subject) {
            return try why(key, subject, action, in: workspace)
        }
        switch subject.utf8.first {
        case UInt8(ascii: "#"):
            return try why(channelNamed: subject, action, in: workspace)
        case UInt8(ascii: "@"):
            return try why(memberNamed: String(subject.dropFirst()), action, in: workspace)
        default:
            if subject.utf8.starts(with: "c_".utf8) {
                return try why(channelNamed: subject, action, in: workspace)
            }
            return try why(bareName: subject, action, in: workspace)
        }
    }

    /// A name without a sign: of somebody, or of a channel, and of only one of them.
    private func why(
        bareName text: String, _ action: String?, in workspace: Workspace
    ) throws(NodeError) -> WhyObject {
        let unknown: NodeError
        let isChannel = !workspace.channelIndex.matching(text).isEmpty
        do throws(NodeError) {
            let member = try anyMember(text, in: workspace)
            guard isChannel else { return try why(member, action, in: workspace) }
            let channel = try core.queries.channel(.name(text), in: workspace, field: "subject")
            throw NodeError.ambiguous(
                text,
                candidates: [
                    core.membership.person(member, in: workspace).json,
                    [
                        "id": .string(channel.publicID),
                        "name": .string("#" + core.channels.shownName(channel, workspace)),
                    ],
                ], field: "subject")
        } catch {
            guard error.kind == .unknownUser else { throw error }
            unknown = error
        }
        if !isChannel, isIdentifier(text, prefix: "m_") {
            throw .notFound("message", text, field: "subject", hint: "wsx-node log CHANNEL")
        }
        guard isChannel else { throw unknown }
        return try why(channelNamed: "#" + text, action, in: workspace)
    }

    // MARK: Members

    private func why(
        memberNamed text: String, _ action: String?, in workspace: Workspace
    ) throws(NodeError) -> WhyObject {
        try why(anyMember(text, in: workspace), action, in: workspace)
    }

    private func why(
        _ member: MemberID, _ action: String?, in workspace: Workspace
    ) throws(NodeError) -> WhyObject {
        let why = Why(workspace: workspace)
        var steps = why.chain(of: member).compactMap(why.step)
        steps += try forkSteps(of: member, in: workspace)
        let role = workspace.members.first { $0.member == member }?.role
        var answer = role != nil
        if let action, role == .guest, ["send", "read"].contains(action) {
            let step = why.decision(action, needing: .guest, of: member).step
            let name = workspace.displayName(of: member)
            step.map {
                steps.append(
                    $0.saying(
                        "this gives \(name) the role guest, so they may \(action) in the channels "
                            + "they are in"))
            }
        } else if let action, let least = Why.leastRole(for: action) {
            let decision = why.decision(action, needing: least, of: member)
            answer = decision.answer
            decision.step.map { steps.append($0) }
        }
        return WhyObject(
            id: PublicID.member(member), name: workspace.displayName(of: member),
            role: role?.word, can: action, answer: answer, steps: steps)
    }

    /// A current or former member, by id or name. A current one takes precedence.
    private func anyMember(
        _ text: String, in workspace: Workspace
    ) throws(NodeError) -> MemberID {
        let current = workspace.members.map(\.member)
        var former: [MemberID] = []
        for id in workspace.authorityOrder {
            if let member = workspace.judged.subject(ofGrant: id),
                !current.contains(member),
                !former.contains(member)
            {
                former.append(member)
            }
        }
        for group in [current, former] {
            let found =
                group.filter { PublicID.member($0) == text }.first.map { [$0] }
                ?? workspace.named(text, among: group)
            if found.count > 1 {
                throw .ambiguous(
                    text, candidates: found.map { core.membership.person($0, in: workspace).json },
                    field: "subject")
            }
            if let only = found.first { return only }
        }
        let holder = try self.core.profiles.former(
            text, among: current, in: workspace, field: "subject", isTaken: true)
        if let holder { return holder }
        throw .unknownUser(text, field: "subject")
    }

    private func forkSteps(
        of member: MemberID, in workspace: Workspace
    ) throws(NodeError) -> [WhyObject.Step] {
        let devices = Set(
            workspace.authorityOrder.filter {
                workspace.judged.subject(ofGrant: $0) == member
            }
            .flatMap { workspace.judged.devices(ofGrant: $0) })
        return try stored { () throws(StorageError) in
            try core.log.evidence.forks(of: devices, limit: 20).map { fork in
                WhyObject.Step(
                    operation: fork.operation, kind: "fork",
                    by: core.membership.person(member, in: workspace), at: fork.at, valid: true,
                    text: fork.text)
            }
        }
    }

    // MARK: Channels

    private func why(
        channelNamed text: String, _ action: String?, in workspace: Workspace
    ) throws(NodeError) -> WhyObject {
        let name = text.utf8.first == UInt8(ascii: "#") ? String(text.dropFirst()) : text
        guard let reference = ChannelReference(name) else {
            throw .notFound("channel", text, field: "subject", hint: "wsx-node channel list --all")
        }
        let channel = try core.queries.channel(reference, in: workspace, field: "subject")
        if channel.isPrivate, channel.number != 0 {
            return try core.privates.why.whyPrivate(channel, action, in: workspace)
        }
        let why = Why(workspace: workspace)
        let ledger = channel.isPrivate ? nil : workspace.book.folds[channel.id]?.ledger
        var steps = why.chain(of: channel.id).compactMap { why.step($0, under: ledger) }
        // Without an action the last line says what the channel is to the one who asks.
        let least = action.flatMap(Why.leastRole) ?? .member
        let needed =
            action.flatMap { Self.roleNeeded(to: $0, in: channel, by: workspace.member) } ?? least
        var (answer, last) = why.decision(action ?? "read", needing: needed, of: workspace.member)
        if action == nil || action == "send", answer, channel.isArchived {
            last = (steps.last { $0.valid } ?? last)?.saying(
                "#\(channel.name ?? channel.publicID) is archived, so nobody may send")
            answer = action == nil
        } else if action == nil, answer, !channel.isDirect {
            last = last?.saying(
                "this gives \(workspace.displayName(of: workspace.member)) the role "
                    + "\(workspace.ownRole?.word ?? "member"), so they may read and send")
        }
        last.map { steps.append($0) }
        return WhyObject(
            id: channel.publicID,
            name: channel.isDirect
                ? workspace.name(ofDirect: channel) : channel.name ?? channel.publicID,
            role: nil, can: action, answer: action == nil || answer, steps: steps)
    }

    /// The workspace role with which somebody may do what a channel's owner may, given what they
    /// are in the channel; `nil` for what has nothing to do with that.
    private static func roleNeeded(
        to action: String, in channel: Workspace.Channel, by member: MemberID
    ) -> Role? {
        let role = channel.role(of: member)
        return switch action {
        case "edit": role <= .admin ? .member : .admin
        case "archive", "delete", "transfer", "role": role == .owner ? .member : .admin
        default: nil
        }
    }

    // MARK: Messages

    private func why(
        _ key: MessageKey, _ text: String, _ action: String?, in workspace: Workspace
    ) throws(NodeError) -> WhyObject {
        let found = try stored { () throws(StorageError) in
            try store.view.anyMessage(key).flatMap { (found) throws(StorageError) in
                try store.operations.operation(found.row.position.arrival).map { (found, $0) }
            }
        }
        guard let ((row, _), operation) = found,
            let channel = core.queries.channel(row.document, in: workspace)
        else {
            throw .notFound("message", text, field: "subject", hint: "wsx-node log CHANNEL")
        }
        let why = Why(workspace: workspace)
        let grant = operation.entry.grant
        let author = workspace.judged.subject(ofGrant: grant)
        var steps = (author.map(why.chain) ?? [grant]).compactMap(why.step)
        let isShown = try stored { () throws(StorageError) in
            try core.privates.visibility(of: operation, in: workspace) == .shown
        }
        steps.append(
            messageStep(operation, author, channel, isShown: isShown, in: workspace))
        if let author { steps += try forkSteps(of: author, in: workspace) }
        var answer = isShown
        if let action, let least = Why.leastRole(for: action) {
            let decision = why.decision(action, needing: least, of: workspace.member)
            answer = decision.answer
            decision.step.map { steps.append($0) }
        }
        return WhyObject(
            id: text, name: channel.name ?? channel.publicID, role: nil, can: action,
            answer: answer, steps: steps)
    }

    private func messageStep(
        _ operation: StoredOperation, _ author: MemberID?, _ channel: Workspace.Channel,
        isShown: Bool, in workspace: Workspace
    ) -> WhyObject.Step {
        let name = author.map(workspace.displayName(of:)) ?? "someone"
        let place =
            "position \(operation.place.sequence) in the log of "
            + PublicID.device(operation.log.device)
        var text =
            "\(name) wrote this at \(place), under \(PublicID.operation(operation.entry.grant))"
        if !isShown { text += "; not shown: " + Why(workspace: workspace).refusal(of: operation) }
        return WhyObject.Step(
            operation: PublicID.operation(operation.place.link.id), kind: "message",
            by: author.map { core.membership.person($0, in: workspace) },
            at: Int64(clamping: operation.entry.timestamp.milliseconds), valid: isShown, text: text)
    }

}
