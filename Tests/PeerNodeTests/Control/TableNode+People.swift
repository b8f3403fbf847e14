import WorkspaceModel

@testable import PeerNode

/// Profiles, presence, typing and devices: small fixed answers.
extension TableNode {
    private var profile: ProfileObject {
        ProfileObject(id: "u_mina0000", workspace: "w_acme0000", name: authorName)
    }
    private var presence: PresenceObject { PresenceObject(id: "u_mina0000", name: authorName) }

    func profile(of member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> ProfileObject
    {
        try note("profile \(member.map { "\($0)" } ?? "-")", scope)
        return profile
    }
    func editProfile(_ edit: ProfileEditDraft, _ scope: CallScope) throws(NodeError)
        -> ProfileObject
    {
        let values = edit.values.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { " \($0.key)=\($0.value)" }.joined()
        let sight = edit.shown.map { " +\($0)" }.joined() + edit.hidden.map { " -\($0)" }.joined()
        let name = "\(edit.name ?? "-") \(edit.nickname ?? "-")"
        try note("editProfile \(name)\(values)\(sight)", scope)
        return profile
    }
    func setProfileImage(_ image: String, _ scope: CallScope) throws(NodeError) -> ProfileObject {
        try note("image \(image)", scope)
        return profile
    }
    func setPresence(_ draft: PresenceDraft, _ scope: CallScope) throws(NodeError)
        -> PresenceObject
    {
        let words = "\(draft.text ?? "-") \(draft.emoji ?? "-") \(draft.until ?? -1)"
        try note("presence \(draft.state) \(words)", scope)
        return presence
    }
    func clearPresence(_ scope: CallScope) throws(NodeError) -> PresenceObject {
        try note("clearPresence", scope)
        return presence
    }
    func presences(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<PresenceObject>
    {
        try note("presences \(page.limit)", scope)
        return Page([presence])
    }
    func sendTyping(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError) {
        try note("typing \(channel)", scope)
    }
    func revokeDevice(
        _ device: String, phrase: String?, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject {
        try note(
            "revokeDevice \(device)" + (phrase == nil ? "" : " by phrase")
                + (isForced ? " forced" : ""), scope)
        return self.device
    }
    func renameDevice(
        _ device: String, name: String, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject {
        try note("renameDevice \(device) \(name)", scope)
        return self.device
    }
}
