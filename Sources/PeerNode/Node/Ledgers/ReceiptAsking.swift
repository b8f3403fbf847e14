import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A receipt that a call here asks another device to check. It is held in memory only, until that
/// device has answered.
struct ReceiptQuestion {
    let call: CallID
    /// The short number of the ledger's workspace.
    let workspace: Int64
    let ledger: DocumentID
    let order: MessageKey
    let receipt: String
    /// The issuer's devices that were asked, the last of them over this link.
    var asked: Set<DeviceID> = []
    var link: LinkID?
    /// When the one that was asked last is waited for no longer, on the monotonic clock.
    var due: UInt64
    /// Whether it said that the coins are granted, so that only the grant is to come.
    var isGranted = false
}

/// The buyer's side: the receipt goes to the issuer's devices, one after the other, over a link,
/// and is neither stored nor relayed.
extension Ledgers {
    var questionDue: UInt64? { questions.values.map(\.due).min() }

    /// Asks the issuer; the call is answered later.
    ///
    /// - Throws: `unreachable` where no device of the issuer is at the other end of a link, `busy`.
    func ask(
        _ receipt: String, for order: MessageKey, in ledger: OpenLedger, _ workspace: Workspace,
        call: CallID
    ) throws(NodeError) {
        let isUnderWay = questions.values.contains {
            $0.ledger == ledger.document && $0.order == order
        }
        guard !isUnderWay, questions.count < Limits.receiptsAskedMax else {
            throw Self.failure(.busy)
        }
        let question = ReceiptQuestion(
            call: call, workspace: workspace.number, ledger: ledger.document, order: order,
            receipt: receipt, due: time.monotonic &+ Limits.receiptAnswerMilliseconds)
        lastQuestion += 1
        guard ask(question, as: lastQuestion, issuer: ledger.issuer, in: workspace) else {
            throw NodeError(
                .unreachable, "no device of the issuer can be reached now",
                hint: "try again later: the order stays, and the receipt is not kept",
                reason: "receipt.unreachable")
        }
    }

    /// Sends it to the next device.
    ///
    /// - Returns: whether there was one.
    private func ask(
        _ question: ReceiptQuestion, as number: UInt64, issuer: MemberID, in workspace: Workspace
    ) -> Bool {
        let devices = workspace.members.first { $0.member == issuer }?.devices ?? []
        for link in network.ordered where !link.isClosing {
            guard let sync = link.syncs[workspace.number], sync.standing == .full,
                let device = link.peer?.device, devices.contains(device),
                !question.asked.contains(device),
                link.session.unsentBytes < Limits.unaskedUnsentBytesMax
            else { continue }
            var next = question
            next.asked.insert(device)
            next.link = link.id
            next.due = time.monotonic &+ Limits.receiptAnswerMilliseconds
            questions[number] = next
            link.session.send(
                .receipt(
                    sync.number,
                    ReceiptSubmission(
                        number: number, ledger: question.ledger, order: question.order,
                        receipt: question.receipt)), in: .live, isUnasked: false)
            return true
        }
        return false
    }

    /// Takes an answer, but only from a device that was asked.
    func receiptAnswered(
        _ result: ReceiptResult, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let question = questions[result.number], question.link == link.id,
            question.workspace == workspace.number, !question.isGranted
        else { return }
        switch result.code {
        case .granted:
            // An answer is not yet a grant: the call is answered when the grant arrives with the
            // operations.
            questions[result.number]?.isGranted = true
            if let ledger = try ledger(question.ledger, in: workspace) {
                try tellGranted(question.order, in: ledger, workspace)
            }
        case .byHand:
            guard let ledger = try ledger(question.ledger, in: workspace),
                ask(question, as: result.number, issuer: ledger.issuer, in: workspace)
            else { return finish(result.number, .failure(Self.failure(.byHand))) }
        case .noOrder, .redeemed, .notPaid, .busy, .notChecked:
            finish(result.number, .failure(Self.failure(result.code)))
        }
    }

