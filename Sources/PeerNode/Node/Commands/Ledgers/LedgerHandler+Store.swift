import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Selling in ledgers: offers, orders, receipts and grants.
extension LedgerHandler {
    // MARK: Offers

    func items(
        in ledger: String?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<LedgerItemObject> {
        var items: [LedgerItemObject] = []
        try forEachAim(ledger, scope) { items += core.ledgers.items(of: $0.ledger) }
        return try Page(items).part(page)
    }

    func offer(
        _ draft: OfferDraft, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> LedgerItemObject {
        let aim = try aimToIssue(ledger, scope)
        let item = try checked(draft.item, field: "item")
        let offer = LedgerContent.Offer(
            label: try checked(draft.label, field: "label"), coins: UInt64(clamping: draft.coins),
            price: try checked(draft.price, field: "price"))
        if aim.ledger.fold.offer(of: item)?.offer != offer {
            _ = try say(.item(item, offer), in: aim)
        }
        return try object(of: item, in: aim)
    }

    func withdraw(
        _ item: String, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> LedgerItemObject {
        let aim = try aimToIssue(ledger, scope)
        let object = try object(of: item, in: aim)
        _ = try say(.item(item, nil), in: aim)
        return object
    }

    private func object(of item: String, in aim: Aim) throws(NodeError) -> LedgerItemObject {
        let found = core.ledgers.items(of: aim.ledger).first {
            $0.item.utf8.elementsEqual(item.utf8)
        }
        guard let found else { throw Self.notOffered(item) }
        return found
    }

    private static func notOffered(_ item: String) -> NodeError {
        .notFound("item", item, field: "item", hint: "wsx-node store list")
    }

    // MARK: Orders

    func buy(
        _ item: String, amount: Int64, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> Made<OrderObject> {
        if let made = try core.replay(scope) {
            return try replayed(made, as: "p_") { (id, workspace) throws(NodeError) in
                let (aim, order) = try self.order(id, in: workspace)
                return core.ledgers.object(of: order, in: aim.ledger, workspace)
            }
        }
        let aim = try aimToWrite(ledger, scope)
        let fold = aim.ledger.fold
        guard let word = fold.items[Array(item.utf8)], let offered = fold.offers[word] else {
            throw Self.notOffered(item)
        }
        try refuseMore(in: aim)
        let (coins, isTooMuch) = offered.offer.coins.multipliedReportingOverflow(
            by: UInt64(clamping: amount))
        guard !isTooMuch, coins <= Limits.ledgerCoinsMax else {
            throw NodeError(
                .tooLarge, "that is more coins than a ledger can count", hint: "order less",
                reason: "order.coins", fields: [.init(name: "amount", reason: "range")])
        }
        let made = try say(.order(of: word, amount: UInt64(clamping: amount)), in: aim)
        try core.remember(scope, made: bigEndianBytes(of: UInt64(clamping: made.arrival)))
        return Made(try object(of: made.key, in: aim))
    }

    func orders(
        _ filter: OrderFilter, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<OrderObject> {
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        let own = workspace.member
        var found: [(document: DocumentID, order: LedgerFold.Order, offer: LedgerFold.Offer)] = []
        try forEachAim(filter.ledger, scope) { aim in
            let fold = aim.ledger.fold
            for order in fold.orders.values where aim.ledger.issuer == own || order.buyer == own {
                guard filter.state.map(order.state.rawValue.elementsEqual) ?? true,
                    let offer = fold.offers[order.offer]
                else { continue }
                found.append((aim.ledger.document, order, offer))
            }
        }
        found.sort { $1.order.key < $0.order.key }
        let (items, next) = try core.queries.page(found, page)
        return Page(
            items.map {
                core.ledgers.object(of: $0.order, by: $0.offer, in: $0.document, workspace)
            },
            next: next)
    }

    private func object(of order: MessageKey, in aim: Aim) throws(NodeError) -> OrderObject {
        guard let known = aim.ledger.fold.orders[order],
            let object = core.ledgers.object(of: known, in: aim.ledger, aim.workspace)
        else { throw .internalFailure(reason: "ledger") }
        return object
    }

    /// An order that its caller may change: the buyer or the issuer.
    private func ownOrder(
        _ id: String, _ scope: CallScope
    ) throws(NodeError) -> (aim: Aim, order: LedgerFold.Order) {
        let workspace: Workspace = try core.queries.workspace(scope)
        try refuseWriting(in: workspace)
        let found = try order(id, in: workspace)
        let isOwn = found.order.buyer == workspace.member
        guard isOwn || found.aim.ledger.issuer == workspace.member else {
            throw NodeError(
                .invalidReceipt, "that order belongs to someone else",
                hint: "wsx-node store orders",
                reason: "order.buyer", fields: [.init(name: "order", reason: "forbidden")])
        }
        return found
    }

    func void(_ id: String, _ scope: CallScope) throws(NodeError) -> OrderObject {
        let (aim, order) = try ownOrder(id, scope)
        guard order.state != .void else { return try object(of: order.key, in: aim) }
        guard order.state == .open || aim.ledger.issuer == aim.workspace.member else {
            throw Ledgers.failure(.redeemed)
        }
        try refuseMore(in: aim, hint: "ask its issuer to void the order")
        _ = try say(.void(order: order.key), in: aim)
        return try object(of: order.key, in: aim)
    }

    // MARK: Receipts and grants

    func validate(
        _ id: String, receipt: String, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let (aim, order) = try ownOrder(id, scope)
        guard order.state != .void else { throw Ledgers.failure(.noOrder) }
        guard order.state == .open else { throw Ledgers.failure(.redeemed) }
        let receipt = Self.withoutLastBreak(receipt)
        guard !receipt.isEmpty, !receipt.utf8.contains(0) else {
            throw NodeError(
                .invalidReceipt, "that is not a receipt", hint: "paste what the payment gave you",
                reason: "receipt.form", fields: [.init(name: "receipt", reason: "form")])
        }
        guard aim.ledger.issuer == aim.workspace.member else {
            try core.ledgers.ask(
                receipt, for: order.key, in: aim.ledger, aim.workspace, call: scope.call)
            return .later
        }
        let refusal = try stored { () throws(StorageError) in
            try core.ledgers.check(
                receipt, for: order.key, in: aim.ledger, aim.workspace, asker: .call(scope.call))
        }
        guard let refusal else { return .later }
        guard refusal != .byHand else {
            throw NodeError(
                .unsupported,
                "this node has no command that checks receipts for what is offered now",
                hint: "grant it by hand: wsx-node store grant \(PublicID.order(order.key))",
                reason: "receipt.by_hand")
        }
        throw Ledgers.failure(refusal)
    }

    /// Text from a file ends with a line break, which is not part of a receipt.
    private static func withoutLastBreak(_ text: String) -> String {
        var scalars = text.unicodeScalars
        while let last = scalars.last, last == "\n" || last == "\r" { scalars.removeLast() }
        return String(scalars)
    }

    func grant(
        _ id: String, billing: String?, _ scope: CallScope
    ) throws(NodeError) -> OrderObject {
        let (aim, order) = try ownOrder(id, scope)
        try requireIssuer(of: aim)
        let name = try billing.map { (name) throws(NodeError) in
            try checked(name, field: "billing")
        }
        // By hand on two devices that are apart, it is one payment still.
        let billing = name ?? "order:\(PublicID.order(order.key))"
        guard order.state == .open || order.state == .void else {
            throw Ledgers.failure(.redeemed)
        }
        guard order.state == .open else { throw Ledgers.failure(.noOrder) }
        guard !aim.ledger.fold.isBilled(billing) else { throw Ledgers.failure(.redeemed) }
        _ = try say(
            .grant(
                .init(order: order.key, billing: billing, coins: order.coins, paidAt: time.wall)),
            in: aim)
        return try object(of: order.key, in: aim)
    }

    // MARK: Settings

    func price(
        _ coins: String?, in ledger: String?, _ scope: CallScope
    ) throws(NodeError) -> StoreSettingObject {
        guard let coins else {
            let aim = try aim(ledger, scope)
            return Self.price(of: aim)
        }
        let aim = try aimToIssue(ledger, scope)
        var price: UInt64?
        if coins != "none" {
            guard let number = UInt64(coins), number <= Limits.ledgerCoinsMax else {
                throw NodeError(
                    .badRequest, "\(NodeError.quoted(coins)) is not a number of coins",
                    hint: "use a whole number or 'none'", reason: "control.bad_param",
                    fields: [.init(name: "coins", reason: ParameterMismatch.form.rawValue)])
            }
            price = number == 0 ? nil : number
        }
        if aim.ledger.fold.workspacePrice != price { _ = try say(.workspacePrice(price), in: aim) }
        return Self.price(of: aim)
    }

    private static func price(of aim: Aim) -> StoreSettingObject {
        StoreSettingObject(
            of: "store.price", ledger: PublicID.ledger(aim.ledger.document),
            value: aim.ledger.fold.workspacePrice.map { .integer(Int64(clamping: $0)) })
    }

    func verifyCommand(
        _ command: String?, _ scope: CallScope
    ) throws(NodeError) -> StoreSettingObject {
        if let command {
            guard !command.utf8.contains(0) else { throw .zeroByte(in: "command") }
            try stored { () throws(StorageError) in try core.ledgers.setVerifyCommand(command) }
        }
        let known = try stored { () throws(StorageError) in try core.ledgers.verifyCommand() }
        return StoreSettingObject(
            of: "store.verify_command", ledger: nil, value: known.map { .string($0) })
    }
}
