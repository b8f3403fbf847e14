import CRDTStore
import WorkspaceModel

/// What people and programs ask of ledgers, in terms of the rooms.
final class LedgerDesk: CorePart {
    /// A ledger that a call names, and where it is.
    struct Aim {
        let workspace: Workspace
        let ledger: OpenLedger
    }

    // MARK: Aiming

    /// Finds a ledger: the one that is named, or the only one.
    func aim(_ name: String?, _ scope: CallScope) throws(NodeError) -> Aim {
        try aim(name, in: try core.queries.shownWorkspace(scope))
    }

    /// The same, for whoever may write there.
    func aimToWrite(_ name: String?, _ scope: CallScope) throws(NodeError) -> Aim {
        let workspace: Workspace = try core.queries.workspace(scope)
        try refuseWriting(in: workspace)
        return try aim(name, in: workspace)
    }

    /// The same, for its issuer.
    func aimToIssue(_ name: String?, _ scope: CallScope) throws(NodeError) -> Aim {
        let aim = try aimToWrite(name, scope)
        try requireIssuer(of: aim)
        return aim
    }

    private func aim(_ name: String?, in workspace: Workspace) throws(NodeError) -> Aim {
        let found = try ledgers(named: name, in: workspace)
        guard found.count <= 1 else {
            throw .ambiguous(
                name ?? "ledger",
                candidates: found.prefix(Self.candidatesMax).map {
                    [
                        "id": .string(PublicID.ledger($0.document)),
                        "name": JSONValue(orNull: $0.fold.name),
                    ]
                }, field: "ledger")
        }
        guard let ledger = found.first else {
            guard let name else {
                throw NodeError(
                    .notFound, "there is no ledger in this workspace",
                    hint: "open one: wsx-node ledger open NAME", reason: "ledger.not_found",
                    fields: [.init(name: "ledger", reason: "not_found")])
            }
            throw .notFound("ledger", name, field: "ledger", hint: "wsx-node ledger list")
        }
        return Aim(workspace: workspace, ledger: ledger)
    }

    /// The ledgers that a list is about: the one that is named, or all.
    func aims(_ name: String?, _ scope: CallScope) throws(NodeError) -> [Aim] {
        if name != nil { return [try aim(name, scope)] }
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        return try ledgers(named: nil, in: workspace).map {
            Aim(workspace: workspace, ledger: $0)
        }
    }

    private static let candidatesMax = 10

    private func ledgers(
        named name: String?, in workspace: Workspace
    ) throws(NodeError) -> [OpenLedger] {
        try stored { () throws(StorageError) in
            guard let name else { return try core.ledgers.opened(in: workspace).map(\.ledger) }
            guard PublicID.bytes(name, prefix: "l_") != nil else {
                return try core.ledgers.opened(in: workspace).filter {
                    NameFolding.matches($0.name, name)
                }.map(\.ledger)
            }
            let document = core.ledgers.documents(in: workspace).first {
                PublicID.ledger($0) == name
            }
            guard let document, let ledger = try core.ledgers.ledger(document, in: workspace),
                ledger.fold.name != nil
            else { return [] }
            return [ledger]
        }
    }

    func refuseWriting(in workspace: Workspace) throws(NodeError) {
        guard let home, workspace.ownRole.map({ $0 <= .member }) ?? false,
            workspace.writingGrant(of: home.device, leastRole: .member) != nil
        else { throw core.membership.notAllowed(in: workspace) }
    }

    func requireIssuer(of aim: Aim) throws(NodeError) {
        guard aim.ledger.issuer == aim.workspace.member else {
            let issuer = core.membership.person(aim.ledger.issuer, in: aim.workspace)
            throw .forbidden(
                "only the issuer of this ledger, \(NodeError.quoted(issuer.name)), can do that",
                reason: "ledger.issuer", hint: "wsx-node ledger list")
        }
    }

    /// Refuses what would not count any more (W-83).
    func refuseMore(in aim: Aim) throws(NodeError) {
        let count = aim.ledger.fold.counts[aim.workspace.member] ?? 0
        guard count >= Limits.ledgerEntriesPerMemberMax else { return }
        throw NodeError(
            .tooMany,
            "you have written \(count) orders and spends in this ledger; no more of them count",
            hint: "ask its issuer to open another one", reason: "ledger.count")
    }

