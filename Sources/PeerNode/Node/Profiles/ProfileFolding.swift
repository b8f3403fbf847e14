import CRDTStore
import WorkspaceModel

/// Folds what members say about themselves from the profile document. A pure fold, in memory: no
/// table contains what a passphrase protects.
extension Profiles {
    /// Somebody about whom something else is said than before, or whose device is called something
    /// else, told at the end of the turn.
    struct ProfileEdit: Hashable {
        let workspace: Int64
        let member: MemberID
        /// The one that has another name; `nil` where it is about the member.
        let device: DeviceID?
    }

    /// Folds what a member says about themselves, or calls a device.
    ///
    /// - Parameter value: the name or the field; `nil` takes the field back.
    func fold(
        _ value: String?, at place: ProfileRegisters.Place, _ word: ProfileRegisters.Assertion,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        // A redacted operation has no value, whether or not its payload is here.
        guard try store.view.redactions.deletion(of: word.arrival) == nil else { return }
        let before = workspace.people.registers.current(place)?.id
        workspace.people.registers.take(word, at: place)
        if place.member == workspace.member { hiddenProfiles.insert(workspace.number) }
        guard let now = workspace.people.registers.current(place)?.id, now != before else {
            // It may have lost its verdict.
            if workspace.people.registers.current(place)?.id != before {
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

    /// Registers with a redacted operation, in order, each with the arrival number of the first
    /// one.
    struct RedactedRegisters {
        fileprivate var places: [ProfileRegisters.Place] = []
        fileprivate var arrivals: [ProfileRegisters.Place: Int64] = [:]
    }

    /// Drops an operation that was redacted. The values that count then are read once for all of
    /// them.
    func forgetProfile(
        _ stored: StoredOperation, in workspace: Workspace, _ forgotten: inout RedactedRegisters
    ) {
        let arrival = stored.place.arrival
        if workspace.people.attestations.remove(storedAt: arrival) {
            return noteAttestations(of: workspace, because: .ourselves)
        }
        guard let place = workspace.people.registers.remove(storedAt: arrival),
            forgotten.arrivals[place] == nil
        else { return }
        forgotten.places.append(place)
        forgotten.arrivals[place] = arrival
    }

    /// Reads the effective values of registers with a redacted operation.
    func follow(
        _ forgotten: RedactedRegisters, in workspace: Workspace, isBackfill: Bool
    ) throws(StorageError) {
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
        let value = try value(workspace.people.registers.current(place), at: place, workspace)
        take(value, at: place, in: workspace, arrival: arrival, source)
    }

    /// The value of an assertion, opened from its operation.
    func value(
        _ word: ProfileRegisters.Assertion?, at place: ProfileRegisters.Place,
        _ workspace: Workspace
    ) throws(StorageError) -> String? {
        guard let word, let stored = try store.operations.operation(word.arrival) else {
            return nil
        }
        turn.tally.noteProfileRead()
        let said = try core.keys.content(of: stored, in: workspace)?.aboutOneself
        return said?.subject == place.subject ? said?.value : nil
    }

    private func take(
        _ value: String?, at place: ProfileRegisters.Place, in workspace: Workspace,
        arrival: Int64, _ source: OperationSource
    ) {
        guard workspace.show(value, at: place) else { return }
        noteEdit(
            of: place.member, device: place.subject.device, in: workspace, arrival: arrival,
            isBackfill: source.isBackfill)
    }

    /// Schedules a report at the end of the turn that a profile has changed.
    func noteEdit(
        of member: MemberID, device: DeviceID? = nil, in workspace: Workspace, arrival: Int64,
        isBackfill: Bool
    ) {
        let edit = ProfileEdit(workspace: workspace.number, member: member, device: device)
        let known = profileEdits[edit]
        profileEdits[edit] = (
            known?.arrival ?? arrival, (known?.isBackfill ?? true) && isBackfill
        )
    }

    /// Reports changed profiles and device names: once each, whatever arrived in this turn.
    func tellProfileEdits() throws(StorageError) {
        try tellAttestations()
        guard !profileEdits.isEmpty, mayWrite else { return }
        let edits = profileEdits.sorted { $0.value.arrival < $1.value.arrival }
        profileEdits = [:]
        for (edit, cause) in edits {
            guard let workspace = core.workspaces[edit.workspace] else { continue }
            let renamed = edit.device.map(\.bytes)
            try turn.record(
                renamed == nil ? .memberEdited : .deviceRenamed, workspace: workspace.number,
                arrival: cause.arrival, extra: (renamed ?? []) + edit.member.bytes,
                isBackfill: cause.isBackfill)
        }
    }

    /// Drops operations that are no longer stored, without a report. The values that count then are
    /// opened once.
    func forgetProfiles(
        storedAt gone: Set<Int64>, in workspace: Workspace
    ) throws(StorageError) {
        for arrival in gone { _ = workspace.people.attestations.remove(storedAt: arrival) }
        for place in workspace.people.registers.remove(storedAt: gone) {
            let value = try value(workspace.people.registers.current(place), at: place, workspace)
            _ = workspace.show(value, at: place)
            if place.member == workspace.member { hiddenProfiles.insert(workspace.number) }
        }
    }

    // MARK: What came beside a word that takes it back

    /// What the local member said in fields that are cleared or hidden, and attestations that were
    /// withdrawn, by workspace and arrival number, to be erased: another device of theirs may have
    /// written it before it knew, and the author who hid the field named only what was known then.
    func takeHidden() throws(StorageError) -> [(workspace: Int64, arrival: Int64)] {
        var hidden = try withdrawn()
        guard !hiddenProfiles.isEmpty, home != nil, mayWrite else { return hidden }
        for number in hiddenProfiles.sorted() {
            guard let workspace = core.workspaces[number] else { continue }
            for field in ProfileChange.Field.allCases {
                let place = ProfileRegisters.Place(
                    member: workspace.member, subject: .field(field))
                guard workspace.people.registers.current(place)?.hasValue == false else { continue }
                for word in workspace.people.registers.values(place) {
                    hidden.append((number, word.arrival))
                }
            }
        }
        hiddenProfiles = []
        return hidden
    }

    // MARK: Writing

    /// Writes an assertion of the local member that replaces the current one.
    ///
    /// - Returns: whether this device may write.
    func authorProfile(
        _ content: ContentPayload, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let (subject, _) = content.aboutOneself else { return false }
        let place = ProfileRegisters.Place(member: workspace.member, subject: subject)
        let count = workspace.people.registers.heads(place).count
        return try write(over: count) { made in
            workspace.people.registers.current(place)?.id == made
        } _: { () throws(StorageError) in
            let words = workspace.people.registers.whatToCite(place)
            let overwritten = try references(to: words.map(\.arrival))
            return try core.privates.authorContent(
                content, to: workspace.profileDocument, in: workspace, overwriting: overwritten)?.id
        }
    }

    /// As ``authorProfile(_:in:)``, for a command.
    func sayOfOneself(_ content: ContentPayload, in workspace: Workspace) throws(NodeError) {
        if let (subject, _) = content.aboutOneself {
            try refuseOverruled(subject, in: workspace)
        }
        let isWritten = try stored { () throws(StorageError) in
            try authorProfile(content, in: workspace)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    /// Refuses to write a profile field of the local member that would not count.
    func refuseOverruled(
        _ subject: ProfileRegisters.Subject, in workspace: Workspace
    ) throws(NodeError) {
        let place = ProfileRegisters.Place(member: workspace.member, subject: subject)
        try refuseOverruled(workspace.people.registers.heads(place).count)
    }

    // MARK: From nothing

    /// Folds the profile document from nothing: a verdict has changed.
    func reloadProfiles(of workspace: Workspace) throws(StorageError) {
        workspace.people.registers.clear()
        let told = workspace.people.toldAttestations
        workspace.people.attestations = AttestationBook()
        try loadProfiles(of: workspace)
        // A value that counts by the new verdicts is news if there was a report before; nothing is
        // while the store is rebuilt.
        guard !turn.isBuilding, let told else { return }
        workspace.people.toldAttestations = told
        noteAttestations(of: workspace, because: .ourselves)
    }

    /// Takes over what is stored, and tells nobody.
    func loadProfiles(of workspace: Workspace) throws(StorageError) {
        workspace.people.formerNames = OpenedFormerNames()
        var found: [(StoredOperation, ProfileRegisters.Subject, Bool)] = []
        var attested: [(StoredOperation, Attestation)] = []
        try store.operations.forEachOperation(
            in: workspace.profileDocument, of: workspace.number
        ) { (stored) throws(StorageError) in
            let content = try core.keys.content(of: stored, in: workspace)
            if let (subject, value) = content?.aboutOneself {
                found.append((stored, subject, value != nil))
            } else if let said = content?.attested {
                attested.append((stored, said))
            }
        }
        try loadAttestations(attested, of: workspace)
        for (stored, subject, hasValue) in found {
            guard let author = workspace.judged.subject(ofGrant: stored.entry.grant),
                try store.view.redactions.deletion(of: stored.place.arrival) == nil
            else { continue }
            workspace.people.registers.take(
                .init(
                    id: stored.place.link.id, timestamp: stored.entry.timestamp,
                    arrival: stored.place.arrival, cited: stored.entry.dependencies.map(\.id),
                    hasValue: hasValue,
                    isValid: store.operations.isValid(
                        stored.place.sequence, in: stored.place.branch)),
                at: .init(member: author, subject: subject))
        }
        hiddenProfiles.insert(workspace.number)
        try showProfiles(of: workspace)
    }

    /// Every assignment of the names recomputes everything derived from them, so there is one.
    private func showProfiles(of workspace: Workspace) throws(StorageError) {
        var names: [MemberID: String] = [:]
        var fields: [MemberID: [ProfileChange.Field: String]] = [:]
        workspace.people.deviceNames = [:]
        for place in workspace.people.registers.places {
            guard
                let value = try value(
                    workspace.people.registers.current(place), at: place, workspace)
            else { continue }
            switch place.subject {
            case .name: names[place.member] = value
            case .field(let field): fields[place.member, default: [:]][field] = value
            case .device: workspace.people.deviceNames[place] = value
            }
        }
        workspace.people.profileNames = names
        workspace.people.fields = fields
        workspace.people.pictureEdits += 1
    }
}

extension ContentPayload {
    /// What its author says about themselves, or calls a device; `nil` for anything else, and for
    /// an invalid name.
    var aboutOneself: (subject: ProfileRegisters.Subject, value: String?)? {
        switch self {
        case .profile(let name) where Self.isName(name): (.name, name)
        case .profileField(let change): (.field(change.field), change.value)
        case .device(let device, let name) where Self.isName(name): (.device(device), name)
        default: nil
        }
    }

    private static func isName(_ text: String) -> Bool {
        (try? CheckedName.checkWire(text)) != nil
    }
}

extension Workspace {
    func forgetProfiles() {
        people.registers.clear()
        people.formerNames = OpenedFormerNames()
        people.profileNames = [:]
        people.fields = [:]
        people.pictureEdits += 1
        people.deviceNames = [:]
        people.attestations = AttestationBook()
    }

    /// The name that a device's own member has given it.
    func deviceName(_ device: DeviceID) -> String? {
        owner(of: device).flatMap {
            people.deviceNames[.init(member: $0, subject: .device(device))]
        }
    }

    /// Has what counts in a register shown.
    ///
    /// - Returns: whether something else is shown of the member, or of one of their devices.
    fileprivate func show(_ value: String?, at place: ProfileRegisters.Place) -> Bool {
        switch place.subject {
        case .name:
            guard people.profileNames[place.member] != value else { return false }
            let before = displayName(of: place.member)
            people.profileNames[place.member] = value
            return displayName(of: place.member) != before
        case .field(let field):
            guard people.fields[place.member]?[field] != value else { return false }
            people.fields[place.member, default: [:]][field] = value
            if field == .image { people.pictureEdits += 1 }
            return true
        case .device(let device):
            guard people.deviceNames[place] != value else { return false }
            people.deviceNames[place] = value
            // A name for another member's device is shown to nobody.
            return owner(of: device) == place.member
        }
    }
}
