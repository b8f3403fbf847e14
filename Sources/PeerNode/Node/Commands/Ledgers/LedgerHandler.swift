import CRDTStore
import WorkspaceModel

/// Implements the commands about ledgers.
final class LedgerHandler: CorePart {
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

    /// The same, for a caller that wants to write there.
    func aimToWrite(_ name: String?, _ scope: CallScope) throws(NodeError) -> Aim {
        let workspace: Workspace = try core.queries.workspace(scope)
        try refuseWriting(in: workspace)
        return try aim(name, in: workspace)
    }

    /// The same, for its issuer.
    func aimToIssue(_ name: String?, _ scope: CallScope) throws(NodeError) -> Aim {
        let workspace: Workspace = try core.queries.workspace(scope)
        try refuseWriting(in: workspace)
        let aim = try aim(name, in: workspace) { $0.issuer == workspace.member }
        try requireIssuer(of: aim)
        return aim
    }

    /// - Parameter isLikely: which of several is meant where none is named, if that is one: otherwise
    ///   any member who opens a ledger would leave everybody without the one that they use.
    private func aim(
        _ name: String?, in workspace: Workspace,
        likely isLikely: ((LedgerHeading) -> Bool)? = nil
    ) throws(NodeError) -> Aim {
        var found = try headings(named: name, in: workspace)
        if name == nil, found.count > 1 {
            let likely = found.filter {
                isLikely?($0) ?? (workspace.role(of: $0.issuer).map { $0 <= .admin } ?? false)
            }
            if likely.count == 1 { found = likely }
        }
        guard found.count <= 1 else { throw Self.unclear(name, found) }
        // Only now: a search may have taken it out of memory again, and what is written later is folded
        // into what is in memory.
        if let heading = found.first, let aim = try aim(at: heading, in: workspace) { return aim }
        guard let name else {
            throw NodeError(
                .notFound, "there is no ledger in this workspace",
                hint: "open one: wsx-node ledger open NAME", reason: "ledger.not_found",
                fields: [.init(name: "ledger", reason: "not_found")])
        }
        throw .notFound("ledger", name, field: "ledger", hint: "wsx-node ledger list")
    }

    /// Several ledgers are meant.
    private static func unclear(_ name: String?, _ found: [LedgerHeading]) -> NodeError {
        // A name that several ledgers have is ambiguous.
        let keys = Set(found.map { NameFolding.key(of: $0.name) ?? $0.name })
        let flags = found.prefix(flagsMax).map {
            "--ledger "
                + NodeError.shellWord(
                    keys.count == found.count ? $0.name : PublicID.ledger($0.document))
        }
        let rest = found.count > flagsMax ? "; 'wsx-node ledger list' shows all" : ""
        let candidates = found.prefix(candidatesMax).map { heading -> JSONValue in
            ["id": .string(PublicID.ledger(heading.document)), "name": .string(heading.name)]
        }
        return NodeError(
            .ambiguous,
            name.map { "\(NodeError.quoted($0)) could be any of \(found.count) ledgers" }
                ?? "there are \(found.count) ledgers in this workspace",
            hint: "add \(flags.joined(separator: " or "))\(rest)", reason: "name.ambiguous",
            fields: [.init(name: "ledger", reason: "ambiguous")],
            details: ["candidates": .array(Array(candidates))])
    }

    /// The current state of a ledger.
    private func aim(
        at heading: LedgerHeading, in workspace: Workspace
    ) throws(NodeError) -> Aim? {
        let ledger = try stored { () throws(StorageError) in
            try core.ledgers.ledger(heading.document, in: workspace)
        }
        return ledger.map { Aim(workspace: workspace, ledger: $0) }
    }

    /// Visits the ledgers of a list: the one that is named, or all. One after the other: a
    /// reference to one keeps it in memory.
    func forEachAim(
        _ name: String?, _ scope: CallScope, _ take: (Aim) -> Void
    ) throws(NodeError) {
        if name != nil { return take(try aim(name, scope)) }
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        for heading in try headings(named: nil, in: workspace) {
            if let aim = try aim(at: heading, in: workspace) { take(aim) }
        }
    }

    private static let candidatesMax = 10
    private static let flagsMax = 3

