import CRDTStore
import WorkspaceModel

/// Implements the commands about accounts elsewhere.
final class AccountHandler: CorePart, AccountCommands {
    private var accounts: AccountProofs { core.proofs.accounts }

    // MARK: Linking

    func link(
        _ provider: String, token: String?, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let workspace = try ProofHandler(core).ownWorkspace(scope)
        let place = AccountProofs.Place(workspace: workspace.number, provider: provider)
        if let token {
            guard TokenText.isToken(token) else { throw .token(TokenFault.form.rawValue) }
            // Without it no nonce was made.
            _ = try known(provider)
            try accounts.bring(token, for: place, scope.call)
            return .later
        }
        let known = try known(provider)
        guard let home, let claim = accounts.begin(place) else {
            throw NodeError(
                .busy, "too many accounts are being linked", hint: "try again in an hour",
                reason: "account.busy")
        }
        var object = AccountClaimObject(
            provider: known.name, state: claim.token == nil ? "waiting" : "pending")
        object.nonce = AccountProofs.nonce(
            claim.claim, of: workspace.member, by: home.device)
        (object.issuer, object.client) = (known.issuer, known.client)
        (object.page, object.exchange) = (known.page, known.exchange)
        object.expiresAt = Int64(clamping: time.wall &+ (claim.due &- time.monotonic))
        return .reply(object)
    }

    private func known(_ provider: String) throws(NodeError) -> AccountProvider {
        let known = try stored { () throws(StorageError) in
            try accounts.provider(named: provider)
        }
        guard let known else { throw .noProvider(provider) }
        return known
    }

    func unlink(
        _ provider: String, of member: MemberReference?, _ scope: CallScope
    ) throws(NodeError) -> AttestationObject {
        try ProofHandler(core).withdraw(.account, of: member, provider: provider, scope)
    }

