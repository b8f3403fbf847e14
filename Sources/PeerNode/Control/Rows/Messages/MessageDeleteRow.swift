import WorkspaceModel

extension Command {
    /// Deletes for everybody; asks before it does on a terminal.
    static let messageDelete = {
        let message = Parameter.identifier("message", "Which message.", prefix: "m_")
        let undo = Parameter.flag(
            "undo",
            "Restore someone else's message within a day of its deletion. The person who deleted "
                + "it can do this, and so can those who rank above them.")
        return Command(
            "message.delete",
            line: CommandLineForm(
                "message delete", ["message"],
                examples: [
                    "message delete m_01hx9t4c", "message delete last --in general --yes",
                    "message delete m_01hx9t4c --undo",
                ], question: .deletesMessage, last: .own),
            "Delete a message for everyone; 'last' is your newest one. Your own messages are "
                + "erased at once. Owners and admins can delete other people's: hidden at once, "
                + "erased after a day.",
            parameters: [message, undo, inChannel], result: "message", shape: .deletedMessage,
            effect: .signs, scope: .conversation,
            failures: [.notFound, .ambiguous, .forbidden, .archived, .conflict],
            example: ["message": "m_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.messages.deleteMessage(call[message], undo: call[undo], call.scope)
            })
    }()
}
