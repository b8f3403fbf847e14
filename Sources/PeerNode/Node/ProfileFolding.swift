import CRDTStore
import WorkspaceModel

/// What members say of themselves, taken over from the profile document. A pure fold, in memory:
/// no table holds what a passphrase protects.
extension NodeCore {
    /// Somebody about whom something else is said than before, told at the end of the turn.
    struct ProfileEdit: Hashable {
        let workspace: Int64
        let member: MemberID
    }

    /// Takes over what somebody says of himself.
    ///
    /// - Parameter value: the name or the field; `nil` takes the field back.
    func fold(
        _ value: String?, at place: ProfileRegisters.Place, _ word: ProfileRegisters.Word,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        // What was redacted says nothing, whether or not its payload is here.
        guard try store.view.deletion(of: word.arrival) == nil else { return }
        let before = workspace.profileRegisters.current(place)?.id
        workspace.profileRegisters.take(word, at: place)
        if place.member == workspace.member { hiddenProfiles.insert(workspace.number) }
        guard let now = workspace.profileRegisters.current(place)?.id, now != before else {
            // It may have lost its verdict.
            if workspace.profileRegisters.current(place)?.id != before {
                try follow(place, in: workspace, arrival: word.arrival, source)
            }
            return
        }
        if now == word.id {
            take(value, at: place, in: workspace, arrival: word.arrival, source)
        } else {
            try follow(place, in: workspace, arrival: word.arrival, source)
        }
    }

    /// Registers of which something was redacted, in order, each with the arrival number of the
    /// first such operation.
    struct ForgottenWords {
        fileprivate var places: [ProfileRegisters.Place] = []
        fileprivate var arrivals: [ProfileRegisters.Place: Int64] = [:]
        /// The same of names of devices.
        fileprivate var devices: [DeviceNames.Place] = []
    }

    /// Forgets an operation that was redacted. What counts then is read once for all of them.
    func forgetProfile(
        _ stored: StoredOperation, in workspace: Workspace, _ forgotten: inout ForgottenWords
    ) {
        if let place = workspace.deviceNames.remove(stored.place.arrival),
            !forgotten.devices.contains(place)
        {
            forgotten.devices.append(place)
        }
        guard let author = workspace.evaluator.subject(ofGrant: stored.entry.grant) else { return }
        let fields = [ProfileChange.Field?.none] + ProfileChange.Field.allCases.map { .some($0) }
        for field in fields {
            let place = ProfileRegisters.Place(member: author, field: field)
            guard workspace.profileRegisters.remove(stored.place.link.id, at: place),
                forgotten.arrivals[place] == nil
            else { continue }
            forgotten.places.append(place)
            forgotten.arrivals[place] = stored.place.arrival
        }
    }

    /// Reads what counts in registers of which something was redacted.
    func follow(
        _ forgotten: ForgottenWords, in workspace: Workspace, isBackfill: Bool
    ) throws(StorageError) {
        for place in forgotten.devices { try follow(place, in: workspace) }
        for place in forgotten.places {
            guard let arrival = forgotten.arrivals[place] else { continue }
            try follow(
                place, in: workspace, arrival: arrival,
                .released(source: 0, isBackfill: isBackfill))
        }
    }

    /// Reads what counts in a register, after something else than the newest word may do so.
    private func follow(
        _ place: ProfileRegisters.Place, in workspace: Workspace, arrival: Int64,
        _ source: OperationSource
    ) throws(StorageError) {
        let value = try value(workspace.profileRegisters.current(place), at: place, workspace)
        take(value, at: place, in: workspace, arrival: arrival, source)
    }

    /// What a word says, opened from its operation.
    private func value(
        _ word: ProfileRegisters.Word?, at place: ProfileRegisters.Place, _ workspace: Workspace
    ) throws(StorageError) -> String? {
        guard let word, let stored = try store.operations.operation(word.arrival) else {
            return nil
        }
        tally.noteProfileRead()
        switch try content(of: stored, in: workspace) {
        case .profile(let name)? where place.field == nil: return name
        case .profileField(let change)? where change.field == place.field: return change.value
        default: return nil
        }
    }

    private func take(
        _ value: String?, at place: ProfileRegisters.Place, in workspace: Workspace,
        arrival: Int64, _ source: OperationSource
    ) {
        let isChanged: Bool
        if let field = place.field {
            isChanged = workspace.profileFields[place.member]?[field] != value
            guard isChanged else { return }
            workspace.profileFields[place.member, default: [:]][field] = value
        } else {
            guard workspace.profileNames[place.member] != value else { return }
            let before = workspace.displayName(of: place.member)
            workspace.profileNames[place.member] = value
            isChanged = workspace.displayName(of: place.member) != before
        }
        guard isChanged else { return }
        let edit = ProfileEdit(workspace: workspace.number, member: place.member)
        let known = profileEdits[edit]
        profileEdits[edit] = (
            known?.arrival ?? arrival, (known?.isBackfill ?? true) && source.isBackfill
        )
    }

