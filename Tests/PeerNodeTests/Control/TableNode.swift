import WorkspaceModel

@testable import PeerNode

/// A node that records its calls and gives small fixed answers.
final class TableNode: NodeCommands {
    func workspaces(having things: [NamedThing]) throws(NodeError) -> [String] { [] }

    var asked: [String] = []
    /// The workspace that each of these calls named.
    var workspacesAsked: [WorkspaceReference?] = []
    var keys: [RepeatKey] = []
    var failure: NodeError?
    /// Since when nobody sends the one file, and whether a connected device has it.
    var fileWaitsSince: Int64?
    /// How long it says that calls wait for the file, milliseconds.
    var callsWait: Int64?
    /// How long the last call for a file was to wait for it, milliseconds.
    var filePatience: UInt64?
    /// The files that came with calls; `nil` for one that was still to come.
    var fileContents: [[UInt8]?] = []
    /// Calls that were promised an answer.
    var promised: [CallID] = []
    /// What is different of the one note, each time that it is shown.
    var changesNote: (inout NoteObject) -> Void = { _ in }
    /// The text of the messages it shows.
    var text = "hello"
    var authorName = "Mina"
    /// Of each message that was sent: whether a program did.
    var sentByBot: [Bool] = []
    /// Whether each message that is sent has an id of its own.
    var numbersMessages = false
    /// What `unread.get` lists, `nil` for one conversation.
    var readings: [ReadingObject]?
    /// Messages that were not read, in the one channel.
    var unreadMessages: Int64 = 0
    /// When the last backup was made, and whether another one is due.
    var backupAt: Int64?
    var isBackupDue = false
    /// The name of the one channel.
    var channelName = "general"
    /// How long it runs, by `status`.
    var uptimeMilliseconds: Int64 = 0
    /// Who holds every message.
    var holderRows: [HolderObject] = []
    /// The peers that are listed.
    var linked = [PeerObject(state: "connected")]
    /// What `status` warns of.
    var warnings: [StatusObject.Warning] = []
    /// Whether nothing more is said in the one channel.
    var isArchived = false
    /// The workspaces that are listed, `nil` for one.
    var listedWorkspaces: [WorkspaceObject]?
    /// Who the caller is in the workspace, where that is asked.
    var ownRole: String?
    /// How that ended, by `state`; and who the caller is there, `u_…`.
    var workspaceState = "member"
    var ownMember: String?
    /// Changes to the one channel, the one message and the person asked for by name.
    var changesChannel: (inout ChannelObject) -> Void = { _ in }
    var changesMessage: (inout MessageObject) -> Void = { _ in }
    var hasPassphrase = false
    var hasPasscode = false
    var changesMember: (inout MemberObject) -> Void = { _ in }
    /// Who is in it, where that is asked.
    var people: [String]?
    /// The device that is listed first, and those behind it.
    var device = DeviceObject(id: "d_device00", name: "amber", addedAt: 1)
    var moreDevices: [DeviceObject] = []
    /// The devices of everybody else; the caller's where none are given.
    var foreignDevices: [DeviceObject]?
    /// What others have added.
    var newDevices: [(member: PersonObject, device: DeviceObject)] = []
    /// Where pages of messages go on.
    var pageEnds: (older: String, newer: String)?
    /// Whether there is nothing to be found.
    var findsNothing = false
    /// Of what in the one channel somebody wants to hear.
    var notice = ChannelNotice()
    /// What `reminder.list` lists.
    var reminderRows: [ReminderObject] = []

    func note(_ what: String, _ scope: CallScope) throws(NodeError) {
        if let failure { throw failure }
        asked.append(what)
        workspacesAsked.append(scope.workspace)
        if let key = scope.key { keys.append(key) }
    }

