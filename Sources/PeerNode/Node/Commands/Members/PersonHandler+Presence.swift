import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Implements the commands about presence and typing.
extension PersonHandler {
    func setPresence(
        _ draft: PresenceDraft, _ scope: CallScope
    ) throws(NodeError) -> PresenceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        try core.membership.requireMember(of: workspace)
        guard let state = PresenceUpdate.State(word: draft.state) else {
            throw .internalFailure(reason: "state")
        }
        var choice = PresenceChoice()
        choice.state = state
        choice.text = try line(draft.text, field: "text")
        choice.emoji = try draft.emoji.map { (typed) throws(NodeError) in
            try MessageHandler(core).checkedSign(typed, field: "emoji")
        }
        if let until = draft.until {
            choice.until = UInt64(max(until, 0))
            guard choice.until ?? 0 > time.wall else {
                throw NodeError(
                    .badRequest, "'until' is in the past", reason: "presence.until",
                    fields: [.init(name: "until", reason: "range")])
            }
        }
        return try keepPresence(choice.settingValue, in: workspace)
    }

    func clearPresence(_ scope: CallScope) throws(NodeError) -> PresenceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        try core.membership.requireMember(of: workspace)
        return try keepPresence(nil, in: workspace)
    }

    private func keepPresence(
        _ value: String?, in workspace: Workspace
    ) throws(NodeError) -> PresenceObject {
        let before = try core.own.storedPreference(PresenceChoice.setting, in: workspace)
        if value != before {
            try core.own.keep(.preference(PresenceChoice.setting, value: value), in: workspace)
        }
        return core.presence.presenceObject(of: workspace.member, in: workspace)
    }

    /// One line of text that can be seen.
    private func line(_ text: String?, field: String) throws(NodeError) -> String? {
        guard let text else { return nil }
        let isBlank = text.unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint
        }
        guard !isBlank,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw NodeError(
                .badRequest, "'\(field)' must be one line of text", reason: "bad_text",
                fields: [.init(name: field, reason: "form")])
        }
        return text
    }

    /// Everybody who is not offline: the caller, then members who are online, then those whose
    /// presence is unknown, each group by name.
    func presences(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<PresenceObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        guard workspace.ownRole ?? .guest <= .member else { return Page([]) }
        let others = workspace.members.map(\.member).filter { $0 != workspace.member }
            .map { core.presence.presenceObject(of: $0, in: workspace) }
            .filter { $0.shown.state != "offline" }
            .sorted { left, right in
                left.shown.isUnknown == right.shown.isUnknown
                    ? (left.name, left.id) < (right.name, right.id) : right.shown.isUnknown
            }
        let (items, next) = try core.queries.page(
            [core.presence.presenceObject(of: workspace.member, in: workspace)] + others, request)
        return Page(Array(items), next: next)
    }

    func sendTyping(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError) {
        let workspace: Workspace = try core.queries.workspace(scope)
        try core.presence.tellTyping(
            in: core.queries.channel(channel, in: workspace), of: workspace)
    }
}
