import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The steps of `why` that come from a private document: only its readers can ask for them.
final class PrivateWhy: CorePart {
    /// The operations that define the state of a private channel or direct conversation.
    func whyPrivate(
        _ channel: Workspace.Channel, _ action: String?, in workspace: Workspace
    ) throws(NodeError) -> WhyObject {
        let document = try core.privates.document(of: channel, in: workspace)
        var answer = true
        if let action {
            answer = channel.includes(workspace.member)
            switch action {
            case "edit", "remove", "invite":
                answer = answer && channel.allows(.edit, to: workspace.member, of: .member)
            case "archive", "delete", "transfer", "role":
                answer = answer && channel.allows(.manage, to: workspace.member, of: .member)
            case "send": answer = answer && !channel.isArchived
            default: break
            }
        }
        let name = channel.isDirect ? workspace.name(ofDirect: channel) : channel.name
        var steps = steps(of: document, in: workspace)
        lastStep(document, channel, action, answer, in: workspace).map { steps.append($0) }
        return WhyObject(
            id: channel.publicID, name: name ?? channel.publicID, role: nil, can: action,
            answer: answer, steps: steps)
    }

    /// The deciding step: the seat of the caller, or what ended it.
    private func lastStep(
        _ document: PrivateDocument, _ channel: Workspace.Channel, _ action: String?,
        _ answer: Bool, in workspace: Workspace
    ) -> WhyObject.Step? {
        let name = workspace.displayName(of: workspace.member)
        let asked = action ?? "read and send"
        guard let seat = document.authority.standing(of: workspace.member),
            channel.includes(workspace.member)
        else {
            let end = document.authority.ends(of: workspace.member).max()
            return step(
                end ?? document.rootID, of: document, in: workspace,
                saying: "\(name) is no longer in it, so may not \(action ?? "send")")
        }
        guard !channel.isArchived || !["send", nil].contains(action) else {
            return step(
                seat.seat, of: document, in: workspace,
                saying: "it is archived, so nobody may send")
        }
        let role = channel.isDirect ? "a place in it" : "the role \(seat.role.word) in it"
        let text =
            answer
            ? "this gives \(name) \(role), so they may \(asked)"
            : channel.isDirect
                ? "a direct message has no owner, so nobody may \(asked)"
                : "this gives \(name) only \(role), so they may not \(asked)"
        return step(seat.seat, of: document, in: workspace, saying: text)
    }

    /// A membership operation as a step, with other words.
    private func step(
        _ id: OperationID, of document: PrivateDocument, in workspace: Workspace,
        saying text: String
    ) -> WhyObject.Step? {
        guard let record = document.records[id] else { return nil }
        return WhyObject.Step(
            operation: PublicID.operation(id), kind: record.change?.action.word ?? "sealed",
            by: record.author.map { core.membership.person($0, in: workspace) },
            at: Int64(clamping: record.timestamp.milliseconds), valid: true, text: text)
    }

    private func steps(
        of document: PrivateDocument, in workspace: Workspace
    ) -> [WhyObject.Step] {
        let why = Why(workspace: workspace)
        let authority = document.authority
        let ordered = document.order.map { (authority.lamport(of: $0) ?? .max, $0) }
        return ordered.sorted { $0 < $1 }.compactMap { _, id in
            guard let record = document.records[id] else { return nil }
            let verdict = authority.verdict(on: id)
            var text = sentence(of: record, in: workspace)
            if verdict != .valid, record.change != nil {
                text += "; without effect: " + why.reason(verdict)
            }
            return WhyObject.Step(
                operation: PublicID.operation(id), kind: record.change?.action.word ?? "sealed",
                by: record.author.map { core.membership.person($0, in: workspace) },
                at: Int64(clamping: record.timestamp.milliseconds), valid: verdict == .valid,
                text: text)
        }
    }

    private func sentence(of record: PrivateDocument.Record, in workspace: Workspace) -> String {
        func called(_ member: MemberID) -> String { workspace.displayName(of: member) }
        let name = record.author.map(called) ?? "someone"
        switch record.change?.action {
        case .root(let root):
            return root.subtype == .directMessage
                ? "\(name) opened the conversation" : "\(name) created the channel"
        case .add(let addition):
            let people = addition.seats.map { called($0.member) }.joined(separator: ", ")
            return "\(name) added \(people)"
        case .remove(let member, _, _): return "\(name) removed \(called(member))"
        case .leave: return "\(name) left"
        case .role(let member, let role, _): return "\(name) made \(called(member)) \(role.word)"
        case .set(let settings): return "\(name) changed \(settings.words)"
        case .rekey: return "\(name) made a new key"
        case .delete: return "\(name) deleted the channel"
        case nil: return "\(name) wrote something that cannot be read here"
        }
    }
}

extension PrivateSettings {
    /// Their effect, for people.
    fileprivate var words: String {
        var words: [String] = []
        if name != nil { words.append("the name") }
        if topic != nil { words.append("the topic") }
        if description != nil { words.append("the description") }
        if let archived {
            words.append(archived ? "the channel to archived" : "the channel to unarchived")
        }
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

extension PrivateAction {
    /// The word of a kind in steps, as PROTOCOL.md 3.4 has it.
    fileprivate var word: String {
        switch self {
        case .root: "root"
        case .add: "add"
        case .remove: "remove"
        case .leave: "leave"
        case .role: "role"
        case .set: "set"
        case .rekey: "rekey"
        case .delete: "delete"
        }
    }
}