    var person: PersonObject { PersonObject(id: "u_mina0000", name: authorName) }
    var message: MessageObject {
        var message = MessageObject(
            id: "m_01hx9t4c", workspace: "w_acme0000", channel: "c_general0", author: person,
            at: 1_795_150_800_123, text: text)
        changesMessage(&message)
        return message
    }
    var workspace: WorkspaceObject {
        var object = WorkspaceObject(
            id: "w_acme0000", name: "acme", createdAt: 1, digest: "9f0c")
        object.state = workspaceState
        guard let ownRole else { return object }
        object.role = ownRole
        (object.members, object.channels, object.messages) = (1, 1, 12)
        return object
    }
    var channel: ChannelObject {
        var object = ChannelObject(
            id: "c_general0", workspace: "w_acme0000", name: channelName, createdAt: 1)
        object.reading.unread = unreadMessages
        object.settings.isArchived = isArchived
        object.kind = notice.kind
        object.reading.isMuted = notice.isMuted
        object.reading.notify = notice.notify
        changesChannel(&object)
        return object
    }
    var invite: InviteObject {
        InviteObject(
            id: "i_7k3qm2xa", link: "wsx://join/b4qx", role: "member", uses: 1, expiresAt: 2,
            createdBy: person)
    }
    private var identityObject: IdentityObject {
        var identity = IdentityObject(id: "d_device00", name: "Mina", createdAt: 1)
        if let ownMember { identity.members = [("w_acme0000", ownMember, "acme")] }
        return identity
    }
    var reader: ReaderObject { ReaderObject(name: "bot", cursor: "e1.1", at: 1) }

    var request: RequestObject {
        RequestObject(
            id: "r_7k3qm2xa", name: "Joon", member: "u_joon0000", device: "d_joon0000",
            invite: "i_7k3qm2xa", at: 1, state: "pending")
    }
    var policy: PolicyObject {
        PolicyObject(
            workspace: "w_acme0000", mayInvite: "admins", mayAttest: "admins", join: "closed",
            address: nil)
    }

