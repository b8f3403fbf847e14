public import WorkspaceModel

extension NodeError {
    /// Why a text that somebody gave is not an invite link: `invite_invalid`, in words.
    ///
    /// Node and command line share it: the command line refuses a slip before it starts anything.
    public static func inviteLink(_ problem: InviteLink.Problem) -> NodeError {
        guard problem != .deviceLink else {
            return NodeError(
                .inviteInvalid, "that is a device link, not an invite",
                hint: "to make this a device of yours: wsx-node device link LINK",
                reason: "invite.invalid", fields: [.init(name: "link", reason: "form")])
        }
        return NodeError(
            .inviteInvalid, "that is not an invite link: \(words(problem))",
            hint: "copy the whole link; it starts with \(InviteLink.prefix)",
            reason: "invite.invalid", fields: [.init(name: "link", reason: "form")])
    }

    private static func words(_ problem: InviteLink.Problem) -> String {
        switch problem {
        case .notALink, .deviceLink: "it does not start like one"
        case .garbled: "a part is missing, or it contains a character that links never have"
        case .badCheck: "a character is missing or wrong"
        case .unknownVersion: "a later version of this program made it"
        case .badHint: "it contains something that is not an address"
        }
    }
}
