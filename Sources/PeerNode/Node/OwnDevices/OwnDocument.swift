import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Own documents: what a person stores for all of their devices, and nobody else can read.
///
/// An own document is a private document whose owner is its only member. Devices that start
/// separately create one each; all are read, and writes go into the one with the smallest id.
extension Workspace {
    /// The own documents that can be read, ascending.
    var ownDocuments: [PrivateDocument] {
        sealed.documents.values.filter(isOwn).sorted { $0.id < $1.id }
    }

    /// Whether a document is an own document of the local member.
    func isOwn(_ document: PrivateDocument) -> Bool {
        guard document.root?.subtype == .own,
            document.records[document.rootID]?.author == member
        else { return false }
        return document.isRootValid
    }
}

extension OwnDocuments {
    // MARK: Writing

    /// Writes a register so that it counts, into a new document if there is none yet.
    ///
    /// - Returns: whether this device may write.
    func authorOwn(
        _ register: OwnRegister, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        if workspace.ownDocuments.isEmpty {
            let root = PrivateRoot(
                subtype: .own, seats: [PrivateSeat(workspace.member, .owner)])
            guard try core.privates.authoring.makePrivate(root, in: workspace) != nil else {
                return false
            }
            try noteKnownKinds(of: workspace)
        }
        guard let first = workspace.ownDocuments.first?.id else { return false }
        guard let place = place(of: register, in: workspace), place.kind != .read else {
            return try core.privates.authorContent(.own(register), to: first, in: workspace) != nil
        }
        let count = try store.view.own.settingHeadCount(place, limit: Limits.ownWordsMax)
        return try write(over: count, in: workspace.ownDocuments.count) {
            (made) throws(StorageError) in
            try store.view.own.register(place)?.id == made
        } _: { () throws(StorageError) in
            // A word overwrites those of its own document.
            let document = try documentOfSetting(place, in: workspace) ?? first
            let heads = try store.view.own.whatToCite(about: place, in: document)
            return try core.privates.authorContent(
                .own(register), to: document, in: workspace,
                overwriting: references(to: heads))?.id
        }
    }

    /// The own document whose word about a subject counts, `nil` where none does.
    private func documentOfSetting(
        _ place: ViewStore.Register.Place, in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        guard let row = try store.view.own.register(place),
            let stored = try store.operations.operation(row.arrival, hasPayload: false),
            let document = workspace.sealed.documents[stored.log.document],
            workspace.isOwn(document)
        else { return nil }
        return document.id
    }

    // MARK: Folding

    /// The place of a register; `nil` for a setting while the home's key is not available.
    func place(
        of register: OwnRegister, in workspace: Workspace
    ) -> ViewStore.Register.Place? {
        switch register {
        case .read(let conversation, _, _): place(.read, conversation, in: workspace)
        case .mute(let conversation, _): place(.mute, conversation, in: workspace)
        case .level(let conversation, _): place(.level, conversation, in: workspace)
        case .preference(let name, _): place(ofPreference: name, in: workspace)
        case .star(let message, _):
            .init(workspace: workspace.number, kind: .star, subject: message.bytes)
        case .reminder(let name, _):
            .init(workspace: workspace.number, kind: .reminder, subject: name.bytes)
        }
    }

    func place(
        _ kind: ViewStore.Register.Kind, _ conversation: ConversationName, in workspace: Workspace
    ) -> ViewStore.Register.Place {
        .init(workspace: workspace.number, kind: kind, subject: conversation.bytes)
    }

    /// How many of some assertions this device wrote. A stolen device cannot keep others from
    /// writing more.
    func countWrittenHere(_ rows: [ViewStore.Register]) throws(StorageError) -> Int {
        var count = 0
        for row in rows {
            let stored = try store.operations.operation(row.arrival, hasPayload: false)
            if let stored, stored.log.device == turn.session.ownDevice { count += 1 }
        }
        return count
    }

    /// The name of a setting is text, which no table holds.
    func place(
        ofPreference name: String, in workspace: Workspace
    ) -> ViewStore.Register.Place? {
        guard let home else { return nil }
        let hash = Hash.keyed(home.homeKey, Array("preference".utf8), Array(name.utf8))
        return .init(
            workspace: workspace.number, kind: .preference,
            subject: Array(hash.prefix(ConversationName.byteCount)))
    }

