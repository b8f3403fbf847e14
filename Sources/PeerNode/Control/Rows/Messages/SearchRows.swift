import WorkspaceModel

extension Command {
    /// Finding things by what they say.
    static let searchCommands = [search, memberFind]

    private static let search = {
        let query = Parameter.text(
            "query", "What to search for: words, or \"words next to each other\".",
            bytes: 1...Limits.searchQueryBytesMax
        ).asked("search for what?")
        let kinds = Parameter<[String]>.list(
            of: Parameter.choice(
                "kinds", "What kinds of things to find. Without any, all.",
                ["message", "note", "channel", "member"]
            ).flag("kind"), count: 0...4
        ).defaulting(to: [])
        let channels = Parameter<[ChannelReference]>.list(
            of: Parameter.channel("channels", "Only messages and notes in this channel.").flag(
                "in"),
            count: 0...100
        ).defaulting(to: [])
        let from = Parameter.member(
            "from", "Only what this person wrote, and notes they created."
        ).optional()
        let after = Parameter.time(
            "after", "Only what was written since then, and notes created since then."
        ).optional()
        let before = Parameter.time(
            "before", "Only what was written until then, and notes created until then."
        ).optional()
        let has = Parameter.choice(
            "has", "Only what contains a link or a file.", ["link", "file"]
        ).optional()
        let order = Parameter.choice(
            "order",
            "Which messages and notes come first: the newest, or the best matches among the "
                + "newest \(Limits.searchRankedMax).",
            ["newest", "best"]
        ).defaulting(to: "newest")
        let limit = Parameter.integer("limit", "At most this many items.", 1...100)
            .defaulting(to: 20).short("n")
        return Command(
            "search",
            line: CommandLineForm(
                "search", ["query"],
                examples: [
                    "search 'release notes'", "search '\"release notes\"' --in general",
                    "search plan --from @Mina --after 7d --has link", "search plan --order best",
                    "search milk --kind note",
                ], flow: .search),
            "Find channels, members, messages and notes, the newest first.",
            parameters: [query, kinds, channels, from, after, before, has, order, limit, cursor],
            result: "list of hit, with complete", shape: .hits, emptiness: "nothing found",
            effect: .reads, scope: .workspace, failures: [.notFound, .ambiguous],
            example: ["query": "hello"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.finding.search(
                    SearchRequest(
                        query: call[query], kinds: call[kinds], channels: call[channels],
                        author: call[from], after: call[after], before: call[before],
                        has: call[has], isRanked: call[order] == "best",
                        limit: Int(clamping: call[limit]), cursor: call[cursor]), call.scope)
            })
    }()

    private static let memberFind = {
        let text = Parameter.text(
            "text",
            "Words in the name, the last one may be incomplete; or the beginning of an email "
                + "address, with its @.",
            bytes: 1...Limits.searchQueryBytesMax)
        return Command(
            "user.find",
            line: CommandLineForm(
                "member find", ["text"],
                examples: ["member find mi", "member find mina@example.org"]),
            "Find other members by name or email address.",
            parameters: [text, limit, cursor], result: "list of member", shape: .members,
            emptiness: "nothing found", effect: .reads, scope: .workspace,
            example: ["text": "Joon"],
            run: .answer { (call) throws(NodeError) in
                try call.node.finding.findMembers(call[text], call.page, call.scope)
            })
    }()
}
