import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A receipt that the owner's command is checking.
struct ReceiptCheck {
    /// The source of the question.
    enum Asker {
        /// A call here.
        case call(CallID)
        /// The buyer, at the other end of a link, by the buyer's number.
        case link(LinkID, number: UInt64)
    }

    /// The short number of the ledger's workspace.
    let workspace: Int64
    let ledger: DocumentID
    let order: MessageKey
    let asker: Asker
    /// When its command is waited for no longer, on the monotonic clock.
    let due: UInt64
}

/// The issuer's side: a receipt arrives by a call or over a link, the owner's command checks it
/// beside the turn, and a grant follows. No field here holds the receipt: it goes to the command
/// and is dropped.
extension Ledgers {
    private static let commandName = "receipt.command"
    /// Time that the loop may need to end a command, and those that it has started before.
    private static let checkSlackMilliseconds: UInt64 = 10_000

    var checkDue: UInt64? { checks.values.map(\.due).min() }

    /// Gives up checks without a result, as after a failure of the disk.
    func passChecks() throws(StorageError) {
        guard !checks.isEmpty else { return }
        let due = checks.filter { $0.value.due <= time.monotonic }
        for number in due.keys.sorted() { try receiptChecked(number, nil) }
    }

    /// Starts checking a receipt.
    ///
    /// - Returns: why not; `nil` where it is under way, and the asker is told later.
    func check(
        _ receipt: String, for order: MessageKey, in ledger: OpenLedger, _ workspace: Workspace,
        asker: ReceiptCheck.Asker
    ) throws(StorageError) -> ReceiptResult.Code? {
        let fold = ledger.fold
        guard ledger.issuer == workspace.member, let known = fold.orders[order],
            known.state != .void
        else { return .noOrder }
        guard known.state == .open else { return .redeemed }
        // The issuer decides about an offer that was withdrawn.
        guard let command = try verifyCommand(), workspace.ownRole != nil,
            fold.items[Array(known.item.utf8)] == known.offer,
            let question = try question(receipt, known, fold, in: ledger, workspace)
        else { return .byHand }
        let isUnderWay = checks.values.contains {
            $0.ledger == ledger.document && $0.order == order
        }
        guard !isUnderWay, checks.count < Limits.receiptChecksMax, mayWrite else { return .busy }
        checkAllowances.forgetFull(at: time.monotonic)
        guard checkAllowances.take(known.buyer, at: time.monotonic) else { return .busy }
        lastCheck += 1
        checks[lastCheck] = ReceiptCheck(
            workspace: workspace.number, ledger: ledger.document, order: order, asker: asker,
            due: time.monotonic &+ Limits.receiptCheckMilliseconds &+ Self.checkSlackMilliseconds)
        var notice = Notice(
            command: command, input: Array((question.text + "\n").utf8), variables: [])
        notice.question = lastCheck
        turn.emit(.notify(notice))
        return nil
    }

    /// The input of the command: the order, the offer, and the receipt.
    private func question(
        _ receipt: String, _ order: LedgerFold.Order, _ fold: LedgerFold, in ledger: OpenLedger,
        _ workspace: Workspace
    ) throws(StorageError) -> JSONValue? {
        guard let object = object(of: order, in: ledger, workspace) else { return nil }
        return [
            "order": object.json,
            "ledger": [
                "id": .string(PublicID.ledger(ledger.document)),
                "name": JSONValue(orNull: fold.name),
            ],
            "workspace": .string(PublicID.workspace(workspace.id)), "receipt": .string(receipt),
        ]
    }

    /// Takes what a command has printed, and grants what was paid.
    func receiptChecked(_ number: UInt64, _ output: [UInt8]?) throws(StorageError) {
        // The outcome of a check from before a lock is dropped.
        guard let check = checks.removeValue(forKey: number),
            let workspace = core.workspaces[check.workspace]
        else { return }
        let code: ReceiptResult.Code
        if let ledger = try ledger(check.ledger, in: workspace) {
            code = try grant(check, output, in: ledger, workspace)
        } else {
            code = .noOrder
        }
        // The output of a command may be confidential: only the problem with it is logged.
        let why = try problem(check, output, code, in: workspace).map { " why=\($0)" } ?? ""
        turn.emit(
            .log(
                .info, "receipt.checked order=\(PublicID.order(check.order)) code=\(code)\(why)"))
        try tell(check.asker, code, check.ledger, check.order, in: workspace)
    }

    /// Why nothing was granted, in a word for the person who maintains the command.
    private func problem(
        _ check: ReceiptCheck, _ output: [UInt8]?, _ code: ReceiptResult.Code,
        in workspace: Workspace
    ) throws(StorageError) -> String? {
        guard code == .notChecked || code == .notPaid,
            let order = try ledger(check.ledger, in: workspace)?.fold.orders[check.order]
        else { return nil }
        return ReceiptVerdict.problem(untrusted: output, about: Self.question(about: order))
            ?? "cannot_write"
    }