    private func headings(
        named name: String?, in workspace: Workspace
    ) throws(NodeError) -> [LedgerHeading] {
        let all = try stored { () throws(StorageError) in
            try core.ledgers.headings(in: workspace)
        }
        guard let name else { return all }
        guard PublicID.bytes(name, prefix: "l_") != nil else {
            return all.filter { NameFolding.matches($0.name, name) }
        }
        if let known = all.first(where: { PublicID.ledger($0.document) == name }) { return [known] }
        // A ledger that is not listed, because there are too many.
        return try stored { () throws(StorageError) in
            let document = core.ledgers.documents(in: workspace).first {
                PublicID.ledger($0) == name
            }
            guard let document, let ledger = try core.ledgers.ledger(document, in: workspace),
                let called = ledger.fold.name
            else { return [] }
            return [
                LedgerHeading(
                    document: document, issuer: ledger.issuer, name: called,
                    workspacePrice: ledger.fold.workspacePrice)
            ]
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

    /// Refuses operations beyond the limit, which would not count (W-83): an order, a spend, or the
    /// voiding of the caller's order.
    func refuseMore(
        in aim: Aim, hint: String = "ask its issuer to open another one"
    ) throws(NodeError) {
        let most = Limits.ledgerEntriesPerMemberMax
        guard aim.ledger.fold.counts[aim.workspace.member] ?? 0 >= most else { return }
        throw NodeError(
            .tooMany,
            "you have written \(most) orders, spends and voids in this ledger; no more of them count",
            hint: hint, reason: "ledger.count")
    }

    // MARK: Orders and spends

    /// Finds an order among the ledgers of a workspace.
    func order(
        _ id: String, in workspace: Workspace
    ) throws(NodeError) -> (aim: Aim, order: LedgerFold.Order) {
        guard let key = PublicID.ledgerKey(id, prefix: "p_"),
            let (aim, order) = try find({ $0.orders[key] }, in: workspace)
        else {
            throw NodeError(
                .unknownOrder, "there is no order \(NodeError.quoted(id)) here",
                hint: "wsx-node store orders", reason: "order.unknown",
                fields: [.init(name: "order", reason: "not_found")])
        }
        return (aim, order)
    }

    /// Finds a spend among the ledgers of a workspace.
    func spend(
        _ id: String, in workspace: Workspace
    ) throws(NodeError) -> (aim: Aim, spend: LedgerFold.Spend) {
        guard let key = PublicID.ledgerKey(id, prefix: "s_"),
            let (aim, spend) = try find({ $0.spends[key] }, in: workspace)
        else {
            throw .notFound("spend", id, field: "spend", hint: "wsx-node coin spends --all")
        }
        return (aim, spend)
    }

    /// Finds something in the ledgers of a workspace, first in those that are in memory.
    private func find<Found>(
        _ look: (LedgerFold) -> Found?, in workspace: Workspace
    ) throws(NodeError) -> (Aim, Found)? {
        let all = try headings(named: nil, in: workspace)
        let near = core.ledgers.documentsInMemory
        for isNear in [true, false] {
            for heading in all where near.contains(heading.document) == isNear {
                if let aim = try aim(at: heading, in: workspace), let found = look(aim.ledger.fold)
                {
                    return (aim, found)
                }
            }
        }
        return nil
    }

    // MARK: Paying for a workspace

    /// The price of a workspace that is paid from a ledger, in any workspace; `nil` without a
    /// ledger.
    ///
    /// - Throws: `insufficient_coins` where the caller has less, `conflict` where it has no price.
    func tender(from name: String?) throws(NodeError) -> WorkspaceTender? {
        guard let name else { return nil }
        var found: [(workspace: Workspace, ledger: LedgerHeading)] = []
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member && !core.membership.isOver(workspace) {
            found += try headings(named: name, in: workspace).map { (workspace, $0) }
        }
        guard found.count <= 1 else {
            throw .ambiguous(
                name,
                candidates: found.map {
                    [
                        "id": .string(PublicID.ledger($0.ledger.document)),
                        "workspace": .string($0.workspace.displayName),
                    ]
                }, naming: Self.candidatesMax, field: "paid_from")
        }
        guard let only = found.first, let aim = try aim(at: only.ledger, in: only.workspace) else {
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
            .insufficientCoins, "\(coins) coins are needed, and you have \(balance)",
            hint: "wsx-node store list", reason: "coin.insufficient",
            details: [
                "coins": .integer(Int64(clamping: coins)),
                "balance": .integer(Int64(clamping: balance)),
            ])
    }
}