    func links(
        of member: MemberReference?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<AttestationObject> {
        try ProofHandler(core).attestations(of: member, page, scope) { $0.kind == .account }
    }

    // MARK: Providers

    func addProvider(
        _ draft: ProviderDraft, _ scope: CallScope
    ) throws(NodeError) -> AccountProviderObject {
        guard AccountProvider.isName(draft.name) else {
            throw mismatch(
                "name",
                "a provider's name can have small letters, digits and '-', and starts with a letter"
            )
        }
        var all = try providers()
        guard !all.contains(where: { $0.name.utf8.elementsEqual(draft.name.utf8) }) else {
            throw NodeError(
                .duplicate, "there is a provider \(NodeError.quoted(draft.name)) already",
                hint: "wsx-node account provider update \(draft.name)",
                reason: "provider.exists", fields: [.init(name: "name", reason: "duplicate")])
        }
        guard all.count < Limits.accountProvidersMax else {
            throw NodeError(
                .tooMany, "this node knows \(all.count) providers; there is no room for more",
                hint: "wsx-node account provider remove NAME", reason: "provider.count")
        }
        let made = try changed(
            AccountProvider(name: draft.name, issuer: "", client: "", keys: nil), by: draft)
        try checkIssuer(of: made, among: all)
        all.append(made)
        return try keep(made, among: all)
    }

    func changeProvider(
        _ draft: ProviderDraft, _ scope: CallScope
    ) throws(NodeError) -> AccountProviderObject {
        var all = try providers()
        let place = try place(of: draft.name, in: all)
        all[place] = try changed(all[place], by: draft)
        try checkIssuer(of: all[place], among: all)
        return try keep(all[place], among: all)
    }

    /// An account belongs to one member under one name: with two names it could belong to two.
    private func checkIssuer(
        of provider: AccountProvider, among all: [AccountProvider]
    ) throws(NodeError) {
        let other = all.first {
            !$0.name.utf8.elementsEqual(provider.name.utf8)
                && $0.issuer.utf8.elementsEqual(provider.issuer.utf8)
        }
        guard let other else { return }
        throw NodeError(
            .conflict, "that issuer is the provider \(NodeError.quoted(other.name)) here already",
            hint: "wsx-node account provider update \(other.name)", reason: "provider.issuer",
            fields: [.init(name: "issuer", reason: "duplicate")])
    }

    func removeProvider(
        _ name: String, _ scope: CallScope
    ) throws(NodeError) -> AccountProviderObject {
        var all = try providers()
        let gone = all.remove(at: try place(of: name, in: all))
        return try keep(gone, among: all)
    }

    func providers(
        _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<AccountProviderObject> {
        try Page(try providers().map { object(of: $0) }).part(page)
    }

    /// Files of keys that were there when they were named, and cannot be read now.
    func keyFindings() throws(NodeError) -> [FindingObject] {
        try providers().compactMap { provider in
            guard let keys = provider.keys, !canRead(keys) else { return nil }
            return FindingObject(
                id: "provider", state: "warn",
                message: "no token of \(NodeError.quoted(provider.name)) can be checked, because "
                    + "its keys at \(NodeError.quotedPath(keys)) cannot be read",
                hint: "wsx-node account provider update \(provider.name) --jwks FILE")
        }
    }

    private func canRead(_ path: String) -> Bool {
        environment.surroundings?.canRead(path) ?? true
    }

    private static func noKeys(at path: String) -> NodeError {
        NodeError(
            .badRequest, "no file can be read at \(NodeError.quotedPath(path))",
            hint: "save the provider's keys (its JWK set) there first", reason: "provider.jwks",
            fields: [.init(name: "jwks", reason: "not_found")])
    }

    private func providers() throws(NodeError) -> [AccountProvider] {
        try stored { () throws(StorageError) in try accounts.providers() }
    }

    private func place(of name: String, in all: [AccountProvider]) throws(NodeError) -> Int {
        guard let place = all.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw .noProvider(name)
        }
        return place
    }

    private func keep(
        _ provider: AccountProvider, among all: [AccountProvider]
    ) throws(NodeError) -> AccountProviderObject {
        try stored { () throws(StorageError) in try accounts.set(all) }
        return object(of: provider)
    }

    private func changed(
        _ provider: AccountProvider, by draft: ProviderDraft
    ) throws(NodeError) -> AccountProvider {
        var changed = provider
        if let issuer = draft.issuer {
            guard AccountProvider.isAddress(issuer) else {
                throw mismatch("issuer", "an issuer \(AccountProvider.addressSentence)")
            }
            changed.issuer = issuer
        }
        if let client = draft.client {
            guard client.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw mismatch("client_id", "a client id can have only visible ASCII letters")
            }
            changed.client = client
        }
        if let keys = draft.keys {
            guard keys.isEmpty || keys.utf8.first == UInt8(ascii: "/"), !keys.utf8.contains(0)
            else {
                throw mismatch("jwks", "the file needs an absolute path, such as /etc/keys.json")
            }
            guard keys.isEmpty || canRead(keys) else { throw Self.noKeys(at: keys) }
            changed.keys = keys.isEmpty ? nil : keys
        }
        if let page = draft.page { changed.page = try address(page, "login_url") }
        if let exchange = draft.exchange { changed.exchange = try address(exchange, "token_url") }
        return changed
    }

    private func address(_ text: String, _ field: String) throws(NodeError) -> String? {
        guard text.isEmpty || AccountProvider.isAddress(text) else {
            throw mismatch(field, "'\(field)' \(AccountProvider.addressSentence)")
        }
        return text.isEmpty ? nil : text
    }

    private func mismatch(_ field: String, _ message: String) -> NodeError {
        NodeError(
            .badRequest, message, hint: nil, reason: "provider.\(field)",
            fields: [.init(name: field, reason: "form")])
    }

    private func object(of provider: AccountProvider) -> AccountProviderObject {
        var object = AccountProviderObject(
            name: provider.name, issuer: provider.issuer, client: provider.client)
        object.keys = provider.keys
        (object.page, object.exchange) = (provider.page, provider.exchange)
        return object
    }
}