    func metrics(_ scope: CallScope) throws(NodeError) -> MetricsObject {
        try note("metrics", scope)
        return MetricsObject([.init("wsx_event_seq", "The newest.", samples: [.init(7)])])
    }
    func status(_ scope: CallScope) throws(NodeError) -> StatusObject {
        try note("status", scope)
        var status = StatusObject(home: "/h", socket: "/h/control.sock")
        status.warnings = warnings
        status.uptimeMilliseconds = uptimeMilliseconds
        return status
    }
    func doctor(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("doctor", scope)
        return .reply(Page([FindingObject(id: "a.b", state: "ok", message: "fine")]).json)
    }
    func createBackup(_ draft: BackupDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    {
        try note("createBackup \(draft.path)", scope)
        return .reply(["path": .string(draft.path), "bytes": 1])
    }
    func verifyBackup(_ draft: BackupDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    {
        try note("verifyBackup \(draft.path)", scope)
        return .reply(["path": .string(draft.path), "bytes": 1])
    }
    func why(_ subject: String, can action: String?, _ scope: CallScope) throws(NodeError)
        -> WhyObject
    {
        try note("why \(subject)", scope)
        return WhyObject(
            id: "u_mina0000", name: authorName, role: "owner", can: action, answer: true, steps: [])
    }
    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("check \(repairs)", scope)
        return .reply(CheckObject().json)
    }
    func stop(_ scope: CallScope) throws(NodeError) { try note("stop", scope) }
    func createIdentity(
        _ draft: IdentityDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let recovery = draft.hasRecovery ? "" : " without recovery"
        let seal = draft.passphrase.map { " under \($0)" } ?? ""
        try note("createIdentity \(draft.name)" + recovery + seal, scope)
        return .reply(Made(identityObject).json)
    }
    func changePassphrase(
        _ draft: PassphraseDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let words = [draft.current ?? "none", draft.new ?? "none", draft.removes ? "removed" : ""]
        try note("changePassphrase " + words.joined(separator: " "), scope)
        return .later
    }
    func session(_ scope: CallScope) throws(NodeError) -> SessionObject {
        try note("session", scope)
        var session = SessionObject(state: "open")
        (session.hasPassphrase, session.hasPasscode) = (hasPassphrase, hasPasscode)
        return session
    }
    func unlockSession(
        passphrase: String, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try note("unlock \(passphrase)", scope)
        return .later
    }
    func logOut(
        wiping wipe: String, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> SessionObject {
        try note("logOut \(wipe)" + (isForced ? " forced" : ""), scope)
        var session = SessionObject(state: "closed")
        session.isWiped = wipe == "all"
        return session
    }
    func setPasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try note("passcode \(code)", scope)
        return SessionObject(state: "open")
    }
    func changePasscode(
        from current: String, to new: String, _ scope: CallScope
    ) throws(NodeError) -> SessionObject {
        try note("passcode \(current) to \(new)", scope)
        return SessionObject(state: "open")
    }
    func removePasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try note("passcode \(code) removed", scope)
        return SessionObject(state: "open")
    }
    func lockNow(_ scope: CallScope) throws(NodeError) -> SessionObject {
        try note("lock", scope)
        return SessionObject(state: "locked")
    }
    func unlock(passcode code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try note("unlock by \(code)", scope)
        return SessionObject(state: "open")
    }
    func identity(_ sight: PhraseSight, _ scope: CallScope) throws(NodeError) -> IdentityObject {
        var object = identityObject
        switch sight {
        case .none: try note("identity", scope)
        case .shown: try note("identity and phrase", scope)
        case .kept: try note("identity and phrase, kept", scope)
        case .seen(let words): try note("identity, seen \(words)", scope)
        }
        if sight == .shown || sight == .kept { object.phrase = "abacus abdomen" }
        return object
    }
    func renewPhrase(
        _ phrase: String?, _ scope: CallScope
    ) throws(NodeError) -> NewPhraseObject {
        try note("renewPhrase" + (phrase == nil ? "" : " by phrase"), scope)
        return NewPhraseObject()
    }
    func recoverIdentity(
        _ draft: RecoveryDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try note("recover \(draft.link) \(draft.timeoutMilliseconds)", scope)
        return .later
    }
    func devices(
        of member: MemberReference?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<DeviceObject> {
        try note("devices \(page.limit)", scope)
        if member != nil, let foreignDevices { return Page(foreignDevices) }
        return Page([device] + moreDevices)
    }
    func issueDeviceLink(_ scope: CallScope) throws(NodeError) -> Made<DeviceLinkObject> {
        try note("issueDeviceLink", scope)
        return Made(DeviceLinkObject(link: "wsx://device/b4qx", expiresAt: 2))
    }
    func linkDevice(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("linkDevice \(draft.link) \(draft.timeoutMilliseconds)", scope)
        return .later
    }
    func createWorkspace(_ draft: WorkspaceDraft, _ scope: CallScope) throws(NodeError)
        -> Made<WorkspaceObject>
    {
        try note("createWorkspace \(draft.name) \(draft.firstChannel)", scope)
        return Made(workspace)
    }
    func workspaces(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<WorkspaceObject>
    {
        try note("workspaces \(page.limit)", scope)
        return Page(listedWorkspaces ?? [workspace])
    }
    func workspace(counted: Bool, _ scope: CallScope) throws(NodeError) -> WorkspaceObject {
        try note("workspace \(String(describing: scope.workspace))", scope)
        return workspace
    }
    func selectWorkspace(_ reference: WorkspaceReference, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    {
        try note("select \(reference)", scope)
        return workspace
    }
    func forgetWorkspace(
        _ reference: WorkspaceReference, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        try note("forget \(reference) \(isForced)", scope)
        return workspace
    }
    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("join \(draft.link) \(draft.timeoutMilliseconds)", scope)
        promised.append(scope.call)
        return .later
    }
    func createInvite(_ draft: InviteDraft, _ scope: CallScope) throws(NodeError)
        -> Made<InviteObject>
    {
        try note("createInvite \(draft.uses) \(draft.expiresInMilliseconds)", scope)
        return Made(invite, isReplayed: true)
    }
    func invites(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<InviteObject> {
        try note("invites", scope)
        return Page([invite], next: "p_2")
    }
    func revokeInvite(_ id: String, _ scope: CallScope) throws(NodeError) -> InviteObject {
        try note("revoke \(id)", scope)
        return invite
    }
    func members(removed: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MemberObject>
    {
        try note("members \(removed)", scope)
        guard let people else {
            return Page([MemberObject(id: "u_mina0000", name: "Mina", role: "owner", joinedAt: 1)])
        }
        return Page(
            people.enumerated().map {
                MemberObject(id: "u_person0\($0)", name: $1, role: "member", joinedAt: 1)
            })
    }
    private var someone: MemberObject {
        var member = MemberObject(id: "u_joon0000", name: "Joon", role: "member", joinedAt: 1)
        changesMember(&member)
        return member
    }
    /// Throws for a name that nobody has, where it is said who is there.
    func require(_ member: MemberReference) throws(NodeError) {
        guard let people, case .name(let name) = member, !people.contains(name) else { return }
        throw .unknownUser(name, field: "member")
    }
    func member(_ member: MemberReference, _ scope: CallScope) throws(NodeError) -> MemberObject {
        try note("member \(member)", scope)
        try require(member)
        return someone
    }
    func setRole(_ role: String, of member: MemberReference, _ scope: CallScope)
        throws(NodeError) -> MemberObject
    {
        try require(member)
        try note("setRole \(role) \(member)", scope)
        return someone
    }
    func removeMember(_ draft: RemovalDraft, _ scope: CallScope) throws(NodeError)
        -> MemberObject
    {
        try require(draft.member)
        try note("remove \(draft.member) \(draft.isForced) \(draft.widens)", scope)
        return someone
    }
    func leaveWorkspace(_ scope: CallScope) throws(NodeError) -> WorkspaceObject {
        try note("leave", scope)
        return workspace
    }
    func changeWorkspaceKey(
        withDiscovery: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        try note("rekey \(withDiscovery)", scope)
        return workspace
    }
    func createChannel(_ draft: ChannelDraft, _ scope: CallScope) throws(NodeError)
        -> Made<ChannelObject>
    {
        try note("createChannel \(draft.name) \(draft.isPrivate)", scope)
        return Made(channel)
    }
    func channels(all: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>
    {
        try note("channels \(all)", scope)
        return Page([channel])
    }
    func channel(_ reference: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    {
        try note("channel \(reference)", scope)
        return channel
    }
    func joinChannel(_ reference: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    {
        try note("joinChannel \(reference)", scope)
        return channel
    }
    func search(_ request: SearchRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("search \(request.query) \(request.kinds) \(request.limit)", scope)
        if findsNothing { return .reply(SearchPage([], next: nil, isComplete: true).json) }
        let middle = text.unicodeScalars.count / 2
        let hit = SearchHit(
            .message(message),
            matches: [.init("text", 0..<1), .init("text", middle..<middle + 1)])
        var found = channel
        found.name = text
        found.settings.topic = text
        let name = SearchHit(.channel(found), matches: [.init("name", 0..<1)])
        return .reply(
            SearchPage([name, hit], next: nil, isComplete: request.kinds.isEmpty).json)
    }
    func findMembers(_ text: String, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MemberObject>
    {
        try note("findMembers \(text)", scope)
        return Page([])
    }
    func findChannels(_ text: String, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>
    {
        try note("findChannels \(text)", scope)
        return Page([channel])
    }
    func channelMembers(
        _ reference: ChannelReference, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MemberObject> {
        try note("channelMembers \(reference)", scope)
        return Page([MemberObject(id: "u_mina0000", name: "Mina", role: "owner", joinedAt: 1)])
    }
    func editChannel(_ edit: ChannelEdit, _ scope: CallScope) throws(NodeError) -> ChannelObject {
        try note("editChannel \(edit.channel)", scope)
        return channel
    }
    func setArchived(_ isArchived: Bool, _ reference: ChannelReference, _ scope: CallScope)
        throws(NodeError) -> ChannelObject
    {
        try note("setArchived \(isArchived) \(reference)", scope)
        return channel
    }
    func transferChannel(
        _ reference: ChannelReference, to member: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        try require(member)
        try note("transferChannel \(reference) \(member)", scope)
        return channel
    }
    func setChannelRole(
        _ role: String, of member: MemberReference, in reference: ChannelReference,
        _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        try note("setChannelRole \(reference) \(member) \(role)", scope)
        try require(member)
        return channel
    }
    func deleteChannel(_ reference: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    {
        try note("deleteChannel \(reference)", scope)
        return channel
    }
    func addToChannel(
        _ members: [MemberReference], _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        try note("addToChannel \(reference) \(members)", scope)
        return channel
    }
    func removeFromChannel(
        _ members: [MemberReference], _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        try note("removeFromChannel \(reference) \(members)", scope)
        return channel
    }
    func leaveChannel(_ reference: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    {
        try note("leaveChannel \(reference)", scope)
        return channel
    }
    func openDirect(_ members: [MemberReference], _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    {
        try note("openDirect \(members)", scope)
        return channel
    }
    func directs(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>
    {
        try note("directs", scope)
        return Page(notice.kind == "channel" ? [] : [channel])
    }
}

/// The notification level of a channel.
struct ChannelNotice: Sendable {
    var isMuted = false
    var notify = "all"
    var kind = "channel"
}
