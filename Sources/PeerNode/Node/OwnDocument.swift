import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The own document: what somebody keeps for all of the own devices, and nobody else can read.
///
/// It is a private document with its owner as the only member. Devices that begin apart make one
/// each; all are read, and writing goes into the one with the smallest id.
extension Workspace {
    /// The own documents that can be read, ascending.
    var ownDocuments: [PrivateDocument] {
        privateDocuments.values.filter(isOwn).sorted { $0.id < $1.id }
    }

    /// Whether a document is one of the own member's.
    func isOwn(_ document: PrivateDocument) -> Bool {
        guard document.root?.subtype == .own,
            document.records[document.rootID]?.author == member
        else { return false }
        return document.authority.isValid(document.rootID)
    }
}

extension NodeCore {
    // MARK: Writing

    /// Writes a register, into a new document where there is none yet.
    ///
    /// - Returns: whether this device may write.
    func authorOwn(
        _ register: OwnRegister, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        if workspace.ownDocuments.isEmpty {
            let root = PrivateRoot(
                subtype: .own, seats: [PrivateSeat(workspace.member, .owner)])
            guard try makePrivate(root, in: workspace) != nil else { return false }
        }
        guard let document = workspace.ownDocuments.first else { return false }
        return try authorContent(.own(register), to: document.id, in: workspace) != nil
    }

    // MARK: Folding

    /// Where a register stands; `nil` for a setting while the home's key is not at hand.
    func place(
        of register: OwnRegister, in workspace: Workspace
    ) -> ViewStore.Register.Place? {
        switch register {
        case .read(let conversation, _, _): place(.read, conversation, in: workspace)
        case .mute(let conversation, _): place(.mute, conversation, in: workspace)
        case .level(let conversation, _): place(.level, conversation, in: workspace)
        case .preference(let name, _): place(ofPreference: name, in: workspace)
        }
    }

    func place(
        _ kind: ViewStore.Register.Kind, _ conversation: ConversationName, in workspace: Workspace
    ) -> ViewStore.Register.Place {
        .init(workspace: workspace.number, kind: kind, subject: conversation.bytes)
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

    /// The row of a stored operation of an own document, `nil` where it has no effect.
    func row(
        of register: OwnRegister, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> ViewStore.Register? {
        guard let document = workspace.privateDocuments[stored.log.document],
            workspace.isOwn(document), try !isDeleted(stored.place.arrival),
            try visibility(of: stored, in: workspace) == .shown,
            let place = place(of: register, in: workspace)
        else { return nil }
        var key: MessageKey?
        if case .read(_, let upTo, _) = register { key = upTo }
        return ViewStore.Register(
            place, at: stored.entry.timestamp, by: stored.place.link.id,
            arrival: stored.place.arrival, key: key)
    }

    /// Takes over what a stored operation of an own document says.
    func fold(
        _ register: OwnRegister, _ stored: StoredOperation, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard let row = try row(of: register, stored, in: workspace) else { return }
        if case .read(let name, let upTo, let frontier) = register {
            return try foldMarker(row, name, upTo, frontier, in: workspace, from: source)
        }
        try write()
        guard try store.view.fold(row) else { return }
        if case .preference(PresenceChoice.setting, _) = register {
            try reviewPresence(of: workspace)
        }
    }

    private func foldMarker(
        _ row: ViewStore.Register, _ name: ConversationName, _ key: MessageKey,
        _ frontier: ReadFrontier, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let before = try marker(row.place, in: workspace)
        try write()
        // Of markers that named no log, nothing was late.
        if before != nil, !frontier.isEmpty, try !store.view.hasFrontier(row.place) {
            try forgetLate(name, in: workspace)
        }
        try store.view.fold(row)
        // What waits to be written, here or at another device, was told when it was read.
        let told = workspace.readMarks.pending[name]?.frontier ?? ReadFrontier()
        let isMore =
            try store.view.fold(frontier, at: row.place) && !frontier.pieces(beyond: told).isEmpty
        let isFurther = before.map { $0 < key } ?? true
        guard isFurther || isMore else { return }
        try reviewLate(name, after: before, isOwn: source == .ourselves, in: workspace)
        try tellRead(row.place.subject, in: workspace, isBackfill: source.isBackfill)
    }

    /// Folds the own documents from nothing: what counts in them has changed.
    func refoldOwn(
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        func read() throws(StorageError) -> [ViewStore.Register.Place: MessageKey] {
            var read: [ViewStore.Register.Place: MessageKey] = [:]
            for row in try store.view.registers(of: workspace.number) { read[row.place] = row.key }
            return read
        }
        let before = try read()
        let frontiers = try store.view.frontiers(of: workspace.number)
        var rows: [(ViewStore.Register, OwnRegister)] = []
        for document in workspace.ownDocuments {
            var found: [(StoredOperation, OwnRegister)] = []
            try store.operations.forEachOperation(in: document.id, of: workspace.number) {
                (stored) throws(StorageError) in
                guard case .own(let register)? = try content(of: stored, in: workspace) else {
                    return
                }
                found.append((stored, register))
            }
            for (stored, register) in found {
                try row(of: register, stored, in: workspace).map { rows.append(($0, register)) }
            }
        }
        try write()
        try store.view.clearRegisters(of: workspace.number)
        for (row, register) in rows {
            try store.view.fold(row)
            if case .read(_, _, let frontier) = register {
                try store.view.fold(frontier, at: row.place)
            }
        }
        try reviewPresence(of: workspace)
        let now = (keys: try read(), frontiers: try store.view.frontiers(of: workspace.number))
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
    }

    // MARK: Reading

    /// What the register in a place says.
    func register(
        _ place: ViewStore.Register.Place?, in workspace: Workspace
    ) throws(StorageError) -> OwnRegister? {
        guard let place, let row = try store.view.register(place),
            let stored = try store.operations.operation(row.arrival),
            case .own(let register)? = try content(of: stored, in: workspace)
        else { return nil }
        return register
    }
}
