import WorkspaceModel

/// The commands about accounts elsewhere.
enum AccountCommandTable {
    /// In the order of the documentation.
    static let commands = [link, unlink, links, add, list, update, remove]

    private static let provider = Parameter.text(
        "provider", "Which provider, as 'account provider list' shows it.",
        bytes: 1...Limits.attestedProviderBytesMax)
    private static let name = Parameter.text(
        "name", "A short name for it: small letters, digits and '-'.",
        bytes: 1...Limits.attestedProviderBytesMax)
    private static let issuer = Parameter.text(
        "issuer", "Its issuer, exactly as its tokens have it, such as https://gitlab.com.",
        bytes: 1...Limits.providerAddressBytesMax)
    private static let client = Parameter.text(
        "client_id", "The client id that it gave your workspace.",
        bytes: 1...Limits.providerClientBytesMax)
    private static let keys = Parameter.text(
        "jwks",
        "A file with its public keys. Only nodes that verify others need it. It is read at each "
            + "check, so cron can renew it. On the socket the path must be absolute.",
        bytes: 0...Limits.providerPathBytesMax
    ).optional()
    private static let page = Parameter.text(
        "login_url",
        "Its login page (authorization endpoint), so that 'account link' works in a browser.",
        bytes: 0...Limits.providerAddressBytesMax
    ).optional()
    private static let exchange = Parameter.text(
        "token_url",
        "Its token endpoint. With it the login uses a code and PKCE; without it the page has the "
            + "browser post the ID token.", bytes: 0...Limits.providerAddressBytesMax
    ).optional()

    private static let link = {
        let token = Parameter.text(
            "id_token", "The ID token from the provider; '-' reads standard input.",
            bytes: 1...Limits.accountTokenBytesMax
        ).flag("token").hidden().optional()
        let port = Parameter.integer(
            "port", "The port of this machine that the browser comes back to. Without, a free one.",
            1...65_535
        ).optional().local()
        return Command(
            "account.link",
            line: CommandLineForm(
                "account link", ["provider"],
                examples: ["account link gitlab", "account link gitlab --token - < token"],
                flow: .linkAccount),
            "Link an account that you have elsewhere. On a terminal this prints the address to log "
                + "in at, and waits; where the provider has no login page here, it prints the nonce "
                + "for your login. A verifier checks the token, and everyone here sees the account. "
                + "It gives no rights.",
            parameters: [provider, token, port], result: "account claim", shape: .accountClaim,
            effect: .signs, scope: .workspace,
            failures: [
                .badRequest, .forbidden, .notFound, .duplicate, .codeInvalid, .pending,
                .rateLimited, .busy,
            ],
            example: ["provider": "gitlab"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.accounts.link(call[provider], token: call[token], call.scope)
            })
    }()

    private static let unlink = {
        let member = Parameter.member(
            "member", "Whose. Without, yours. Verifiers can do it for others."
        ).optional()
        return Command(
            "account.unlink",
            line: CommandLineForm(
                "account unlink", ["provider", "member"],
                examples: ["account unlink gitlab", "account unlink gitlab @Joon"]),
            "Remove the link to an account.",
            parameters: [provider, member], result: "attestation", shape: .accountLinks,
            effect: .signs, scope: .workspace,
            failures: [.notFound, .ambiguous, .forbidden, .conflict],
            example: ["provider": "gitlab"],
            run: .answer { (call) throws(NodeError) in
                try call.node.accounts.unlink(call[provider], of: call[member], call.scope)
            })
    }()

    private static let links = {
        let member = Parameter.member("member", "Only accounts of this person.").optional()
        return Command(
            "account.links",
            line: CommandLineForm(
                "account links", ["member"],
                examples: ["account links", "account links @Joon"]),
            "List linked accounts, who verified them, and what no longer counts.",
            parameters: [member, Command.limit, Command.cursor], result: "list of attestation",
            shape: .accountLinks, emptiness: "no accounts are linked", effect: .reads,
            scope: .workspace, failures: [.notFound, .ambiguous],
            run: .answer { (call) throws(NodeError) in
                try call.node.accounts.links(of: call[member], call.page, call.scope)
            })
    }()

    private static let add = Command(
        "account.provider.add",
        line: CommandLineForm(
            "account provider add", ["name"],
            examples: [
                "account provider add gitlab --issuer https://gitlab.com --client-id 4f1c "
                    + "--jwks /etc/wsx/gitlab.json"
            ], flow: .setProvider),
        "Make a login provider (OpenID Connect) known to this node.",
        parameters: [name, issuer, client, keys, page, exchange], result: "provider",
        shape: .accountProviders, effect: .writes, scope: .node,
        failures: [.badRequest, .duplicate, .conflict, .tooMany],
        example: ["name": "gitlab", "issuer": "https://gitlab.com", "client_id": "4f1c"],
        run: .answer { (call) throws(NodeError) in
            try call.node.accounts.addProvider(
                ProviderDraft(
                    name: call[name], issuer: call[issuer], client: call[client], keys: call[keys],
                    page: call[page], exchange: call[exchange]), call.scope)
        })

    private static let list = Command(
        "account.provider.list",
        line: CommandLineForm("account provider list", examples: ["account provider list"]),
        "List the login providers that this node knows.",
        parameters: [Command.limit, Command.cursor], result: "list of provider",
        shape: .accountProviders,
        emptiness: "no providers: see 'wsx-node help account provider add'", effect: .reads,
        scope: .node,
        run: .answer { (call) throws(NodeError) in
            try call.node.accounts.providers(call.page, call.scope)
        })

    private static let update = {
        let newIssuer = issuer.optional()
        let newClient = client.optional()
        return Command(
            "account.provider.update",
            line: CommandLineForm(
                "account provider update", ["name"],
                examples: ["account provider update gitlab --jwks /etc/wsx/keys.json"],
                flow: .setProvider),
            "Change a login provider. What you leave out stays. An empty '--jwks' removes it.",
            parameters: [name, newIssuer, newClient, keys, page, exchange], result: "provider",
            shape: .accountProviders, effect: .writes, scope: .node,
            failures: [.badRequest, .notFound, .conflict],
            example: ["name": "gitlab", "client_id": "5e2d"],
            run: .answer { (call) throws(NodeError) in
                try call.node.accounts.changeProvider(
                    ProviderDraft(
                        name: call[name], issuer: call[newIssuer], client: call[newClient],
                        keys: call[keys], page: call[page], exchange: call[exchange]), call.scope)
            })
    }()

    private static let remove = Command(
        "account.provider.remove",
        line: CommandLineForm(
            "account provider remove", ["name"], examples: ["account provider remove gitlab"]),
        "Forget a login provider. Accounts that were linked stay.",
        parameters: [name], result: "provider", shape: .accountProviders, effect: .writes,
        scope: .node, failures: [.notFound], example: ["name": "gitlab"],
        run: .answer { (call) throws(NodeError) in
            try call.node.accounts.removeProvider(call[name], call.scope)
        })
}
