import PeerNode
import WorkspaceModel

/// How a command that needs a yes gets it.
enum Consent {
    /// It is done without a question.
    case given
    /// A person at the terminal is asked.
    case asked
    /// It is refused: it needs a yes, and nobody may be asked.
    case refused
}

extension SessionPart {
    /// The one rule for every question whether something is to be done. Who or what was meant by a
    /// part of a name is asked apart from it, also after `--yes`.
    ///
    /// - `--yes` is the yes.
    /// - On a terminal a person is asked. With `--no-input` the command is refused instead.
    /// - Without a terminal there is nobody to ask, and scripts mean what they say. Only what is
    ///   severe is refused (`CommandLineForm.Question.isSevere`).
    func consent(isSevere: Bool) -> Consent {
        if globals.yes { return .given }
        guard io.isInputTerminal else { return isSevere ? .refused : .given }
        return globals.noInput ? .refused : .asked
    }

    /// What is said where a yes is needed and nobody may be asked.
    var unconfirmed: NodeError {
        let why = globals.noInput ? "--no-input forbids the question" : "this is not a terminal"
        return NodeError(
            .badRequest, "this needs confirmation, and \(why)",
            hint: "add --yes to confirm", reason: "usage",
            fields: [.init(name: "yes", reason: ParameterMismatch.missing.rawValue)])
    }
}
