import CRDTStore
import WorkspaceModel

/// Ledgers, balances and spends.
extension LedgerHandler: LedgerCommands {
    func open(_ name: String, _ scope: CallScope) throws(NodeError) -> Made<LedgerObject> {
        if let made = try core.replay(scope) { return try replayedLedger(made) }
        let workspace: Workspace = try core.queries.workspace(scope)
        try refuseWriting(in: workspace)
        let name = try NewNames.plain(name, field: "name")
        guard !name.utf8.starts(with: "l_".utf8) else {
            throw NodeError(
                .badRequest, "a name cannot look like an id", hint: "choose another name",
                reason: "bad_name", fields: [.init(name: "name", reason: "form")])
        }
        let isTaken = try stored { () throws(StorageError) in
            try core.ledgers.headings(in: workspace).contains {
                $0.issuer == workspace.member && NameFolding.matches($0.name, name)
            }
        }
        guard !isTaken else {
            throw NodeError(
                .duplicate, "you have already opened a ledger \(NodeError.quoted(name))",
                hint: "wsx-node ledger list", reason: "ledger.exists",
                fields: [.init(name: "name", reason: "duplicate")])
        }
        let ledger = try stored { () throws(StorageError) -> OpenLedger? in
            guard let document = try core.ledgers.makeDocument(in: workspace),
                let ledger = try core.ledgers.ledger(document, in: workspace),
                try core.ledgers.write(.opening(name: name), to: ledger, in: workspace) != nil
            else { return nil }
            return ledger
        }
        guard let ledger, let object = core.ledgers.object(of: ledger, workspace) else {
            throw core.membership.notAllowed(in: workspace)
        }
        try core.remember(scope, made: ledger.document.bytes)
        return Made(object)
    }

    private func replayedLedger(_ made: [UInt8]) throws(NodeError) -> Made<LedgerObject> {
        let object = try stored { () throws(StorageError) -> LedgerObject? in
            guard let document = DocumentID(untrusted: made) else { return nil }
            for workspace in workspaces.values {
                guard let ledger = try core.ledgers.ledger(document, in: workspace) else {
                    continue
                }
                return core.ledgers.object(of: ledger, workspace)
            }
            return nil
        }
        guard let object else { throw .internalFailure(reason: "replay") }
        return Made(object, isReplayed: true)
    }

    func ledgers(
        _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<LedgerObject> {
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        let all = try stored { () throws(StorageError) in
            try core.ledgers.headings(in: workspace)
        }
        let (part, next) = try core.queries.page(all, page)
        var objects: [LedgerObject] = []
        try stored { () throws(StorageError) in
            for heading in part {
                let ledger = try core.ledgers.ledger(heading.document, in: workspace)
                if let object = ledger.flatMap({ core.ledgers.object(of: $0, workspace) }) {
                    objects.append(object)
                }
            }
        }
        return Page(objects, next: next)
    }

    func balance(
        of member: MemberReference?, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> BalanceObject {
        let aim = try aim(ledger, scope)
        let person = try member.map { (member) throws(NodeError) in
            try core.queries.person(member, in: aim.workspace, orRemoved: true)
        }
        guard
            let object = core.ledgers.balance(
                of: person ?? aim.workspace.member, in: aim.ledger, aim.workspace)
        else { throw .internalFailure(reason: "ledger") }
        return object
    }

    // MARK: Spending

    func spend(
        _ coins: Int64, for purpose: String, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> Made<SpendObject> {
        if let made = try core.replay(scope) {
            return try replayed(made, as: "s_") { (id, workspace) throws(NodeError) in
                let (aim, spend) = try self.spend(id, in: workspace)
                return core.ledgers.object(of: spend, in: aim.ledger.document, workspace)
            }
        }
        let aim = try aimToWrite(ledger, scope)
        let purpose = try checked(purpose, field: "purpose")
        try refuseMore(in: aim)
        try requireCoins(UInt64(clamping: coins), in: aim)
        let made = try say(
            .spend(.init(coins: UInt64(clamping: coins), purpose: purpose)), in: aim)
        try core.remember(scope, made: bigEndianBytes(of: UInt64(clamping: made.arrival)))
        guard let spend = aim.ledger.fold.spends[made.key] else {
            throw .internalFailure(reason: "ledger")
        }
        return Made(core.ledgers.object(of: spend, in: aim.ledger.document, aim.workspace))
    }

    func spends(
        all: Bool, in ledger: String?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<SpendObject> {
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        var found: [(document: DocumentID, spend: LedgerFold.Spend)] = []
        try forEachAim(ledger, scope) { aim in
            found += aim.ledger.fold.spends.values.filter { all || $0.member == workspace.member }
                .map { (aim.ledger.document, $0) }
        }
        found.sort { $1.spend.key < $0.spend.key }
        let (items, next) = try core.queries.page(found, page)
        return Page(
            items.map { core.ledgers.object(of: $0.spend, in: $0.document, workspace) },
            next: next)
    }

    func refund(_ id: String, _ scope: CallScope) throws(NodeError) -> SpendObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        try refuseWriting(in: workspace)
        let (aim, spend) = try spend(id, in: workspace)
        try requireIssuer(of: aim)
        if spend.state != .refunded { _ = try say(.refund(of: spend.key), in: aim) }
        return core.ledgers.object(
            of: aim.ledger.fold.spends[spend.key] ?? spend, in: aim.ledger.document, workspace)
    }

    // MARK: Writing

    /// Writes into a ledger.
    func say(
        _ content: LedgerContent, in aim: Aim
    ) throws(NodeError) -> (key: MessageKey, arrival: Int64) {
        let made = try stored { () throws(StorageError) in
            try core.ledgers.write(content, to: aim.ledger, in: aim.workspace)
        }
        guard let made else { throw core.membership.notAllowed(in: aim.workspace) }
        return made
    }

    /// What the repeated call created before, in any workspace.
    ///
    /// - Parameters:
    ///   - made: the arrival number, 8 bytes big endian.
    ///   - prefix: of its id.
    func replayed<Object: ControlObject>(
        _ made: [UInt8], as prefix: String,
        _ object: (String, Workspace) throws(NodeError) -> Object?
    ) throws(NodeError) -> Made<Object> {
        let arrival = made.reduce(0) { $0 << 8 | Int64($1) }
        let found = try stored { () throws(StorageError) -> (MessageKey, Workspace)? in
            guard let stored = try store.operations.operation(arrival, hasPayload: false),
                let document = store.operations.document(numbered: stored.document),
                let workspace = core.workspaces[document.workspace]
            else { return nil }
            return (stored.messageKey, workspace)
        }
        guard let (key, workspace) = found,
            let object = try object(prefix + Base32.encode(key.bytes), workspace)
        else { throw .internalFailure(reason: "replay") }
        return Made(object, isReplayed: true)
    }

    /// A text of one line, validated: it contains something visible.
    func checked(_ text: String, field: String) throws(NodeError) -> String {
        do throws(TextProblem) { try CheckedName.checkWire(text) } catch {
            throw .badText(
                error, field: field, hint: "use one line of plain text", reason: "bad_text")
        }
        guard !CheckedName.isBlank(text) else {
            throw NodeError(
                .badRequest, "'\(field)' has no visible characters",
                hint: "use at least one letter or digit", reason: "bad_text",
                fields: [.init(name: field, reason: "empty")])
        }
        return text
    }
}