    /// The row of a stored operation of an own document, `nil` where it sets nothing.
    private func row(
        of register: OwnRegister, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> ViewStore.Register? {
        guard let document = workspace.sealed.documents[stored.log.document],
            workspace.isOwn(document), try !core.sink.isDeleted(stored.place.arrival),
            let place = place(of: register, in: workspace)
        else { return nil }
        var key: MessageKey?
        if case .read(_, let upTo, _) = register { key = stored.credible(upTo) }
        return ViewStore.Register(
            place, at: stored.entry.timestamp, by: stored.place.link.id,
            arrival: stored.place.arrival, key: key)
    }

    /// Folds a stored operation of an own document.
    func fold(
        _ register: OwnRegister, _ stored: StoredOperation, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard let row = try row(of: register, stored, in: workspace) else { return }
        let isValid = try core.privates.visibility(of: stored, in: workspace) == .shown
        if case .read(let name, _, let frontier) = register {
            guard isValid, let key = row.key else { return }
            return try foldMarker(row, name, key, frontier, in: workspace, from: source)
        }
        try write()
        let before = try store.view.own.register(row.place)
        guard try foldWord(row, of: stored, isValid: isValid, in: workspace) else { return }
        switch register {
        case .preference(PresenceChoice.setting, _): try core.sink.reviewPresence(of: workspace)
        case .star(let message, _):
            let after = try store.view.own.register(row.place)
            guard (before?.key == nil) != (after?.key == nil) else { return }
            try tellStar(message, in: workspace, isBackfill: source.isBackfill)
        case .reminder: workspace.own.readMarks.reminders.isStale = true
        case .read, .preference, .mute, .level: break
        }
    }

    /// Folds what a stored operation sets; for stars and reminders also the additional values.
    @discardableResult
    private func foldWord(
        _ row: ViewStore.Register, of stored: StoredOperation, isValid: Bool,
        in workspace: Workspace
    ) throws(StorageError) -> Bool {
        try store.view.own.fold(
            row, in: stored.log.document, citing: stored.entry.dependencies.map(\.id),
            isValid: isValid
        ) { (word) throws(StorageError) in
            guard word.place.kind == .star || word.place.kind == .reminder,
                let stored = try store.operations.operation(word.arrival),
                case .own(let register)? = try core.keys.content(of: stored, in: workspace)
            else { return nil }
            return register.mark
        }
    }

    private func foldMarker(
        _ row: ViewStore.Register, _ name: ConversationName, _ key: MessageKey,
        _ frontier: ReadFrontier, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let before = try marker(row.place, in: workspace)
        try write()
        // With markers that named no log, nothing was late.
        if before != nil, !frontier.isEmpty, try !store.view.own.hasFrontier(row.place) {
            try forgetLate(name, in: workspace)
        }
        try store.view.own.fold(row)
        // A marker that waits to be written, here or at another device, was told when the message
        // was read.
        let told = workspace.own.readMarks.pending[name]?.frontier ?? ReadFrontier()
        let isMore =
            try store.view.own.fold(frontier, at: row.place)
            && !frontier.pieces(beyond: told).isEmpty
        let isFurther = before.map { $0 < key } ?? true
        guard isFurther || isMore else { return }
        try reviewLate(name, after: before, isOwn: source == .ourselves, in: workspace)
        try tellRead(row.place.subject, in: workspace, isBackfill: source.isBackfill)
    }

    /// Refolds all own documents from the start, because other operations in them count now.
    func refoldOwn(
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        func read() throws(StorageError) -> [ViewStore.Register.Place: MessageKey] {
            var read: [ViewStore.Register.Place: MessageKey] = [:]
            for row in try store.view.own.registers(of: workspace.number)
            where row.place.kind == .read { read[row.place] = row.key }
            return read
        }
        let before = try read()
        let starred = try stars(of: workspace)
        let frontiers = try store.view.own.frontiers(of: workspace.number)
        var rows: [(ViewStore.Register, OwnRegister, StoredOperation, isValid: Bool)] = []
        for document in workspace.ownDocuments {
            var found: [(StoredOperation, OwnRegister)] = []
            try store.operations.forEachOperation(in: document.id, of: workspace.number) {
                (stored) throws(StorageError) in
                guard
                    case .own(let register)? = try core.keys.content(of: stored, in: workspace)
                else {
                    return
                }
                found.append((stored, register))
            }
            for (stored, register) in found {
                guard let row = try row(of: register, stored, in: workspace) else { continue }
                let isValid = try core.privates.visibility(of: stored, in: workspace) == .shown
                rows.append((row, register, stored, isValid))
            }
        }
        try write()
        try store.registry.setValue(nil, of: ViewStore.owedSettings(of: workspace.number))
        try noteKnownKinds(of: workspace)
        try store.view.own.clearRegisters(of: workspace.number)
        for (row, register, stored, isValid) in rows {
            guard case .read(_, _, let frontier) = register else {
                try foldWord(row, of: stored, isValid: isValid, in: workspace)
                continue
            }
            guard isValid else { continue }
            try store.view.own.fold(row)
            try store.view.own.fold(frontier, at: row.place)
        }
        try core.sink.reviewPresence(of: workspace)
        let now = (keys: try read(), frontiers: try store.view.own.frontiers(of: workspace.number))
        let places = Set(before.keys).union(now.keys.keys)
        for place in places.sorted()
        where before[place] != now.keys[place]
            || frontiers[place.subject] != now.frontiers[place.subject]
        {
            guard let name = ConversationName(place.subject) else { continue }
            // It may be less than before.
            try forgetLate(name, in: workspace)
        }
        for (place, key) in now.keys.sorted(by: { $0.key < $1.key }) where before[place] != key {
            try tellRead(place.subject, in: workspace, isBackfill: source.isBackfill)
        }
        workspace.own.readMarks.reminders.isStale = true
        for message in starred.symmetricDifference(try stars(of: workspace)).sorted() {
            try tellStar(message, in: workspace, isBackfill: source.isBackfill)
        }
    }

    /// Schedules a refold of all own documents when an earlier version wrote the store: it kept
    /// only the assertions that counted, or skipped kinds that it did not know.
    func oweSettings(of workspace: Workspace) throws(StorageError) {
        let name = ViewStore.owedSettings(of: workspace.number)
        let isOwed = try store.registry.value(name) != nil
        let known = try store.registry.value(Self.knownKinds(of: workspace))
        guard isOwed || known != Self.kindCount else { return }
        for document in workspace.ownDocuments {
            core.privates.judgeLater(
                document.id, isAnew: true, in: workspace,
                from: .released(source: 0, isBackfill: true))
        }
    }

    /// The name in `meta` of how many kinds of registers a program knew when it folded all of them.
    private static func knownKinds(of workspace: Workspace) -> String {
        "own.kinds.\(workspace.number)"
    }

    private static let kindCount = [UInt8(ViewStore.Register.Kind.allCases.count)]

    private func noteKnownKinds(of workspace: Workspace) throws(StorageError) {
        try store.registry.setValue(Self.kindCount, of: Self.knownKinds(of: workspace))
    }

    // MARK: Reading

    /// The value of the register in a place.
    func register(
        _ place: ViewStore.Register.Place?, in workspace: Workspace
    ) throws(StorageError) -> OwnRegister? {
        guard let place, let row = try store.view.own.register(place),
            let stored = try store.operations.operation(row.arrival),
            case .own(let register)? = try core.keys.content(of: stored, in: workspace)
        else { return nil }
        return register
    }
}

extension StoredOperation {
    /// Up to where a marker for this message counts: nobody has read a message that was written
    /// more than `Limits.credibleLeadMillisecondsMax` after the marker arrived, so such a marker
    /// ends where it is displayed itself.
    fileprivate func credible(_ key: MessageKey) -> MessageKey {
        guard key.timestamp.isIncredible(at: UInt64(max(seen, 0))) else { return key }
        let shown = HybridTimestamp(rawValue: UInt64(max(place.sort, 0)))
        return MessageKey(timestamp: min(key.timestamp, shown), idPrefix: .max)
    }
}
