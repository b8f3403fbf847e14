import WorkspaceModel

/// The command that shows the identity, and the recovery phrase until somebody has seen it.
enum IdentityShowRow {
    static let command = {
        let phrase = Parameter.flag(
            "phrase", "Also show the recovery phrase. Once you have seen it, it is not kept."
        ).writing(true)
        let keep = Parameter.flag(
            "keep", "With 'phrase': keep the words until a call with 'seen' confirms them."
        ).forPrograms()
        let seen = Parameter.text(
            "seen", "The words that somebody has seen, so that they are no longer kept.",
            bytes: 1...1_024
        ).optional().writing().forPrograms()
        return Command(
            "identity.show",
            line: CommandLineForm(
                "identity show", examples: ["identity show", "identity show --phrase"],
                flow: .showIdentity),
            "Show this home's identity and who you are in each workspace.",
            parameters: [phrase, keep, seen], result: "identity", shape: .identity,
            effect: .reads, scope: .node, whileLocked: .answers,
            failures: [.badRequest, .notFound], needs: .daemon,
            run: .answer { (call) throws(NodeError) -> IdentityObject in
                guard let words = call[seen] else {
                    return try call.node.identity.identity(
                        call[phrase] ? call[keep] ? .kept : .shown : .none, call.scope)
                }
                guard !call[phrase] else {
                    throw NodeError(
                        .badRequest, "'seen' and 'phrase' cannot be combined",
                        hint: "use only one of them", reason: "control.bad_param",
                        fields: [.init(name: "seen", reason: ParameterMismatch.form.rawValue)])
                }
                return try call.node.identity.identity(.seen(words), call.scope)
            })
    }()
}
