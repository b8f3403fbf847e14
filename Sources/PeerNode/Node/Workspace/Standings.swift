import CRDTStore
import WorkspaceModel

/// Who is in a workspace, once it was worked out. Most operations leave that alone, and to work it
/// out goes through all of them.
struct Standings {
    var members: [MemberStanding]?
    /// The roles of those that were asked about; the inner `nil` for whoever is not in.
    var roles: [MemberID: Role?] = [:]
    /// The devices that are recovery phrases.
    var recoveryDevices: Set<DeviceID>?

    /// How often who is in was worked out: of everybody, and of somebody; for tests.
    struct Made {
        var whole = 0
        var single = 0
    }
}

extension Workspace.Derived {
    /// Keeps what does not change while nobody comes, goes, or gets another role or name.
    fileprivate mutating func keepPeople(of known: Self) {
        standings = known.standings
        names = known.names
        twins = known.twins
        goneNames = known.goneNames
        told = known.told
        company = known.company
        (channels, overview) = (known.channels, known.overview)
        privateErasures = known.privateErasures
    }
}

extension Workspace {
    /// Has an operation judged, and forgets what no longer follows.
    func add(_ operation: AuthOperation) throws(AuthError) -> AuthChange {
        let known = derived
        let change = try evaluator.add(operation)
        if !evaluator.changesStanding(change) { derived.keepPeople(of: known) }
        if change.becameInvalid.isEmpty, change.becameValid.allSatisfy({ $0 == operation.id }) {
            (derived.fields, derived.invites) = (known.fields, known.invites)
        }
        return change
    }

    /// Takes up what a judged operation says.
    func enter(_ record: AuthorityRecord, _ id: OperationID) {
        var known = derived
        authority.enter(record, id)
        // Names and phrases are found in what lets somebody in.
        if !record.payload.isEntrance { derived.keepPeople(of: known) }
        if !record.payload.isSetting { derived.fields = known.fields }
        derived.invites = known.invites
        // Else it would be copied.
        known.invites = nil
        derived.invites?.enter(record.payload, id, isValid: evaluator.isValid(id))
    }

    /// Called when keys or names changed: everybody stays in.
    func forgetDerived() {
        let known = derived.standings
        derived = Derived()
        derived.standings = known
    }

    /// The devices that are recovery phrases by what is valid: they write nothing from day to day.
    var recoveryDevices: Set<DeviceID> {
        if let known = derived.standings.recoveryDevices { return known }
        let found = Set(evaluator.boundDevices.filter(evaluator.isRecovery))
        derived.standings.recoveryDevices = found
        return found
    }

    /// Everybody who may act now, in the order of their ids.
    var members: [MemberStanding] {
        if let known = derived.standings.members { return known }
        standingsMade.whole &+= 1
        let members = evaluator.members.filter(isIn)
        derived.standings.members = members
        return members
    }

    /// Whether somebody with these devices is a member. A departure does not reach the recovery device,
    /// which is stronger than the device that wrote it; whoever has nothing but that left is out
    /// nevertheless.
    func isIn(_ standing: MemberStanding) -> Bool {
        evaluator.departure(of: standing.member) == nil
            || !standing.devices.allSatisfy(evaluator.isRecovery)
    }
}
