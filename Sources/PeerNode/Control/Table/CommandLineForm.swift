/// The command-line form of a command.
public struct CommandLineForm: Sendable {
    /// The words that select it, such as `channel`, `create`.
    public let words: [String]
    /// The positional parameters, in order. The last may be a list.
    public let positions: [String]
    /// Example lines for help, without the program's name.
    public let examples: [String]
    /// How the command line does it.
    public let flow: Flow
    /// The confirmation that a person is asked for before an irreversible change.
    public let question: Question?
    /// Who may do it, if it ends, grants or revokes something: a part of a name is not enough for
    /// it.
    public let weight: Weight?
    /// Which message `last` means.
    public let last: LastMessage
    /// Which channels are offered.
    public let channels: OfferedChannels

    init(
        _ words: String, _ positions: [String] = [], examples: [String] = [], flow: Flow = .call,
        question: Question? = nil, weight: Weight? = nil, last: LastMessage = .said,
        channels: OfferedChannels = .all
    ) {
        self.words = words.split(separator: " ").map(String.init)
        self.positions = positions
        self.examples = examples
        self.flow = flow
        self.question = question
        self.weight = weight
        self.last = last
        self.channels = channels
    }
}

extension CommandLineForm {
    /// How the command line does a command.
    public enum Flow: Sendable {
        /// It calls the method and shows the answer.
        case call
        /// The same, and tells the other devices of a new workspace.
        case makeWorkspace
        /// It prints messages as they come.
        case tail
        /// It talks in a channel.
        case chat
        /// It prints events as they come.
        case events
        /// It stops the daemon, and waits for its end.
        case stop
        /// It starts what is missing.
        case up
        /// It joins a workspace, in a home that may be new.
        case join
        /// It links another device, or becomes one.
        case linkDevice
        /// It recovers by the recovery phrase, in a home that may be new.
        case recover
        /// It makes an identity, in a home that may be new.
        case makeIdentity
        /// It shows the identity, and confirms the words of the phrase once they are printed.
        case showIdentity
        /// It reads the secret that opens the node.
        case unlock
        /// It reads the secrets of a new passphrase.
        case changePassphrase
        /// It reads a new passcode.
        case setPasscode
        /// It reads the current passcode and a new one.
        case changePasscode
        /// It reads the current passcode.
        case removePasscode
        /// It logs out, and asks before something is erased.
        case logOut
        /// It shows how the node is, or ends with a status that says it.
        case status
        /// It looks at the node and at what is around it.
        case doctor
        /// It shows messages, or follows them.
        case log
        /// It shows messages by their ids.
        case showMessages
        /// It shows what is found.
        case search
        /// It reads a text, from a file if that is named, and writes it into a note.
        case writeNote
        /// It shows the text of a note, all parts of it.
        case showNote
        /// It prints changes of a note as they come.
        case watchNote
        /// It asks others not to write in a note, and optionally keeps asking.
        case lockNote
        /// It carries changes between a note and an editor.
        case attachNote
        /// It sends, and says who has it.
        case send
        /// It has connected devices asked who has a file, then calls the method.
        case askHolders
        /// It fetches a file with its progress, and saves it.
        case saveFile
        /// It hands a file in, and prints its id.
        case addFile
        /// It tells a time from what follows it, and makes a reminder.
        case remind
        /// It makes an invite, and shows who comes.
        case invite
        /// It has somebody log in elsewhere, and shows the token.
        case linkAccount
        /// It sets a provider up, whose file of keys may be named from any folder.
        case setProvider
        /// It revokes a device that is lost.
        case loseDevice
        /// Asks for the current words, and shows the new ones at the end.
        case renewPhrase
        /// It revokes a device.
        case revokeDevice
        /// It writes a backup.
        case createBackup
        /// It looks at a backup without a daemon.
        case verifyBackup
        /// It restores a backup without a daemon.
        case restoreBackup
        /// It is the daemon.
        case runDaemon
        /// It calls any method.
        case rpc
        /// It explains the program.
        case help
        /// It prints the manual page.
        case man
        /// It prints a script for a shell.
        case completion
        /// It prints the version.
        case version
        /// It prints where the socket is.
        case socket
        /// It prints a setting.
        case getSetting
        /// It changes a setting.
        case changeSetting
        /// It prints all settings.
        case listSettings
        /// It prints where the settings are.
        case settingsPath

        /// Whether `--timeout` limits how long it runs, and not the wait for an answer.
        public var isStream: Bool {
            [.tail, .events, .watchNote, .attachNote, .lockNote].contains(self)
        }
    }

    /// The confirmation before an irreversible change.
    public enum Question: Sendable {
        /// Deleting a workspace for everyone.
        case deletesWorkspace
        /// Giving a workspace to another owner.
        case transfersWorkspace
        /// Giving a channel to another owner.
        case transfersChannel
        /// Leaving a workspace.
        case leavesWorkspace
        /// Removing a workspace from this device.
        case forgetsWorkspace
        /// Deleting a channel for everyone.
        case deletesChannel
        /// Removing a member.
        case removesMember
        /// Revoking a device.
        case revokesDevice
        /// Deleting a message for everyone.
        case deletesMessage
        /// Deleting a note, where it is erased.
        case purgesNote
        /// Logging out, where something is erased.
        case logsOut
        /// Changing the passphrase, where it is removed.
        case removesPassphrase

        /// Whether a script, too, has to say `--yes`: it destroys for good what belongs to others
        /// as well, or what protects this home and brings it back.
        public var isSevere: Bool {
            switch self {
            case .deletesWorkspace, .deletesMessage, .purgesNote, .logsOut, .removesPassphrase:
                true
            case .transfersWorkspace, .transfersChannel, .leavesWorkspace, .forgetsWorkspace,
                .deletesChannel, .removesMember, .revokesDevice:
                false
            }
        }
    }

    /// Who may do something irreversible. The node decides; this spares a question to everybody
    /// else.
    public enum Weight: Sendable {
        /// The node alone can say.
        case unknown
        /// Owners of the workspace.
        case owners
        /// Owners and admins of the workspace.
        case admins
        /// The channel's owner and admins.
        case channelOwners
    }

    /// Which message `last` means: the newest of these.
    public enum LastMessage: Sendable {
        /// All: what is a place in the channel.
        case place
        /// Messages that are not deleted.
        case said
        /// Messages that the caller may change or delete.
        case own
    }

    /// Which channels are suggested for a channel parameter.
    public enum OfferedChannels: Sendable {
        /// Every one.
        case all
        /// Those in which the caller can write.
        case open
        /// Those that are archived.
        case archived
    }
}

extension Command {
    /// How the command line does it.
    public var flow: CommandLineForm.Flow { line?.flow ?? .call }
}
