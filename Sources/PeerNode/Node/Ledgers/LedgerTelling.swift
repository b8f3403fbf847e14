import CRDTStore
import WorkspaceModel

/// The new state of an order or a spend, for the members concerned.
struct LedgerNews {
    let type: EventType
    /// The short numbers of its workspace and of the ledger's document.
    let workspace: Int64
    let document: Int64
    /// Its key, and its state.
    let reference: [UInt8]
}

/// Events of ledgers, in the transaction of what they report: how a turn has changed orders and
/// spends, whatever the cause. The issuer gets all of them, everyone else their own.
extension Ledgers {
    func tellChanges() throws(StorageError) {
        guard !pasts.isEmpty, home != nil, turn.session.folding == nil else { return }
        guard !turn.isBuilding, mayWrite else { return pasts = [:] }
        for number in pasts.keys.sorted() {
            // Loading a ledger may record its past here, too.
            guard let row = store.operations.document(numbered: number),
                let workspace = core.workspaces[row.workspace],
                let ledger = try ledger(row.id, in: workspace)
            else {
                pasts[number] = nil
                continue
            }
            guard let past = pasts.removeValue(forKey: number) else { continue }
            try tell(past, ledger, numbered: number, in: workspace)
        }
    }

    private func tell(
        _ past: LedgerPast, _ ledger: OpenLedger, numbered number: Int64, in workspace: Workspace
    ) throws(StorageError) {
        let own = workspace.member
        let isIssuer = ledger.issuer == own
        var told: [LedgerNews] = []
        func tell(_ type: EventType, _ key: MessageKey, _ state: String) {
            told.append(
                LedgerNews(
                    type: type, workspace: workspace.number, document: number,
                    reference: key.bytes + Array(state.utf8)))
        }
        let changes = past.changes(in: ledger.fold)
        for change in changes.orders where isIssuer || change.buyer == own {
            let types = Self.types(change.was, change.now)
            for type in types { tell(type, change.key, (change.now ?? .void).rawValue) }
            if past.isBackfill != true,
                Self.isForPeople(types.last, isIssuer: isIssuer, isOwn: change.buyer == own)
            {
                keepNews(told.last)
            }
        }
        for change in changes.spends where isIssuer || change.member == own {
            let types = Self.types(change.was, change.now)
            for type in types { tell(type, change.key, (change.now ?? .insufficient).rawValue) }
            if past.isBackfill != true,
                Self.isForPeople(types.last, isIssuer: isIssuer, isOwn: change.member == own)
            {
                keepNews(told.last)
            }
        }
        for news in told {
            try turn.record(
                news.type, workspace: news.workspace, document: news.document,
                extra: news.reference, isBackfill: past.isBackfill ?? false)
        }
    }

    /// The events for an order whose state has changed.
    static func types(
        _ was: LedgerFold.Order.State?, _ now: LedgerFold.Order.State?
    ) -> [EventType] {
        guard was != now else { return [] }
        let made: [EventType] = was == nil ? [.orderCreated] : []
        switch now {
        case .open: return was == nil ? made : [.orderReopened]
        case .paid: return made + [.orderPaid]
        case .granted: return made + [.orderGranted]
        case .void, nil: return made + [.orderVoided]
        }
    }

    /// The events for a spend.
    static func types(
        _ was: LedgerFold.Spend.State?, _ now: LedgerFold.Spend.State?
    ) -> [EventType] {
        guard was != now else { return [] }
        let made: [EventType] = was == nil ? [.spendCreated] : []
        switch now {
        case .spent: return was == nil ? made : [.spendRestored]
        case .refunded: return made + [.spendRefunded]
        case .insufficient, nil: return made + [.spendOverturned]
        }
    }

    // MARK: Notices

    /// Whether somebody should hear of it who does not look: an issuer of an order, a buyer of the coins for
    /// one, and a member of a spend that does not count.
    private static func isForPeople(_ type: EventType?, isIssuer: Bool, isOwn: Bool) -> Bool {
        switch type {
        case .orderCreated: isIssuer && !isOwn
        case .orderGranted: isOwn && !isIssuer
        case .spendOverturned: isOwn
        default: false
        }
    }

    private func keepNews(_ found: LedgerNews?) {
        guard let found, news.count < Limits.noticesWaitingMax else { return }
        news.append(found)
    }

    /// The reports for people after this turn, handed out once.
    func takeNews() -> [LedgerNews] {
        defer { news = [] }
        return news
    }

    // MARK: Reading

    /// The order or the spend of an event, in the state that the event reports.
    ///
    /// - Parameters:
    ///   - document: the short number of the ledger.
    ///   - reference: as in `LedgerNews`.
    /// - Returns: its ids and its state alone, where it is here no longer.
    func data(
        of reference: [UInt8]?, isOrder: Bool, in document: Int64?, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let reference, let key = Self.key(of: reference),
            let state = String(validating: reference.dropFirst(16), as: UTF8.self),
            let row = document.flatMap({ store.operations.document(numbered: $0) })
        else { return .null }
        var fields = try fields(key, isOrder: isOrder, in: row.id, workspace)
        if fields == nil {
            let id = isOrder ? PublicID.order(key) : PublicID.spend(key)
            fields = ["id": .string(id), "ledger": .string(PublicID.ledger(row.id))]
        }
        fields?["state"] = .string(state)
        return fields.map { .object($0) } ?? .null
    }

    private func fields(
        _ key: MessageKey, isOrder: Bool, in document: DocumentID, _ workspace: Workspace
    ) throws(StorageError) -> JSONObject? {
        guard let ledger = try ledger(document, in: workspace) else { return nil }
        guard isOrder else {
            return ledger.fold.spends[key].flatMap {
                object(of: $0, in: document, workspace).json.objectValue
            }
        }
        return ledger.fold.orders[key].flatMap { object(of: $0, in: ledger, workspace) }
            .flatMap(\.json.objectValue)
    }

    /// Who issues the coins of a ledger, and its name.
    func issuer(
        of document: Int64, in workspace: Workspace
    ) throws(StorageError) -> (member: MemberID, ledger: String)? {
        guard let row = store.operations.document(numbered: document),
            let ledger = try ledger(row.id, in: workspace)
        else { return nil }
        return (ledger.issuer, ledger.fold.name ?? "")
    }

    private static func key(of reference: [UInt8]) -> MessageKey? {
        guard reference.count >= 16 else { return nil }
        let text = "p_" + Base32.encode(Array(reference.prefix(16)))
        return PublicID.ledgerKey(text, prefix: "p_")
    }
}