    private static func question(about order: LedgerFold.Order) -> ReceiptVerdict.Question {
        ReceiptVerdict.Question(
            order: PublicID.order(order.key), buyer: PublicID.member(order.buyer),
            coins: order.coins)
    }

    private func grant(
        _ check: ReceiptCheck, _ output: [UInt8]?, in ledger: OpenLedger, _ workspace: Workspace
    ) throws(StorageError) -> ReceiptResult.Code {
        // It may have been granted by hand, or voided, while the command ran.
        guard let order = ledger.fold.orders[check.order], order.state != .void else {
            return .noOrder
        }
        guard order.state == .open else { return .redeemed }
        switch ReceiptVerdict(untrusted: output, about: Self.question(about: order)) {
        case .notPaid: return .notPaid
        case .unknown: return .notChecked
        case .paid(let billing, let at):
            guard !ledger.fold.isBilled(billing) else { return .redeemed }
            guard mayWrite else { return .notChecked }
            let paidAt = min(at ?? time.wall, time.wall &+ Limits.credibleLeadMillisecondsMax)
            return try write(
                .grant(
                    .init(
                        order: order.key, billing: billing, coins: order.coins, paidAt: paidAt)),
                to: ledger, in: workspace) == nil ? .notChecked : .granted
        }
    }

    /// Writes into a ledger.
    ///
    /// - Returns: what names the operation, or `nil` where this device may not write.
    func write(
        _ content: LedgerContent, to ledger: OpenLedger, in workspace: Workspace
    ) throws(StorageError) -> (key: MessageKey, arrival: Int64)? {
        guard
            let made = try core.privates.authorContent(
                .ledger(content), to: ledger.document, in: workspace),
            let stored = try store.operations.operation(made.arrival, hasPayload: false)
        else { return nil }
        return (stored.messageKey, made.arrival)
    }

    private func tell(
        _ asker: ReceiptCheck.Asker, _ code: ReceiptResult.Code, _ document: DocumentID,
        _ order: MessageKey, in workspace: Workspace
    ) throws(StorageError) {
        switch asker {
        case .call(let call):
            turn.emit(.answer(call, try outcome(code, document, order, in: workspace)))
        case .link(let link, let number):
            guard let link = network.ordered.first(where: { $0.id == link && !$0.isClosing })
            else { return }
            answer(ReceiptResult(number: number, code), in: workspace, on: link)
        }
    }

    private func answer(
        _ result: ReceiptResult, in workspace: Workspace, on link: PeerLink
    ) {
        guard let sync = link.syncs[workspace.number], sync.standing == .full else { return }
        link.session.send(.receiptResult(sync.number, result), in: .live, isUnasked: false)
    }

    // MARK: Over a link

    /// Takes a message about receipts.
    func received(
        _ message: SyncMessage, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        switch message {
        case .receipt(_, let word): try receiptHeard(word, in: workspace, on: link)
        case .receiptResult(_, let result):
            try receiptAnswered(result, in: workspace, on: link)
        default: break
        }
    }

    /// Takes a receipt from a peer. Only the buyer's own devices are believed to have one.
    private func receiptHeard(
        _ word: ReceiptSubmission, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let sync = link.syncs[workspace.number], sync.standing == .full,
            sync.passing.take(at: time.monotonic), let device = link.peer?.device
        else { return }
        var code: ReceiptResult.Code? = .noOrder
        if home == nil {
            code = .busy
        } else if let ledger = try ledger(word.ledger, in: workspace) {
            let buyer = ledger.fold.orders[word.order]?.buyer
            let isBuyer = workspace.members.contains {
                $0.member == buyer && $0.devices.contains(device)
            }
            // Another member's order is treated as unknown.
            code =
                isBuyer
                ? try check(
                    word.receipt, for: word.order, in: ledger, workspace,
                    asker: .link(link.id, number: word.number)) : .noOrder
        }
        if let code { answer(ReceiptResult(number: word.number, code), in: workspace, on: link) }
    }

    // MARK: The command

    /// The command that runs for each receipt on this node; `nil` without one.
    func verifyCommand() throws(StorageError) -> String? {
        guard let bytes = try sealedValue(Self.commandName), !bytes.isEmpty else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Stored sealed: it may contain a password, and somebody who can only write to the disk must
    /// not be able to run a command.
    func setVerifyCommand(_ command: String) throws(StorageError) {
        try setSealedValue(Array(command.utf8), of: Self.commandName)
    }
}
