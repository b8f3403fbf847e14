import WorkspaceModel

extension Command {
    /// Deletes for everybody; asks before it does on a terminal.
    static let messageDelete = {
        let message = Parameter.identifier("message", "Which message.", prefix: "m_")
        let undo = Parameter.flag(
            "undo",
            "Take back that somebody deleted another's message, within a day: for who did, and for "
                + "those above.")
        return Command(
            "message.delete",
            line: CommandLineForm(
                "message delete", ["message"],
                examples: [
                    "message delete m_01hx9t4c", "message delete last --in general --yes",
                    "message delete m_01hx9t4c --undo",
                ]),
            "Delete a message for everybody; 'last' is the newest of one's own. One's own is erased "
                + "at once; another's, which takes an owner or admin, is hidden at once and erased "
                + "after a day.",
            parameters: [message.definition, undo.definition, inChannel.definition],
            result: "message",
            failures: [.notFound, .ambiguous, .forbidden, .archived, .conflict],
            example: ["message": "m_01hx9t4c"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.deleteMessage(
                        given[message], undo: given[undo], context.scope(given)))
            })
    }()
}