    // MARK: Orders and spends

    /// Finds an order among the ledgers of a workspace.
    func order(
        _ id: String, in workspace: Workspace
    ) throws(NodeError) -> (aim: Aim, order: LedgerFold.Order) {
        let found = try stored { () throws(StorageError) -> (OpenLedger, LedgerFold.Order)? in
            guard let key = PublicID.ledgerKey(id, prefix: "p_") else { return nil }
            for (ledger, _) in try core.ledgers.opened(in: workspace) {
                if let order = ledger.fold.orders[key] { return (ledger, order) }
            }
            return nil
        }
        guard let (ledger, order) = found else {
            throw NodeError(
                .unknownOrder, "there is no order \(NodeError.quoted(id)) here",
                hint: "wsx-node store orders", reason: "order.unknown",
                fields: [.init(name: "order", reason: "not_found")])
        }
        return (Aim(workspace: workspace, ledger: ledger), order)
    }

    /// Finds a spend among the ledgers of a workspace.
    func spend(
        _ id: String, in workspace: Workspace
    ) throws(NodeError) -> (aim: Aim, spend: LedgerFold.Spend) {
        let found = try stored { () throws(StorageError) -> (OpenLedger, LedgerFold.Spend)? in
            guard let key = PublicID.ledgerKey(id, prefix: "s_") else { return nil }
            for (ledger, _) in try core.ledgers.opened(in: workspace) {
                if let spend = ledger.fold.spends[key] { return (ledger, spend) }
            }
            return nil
        }
        guard let (ledger, spend) = found else {
            throw .notFound("spend", id, field: "spend", hint: "wsx-node coin spends --all")
        }
        return (Aim(workspace: workspace, ledger: ledger), spend)
    }

    // MARK: Paying for a workspace

    /// What a workspace costs that is paid from a ledger, in whichever workspace that is; `nil` without a
    /// ledger.
    ///
    /// - Throws: `insufficient_coins` where the caller has less, `conflict` where it has no price.
    func tender(from name: String?) throws(NodeError) -> WorkspaceTender? {
        guard let name else { return nil }
        var found: [Aim] = []
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member && !core.membership.isOver(workspace) {
            for ledger in try ledgers(named: name, in: workspace) {
                found.append(Aim(workspace: workspace, ledger: ledger))
            }
        }
        guard found.count <= 1 else {
            throw .ambiguous(
                name,
                candidates: found.prefix(Self.candidatesMax).map {
                    [
                        "id": .string(PublicID.ledger($0.ledger.document)),
                        "workspace": .string($0.workspace.displayName),
                    ]
                }, field: "paid_from")
        }
        guard let aim = found.first else {
            throw .notFound("ledger", name, field: "paid_from", hint: "wsx-node ledger list")
        }
        guard let coins = aim.ledger.fold.workspacePrice else {
            throw NodeError(
                .conflict, "the ledger \(NodeError.quoted(name)) has no price for a workspace",
                hint: "leave out --paid-from, or ask its issuer: wsx-node store price COINS",
                reason: "ledger.no_price", fields: [.init(name: "paid_from", reason: "no_price")])
        }
        try refuseWriting(in: aim.workspace)
        try refuseMore(in: aim)
        try requireCoins(coins, in: aim)
        return WorkspaceTender(workspace: aim.workspace, ledger: aim.ledger, coins: coins)
    }

    func requireCoins(_ coins: UInt64, in aim: Aim) throws(NodeError) {
        let balance = aim.ledger.fold.account(of: aim.workspace.member).balance
        guard balance < coins else { return }
        throw NodeError(
            .insufficientCoins, "that takes \(coins) coins, and you have \(balance)",
            hint: "wsx-node store list", reason: "coin.insufficient",
            details: [
                "coins": .integer(Int64(clamping: coins)),
                "balance": .integer(Int64(clamping: balance)),
            ])
    }
}