    /// Tells whom something else is said about: once, whatever came in this turn.
    func tellProfileEdits() throws(StorageError) {
        guard !profileEdits.isEmpty, mayWrite else { return }
        let edits = profileEdits.sorted { $0.value.arrival < $1.value.arrival }
        profileEdits = [:]
        for (edit, cause) in edits {
            guard let workspace = workspaces[edit.workspace] else { continue }
            try record(
                .memberEdited, workspace: workspace, arrival: cause.arrival,
                extra: edit.member.bytes, isBackfill: cause.isBackfill)
        }
    }

    /// Forgets what is not stored any more, and tells nobody. What counts then is opened once.
    func forgetProfiles(
        storedAt gone: Set<Int64>, in workspace: Workspace
    ) throws(StorageError) {
        for place in workspace.profileRegisters.remove(storedAt: gone) {
            let value = try value(workspace.profileRegisters.current(place), at: place, workspace)
            if let field = place.field {
                workspace.profileFields[place.member, default: [:]][field] = value
            } else if workspace.profileNames[place.member] != value {
                workspace.profileNames[place.member] = value
            }
            if place.member == workspace.member { hiddenProfiles.insert(workspace.number) }
        }
        for arrival in gone.sorted() {
            guard let place = workspace.deviceNames.remove(arrival) else { continue }
            try follow(place, in: workspace)
        }
    }

    // MARK: What came beside a word that takes it back

    /// Has erased what the own member said in a field that is taken back or hidden: another own
    /// device may have written it when it had not heard of that, and whoever hid the field named
    /// what was known then.
    func noteHiddenFields() throws(StorageError) {
        guard !hiddenProfiles.isEmpty, home != nil, mayWrite else { return }
        for number in hiddenProfiles.sorted() {
            guard let workspace = workspaces[number] else { continue }
            for field in ProfileChange.Field.allCases {
                let place = ProfileRegisters.Place(member: workspace.member, field: field)
                guard workspace.profileRegisters.current(place)?.hasValue == false else { continue }
                for word in workspace.profileRegisters.values(place) {
                    lateWords.append(
                        LateWord(workspace: number, arrival: word.arrival, isOwn: true))
                }
            }
        }
        hiddenProfiles = []
    }

    // MARK: From nothing

    /// Folds the profile document from nothing: a verdict has changed.
    func reloadProfiles(of workspace: Workspace) throws(StorageError) {
        workspace.profileRegisters.clear()
        try loadProfiles(of: workspace)
    }

    /// Takes over what is stored, and tells nobody.
    func loadProfiles(of workspace: Workspace) throws(StorageError) {
        var devices: [(StoredOperation, DeviceID, String)] = []
        var found: [(StoredOperation, ProfileChange.Field?, Bool)] = []
        try store.operations.forEachOperation(
            in: workspace.profileDocument, of: workspace.number
        ) { (stored) throws(StorageError) in
            switch try content(of: stored, in: workspace) {
            case .profile(let name)? where (try? CheckedName.checkWire(name)) != nil:
                found.append((stored, nil, true))
            case .profileField(let change)?:
                found.append((stored, change.field, change.value != nil))
            case .device(let device, let name)?: devices.append((stored, device, name))
            default: break
            }
        }
        try loadDeviceNames(devices, of: workspace)
        for (stored, field, hasValue) in found {
            guard let author = workspace.evaluator.subject(ofGrant: stored.entry.grant),
                try store.view.deletion(of: stored.place.arrival) == nil
            else { continue }
            workspace.profileRegisters.take(
                .init(
                    id: stored.place.link.id, timestamp: stored.entry.timestamp,
                    arrival: stored.place.arrival, cited: stored.entry.dependencies.map(\.id),
                    hasValue: hasValue,
                    isValid: store.operations.isValid(
                        stored.place.sequence, in: stored.place.branch)),
                at: .init(member: author, field: field))
        }
        hiddenProfiles.insert(workspace.number)
        try showProfiles(of: workspace)
    }

    /// Every assignment of the names makes all that is derived from them anew, so there is one.
    private func showProfiles(of workspace: Workspace) throws(StorageError) {
        var names: [MemberID: String] = [:]
        var fields: [MemberID: [ProfileChange.Field: String]] = [:]
        for place in workspace.profileRegisters.places {
            guard
                let value = try value(
                    workspace.profileRegisters.current(place), at: place, workspace)
            else { continue }
            if let field = place.field {
                fields[place.member, default: [:]][field] = value
            } else {
                names[place.member] = value
            }
        }
        workspace.profileNames = names
        workspace.profileFields = fields
    }
}

extension Workspace {
    func forgetProfiles() {
        profileRegisters.clear()
        profileNames = [:]
        profileFields = [:]
    }
}