    /// Answers who waits for the coins of an order that are here now.
    func tellGranted(
        _ order: MessageKey, in ledger: OpenLedger, _ workspace: Workspace
    ) throws(StorageError) {
        let waiting = questions.filter {
            $0.value.ledger == ledger.document && $0.value.order == order
                && $0.value.workspace == workspace.number
        }
        guard !waiting.isEmpty, let state = ledger.fold.orders[order]?.state,
            state == .granted || state == .paid
        else { return }
        for number in waiting.keys.sorted() {
            finish(number, try outcome(.granted, ledger.document, order, in: workspace))
        }
    }

    /// Answers calls whose link has ended: a question is answered on its own link or never (M-32).
    /// A caller who was told that the coins are granted waits for the grant, which may arrive over
    /// another link.
    func endTurn() {
        for number in questions.keys.sorted() {
            guard let question = questions[number], !question.isGranted, !isOpen(question) else {
                continue
            }
            finish(
                number,
                .failure(
                    NodeError(
                        .unreachable, "the link to the issuer ended before they answered",
                        hint: "look at 'wsx-node store orders', then try again",
                        reason: "receipt.link_ended")))
        }
    }

    private func isOpen(_ question: ReceiptQuestion) -> Bool {
        guard let link = question.link.flatMap({ network.links[$0] }), !link.isClosing else {
            return false
        }
        return link.syncs[question.workspace] != nil
    }

    /// Goes on with those that were not answered in time.
    func passQuestions() throws(StorageError) {
        guard !questions.isEmpty else { return }
        let due = questions.filter { $0.value.due <= time.monotonic }
        for number in due.keys.sorted() {
            guard let question = questions[number] else { continue }
            if !question.isGranted, let workspace = core.workspaces[question.workspace],
                let ledger = try ledger(question.ledger, in: workspace),
                ask(question, as: number, issuer: ledger.issuer, in: workspace)
            {
                continue
            }
            finish(
                number,
                .failure(
                    NodeError(
                        .timeout, "the issuer did not answer in time",
                        hint: "look at 'wsx-node store orders' before you try again",
                        reason: "receipt.timeout")))
        }
    }

    private func finish(_ number: UInt64, _ result: Result<JSONValue, NodeError>) {
        guard let question = questions.removeValue(forKey: number) else { return }
        turn.emit(.answer(question.call, result))
    }

    /// Drops everything that is under way: keys are needed for what follows.
    func forgetReceipts() {
        let locked = Result<JSONValue, NodeError>.failure(.locked(.relaying))
        for number in questions.keys.sorted() { finish(number, locked) }
        for number in checks.keys.sorted() {
            if case .call(let call)? = checks[number]?.asker { turn.emit(.answer(call, locked)) }
        }
        checks = [:]
    }

    // MARK: Answering

    /// The answer for a call about a receipt.
    func outcome(
        _ code: ReceiptResult.Code, _ document: DocumentID, _ order: MessageKey,
        in workspace: Workspace
    ) throws(StorageError) -> Result<JSONValue, NodeError> {
        guard code == .granted else { return .failure(Self.failure(code)) }
        guard let ledger = try ledger(document, in: workspace),
            let known = ledger.fold.orders[order],
            let object = object(of: known, in: ledger, workspace)
        else { return .failure(Self.failure(.noOrder)) }
        return .success(object.json)
    }

    /// The error for a person about a code.
    static func failure(_ code: ReceiptResult.Code) -> NodeError {
        switch code {
        case .granted, .noOrder:
            NodeError(
                .unknownOrder, "there is no such order, or it was voided",
                hint: "wsx-node store orders", reason: "order.unknown")
        case .redeemed:
            NodeError(
                .alreadyRedeemed, "that order or payment was already redeemed",
                hint: "wsx-node store orders", reason: "order.redeemed")
        case .notPaid:
            NodeError(
                .invalidReceipt, "the receipt does not pay for that order",
                hint: "check that it is the receipt for this order, then try again",
                reason: "receipt.invalid")
        case .byHand:
            NodeError(
                .pending, "the issuer checks payments by hand",
                hint: "send them the receipt; 'wsx-node store orders' shows when it is granted",
                reason: "receipt.by_hand")
        case .busy:
            NodeError(
                .busy, "a receipt for this order is already being checked, or there are too many",
                hint: "try again in a few minutes", reason: "receipt.busy")
        case .notChecked:
            NodeError(
                .unreachable, "the receipt could not be checked now",
                hint: "try again later: nothing was redeemed", reason: "receipt.unchecked")
        }
    }
}
