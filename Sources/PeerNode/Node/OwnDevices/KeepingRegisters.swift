import CRDTStore
import WorkspaceModel

/// Settings of a person's devices that a command changes.
extension OwnDocuments {
    /// Writes a register, unless it says that already.
    func keep(_ wanted: OwnRegister, in workspace: Workspace) throws(NodeError) {
        let place = place(of: wanted, in: workspace)
        let isSaid = try stored { () throws(StorageError) in
            try register(place, in: workspace) == wanted
        }
        if isSaid { return }
        try refuseOverruled(place, in: workspace)
        let isWritten = try stored { () throws(StorageError) in
            try authorOwn(wanted, in: workspace)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    /// Refuses to set what would not count.
    func refuseOverruled(
        _ place: ViewStore.Register.Place?, in workspace: Workspace
    ) throws(NodeError) {
        guard let place else { return }
        try refuseOverruled(
            try stored { () throws(StorageError) in
                try store.view.own.settingHeadCount(place, limit: Limits.ownWordsMax + 1)
            })
    }

    /// The name under which an own document stores a workspace's notice level.
    func levelName(of workspace: Workspace) -> ConversationName? {
        ConversationName(Array(workspace.id.bytes.prefix(ConversationName.byteCount)))
    }

    /// The notice level of a workspace, for conversations that set none.
    func noticeLevel(of workspace: Workspace) throws(StorageError) -> OwnRegister.NoticeLevel {
        guard let name = levelName(of: workspace),
            case .level(_, let level?)? = try register(
                place(.level, name, in: workspace), in: workspace)
        else { return environment.notices.level }
        return level
    }

    /// The notice level of a conversation: its own setting, else the workspace's.
    func noticeLevel(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> OwnRegister.NoticeLevel {
        if let name = channel.conversation,
            case .level(_, let level?)? = try register(
                place(.level, name, in: workspace), in: workspace)
        {
            return level
        }
        return try noticeLevel(of: workspace)
    }

    /// Whether a conversation is muted now, and until when, ms; `nil` for permanently.
    func isMuted(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> (isMuted: Bool, until: UInt64?) {
        guard let name = channel.conversation,
            case .mute(_, let until)? = try register(
                place(.mute, name, in: workspace), in: workspace)
        else { return (false, nil) }
        let isMuted = until.map { $0 > time.wall } ?? true
        return (isMuted, isMuted ? until : nil)
    }

    /// The value of a setting, `nil` without one.
    func storedPreference(
        _ name: String, in workspace: Workspace
    ) throws(NodeError) -> String? {
        let found = try stored { () throws(StorageError) in
            try register(place(ofPreference: name, in: workspace), in: workspace)
        }
        guard case .preference(_, let value)? = found else { return nil }
        return value
    }
}
