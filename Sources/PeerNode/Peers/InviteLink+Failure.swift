public import WorkspaceModel

extension NodeError {
    /// Why a text that somebody gave is not an invite link: `invite_invalid`, in words.
    ///
    /// Node and command line share it: the command line refuses a slip before it starts anything.
    public static func inviteLink(_ problem: InviteLink.Problem) -> NodeError {
        NodeError(
            .inviteInvalid, "that is no invite link: \(words(problem))",
            hint: "copy the whole link, it begins with \(InviteLink.prefix)",
            reason: "invite.invalid", fields: [.init(name: "link", reason: "form")])
    }

    private static func words(_ problem: InviteLink.Problem) -> String {
        switch problem {
        case .notALink: "it does not begin like one"
        case .garbled: "a part is missing, or a letter is none of a link"
        case .badCheck: "a letter was lost or changed"
        case .unknownVersion: "a later version of this program made it"
        case .badHint: "an address in it is none"
        }
    }
}
