import CRDTStore
import WorkspaceModel

/// Who is in a workspace, once it was worked out. Most operations leave that alone, and to work it
/// out goes through all of them.
struct Standings {
    var members: [MemberStanding]?
    /// The devices that are recovery phrases.
    var recoveryDevices: Set<DeviceID>?
}

extension Workspace {
    /// Has an operation judged, and forgets what no longer follows.
    func add(_ operation: AuthOperation) throws(AuthError) -> AuthChange {
        let known = derived.standings
        let change = try evaluator.add(operation)
        if !evaluator.changesStanding(change) { derived.standings = known }
        return change
    }

    /// Takes up what a judged operation says.
    func enter(_ record: AuthorityRecord, _ id: OperationID) {
        let known = derived.standings
        authority[id] = record
        authorityOrder.append(id)
        switch record.payload {
        // Phrases are found in these.
        case .create, .admit: break
        default: derived.standings = known
        }
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
        var found: Set<DeviceID> = []
        for (id, record) in authority where evaluator.isValid(id) {
            switch record.payload {
            case .create(let create):
                Binding.recoveryDevice(of: create.devices).map { _ = found.insert($0) }
            case .admit(let joiner, _, _, _):
                Binding.recoveryDevice(of: joiner.devices).map { _ = found.insert($0) }
            default: continue
            }
        }
        derived.standings.recoveryDevices = found
        return found
    }

    /// Everybody who may act now, in the order of their ids.
    var members: [MemberStanding] {
        if let known = derived.standings.members { return known }
        let members = evaluator.members.filter { standing in
            !standing.devices.allSatisfy(recoveryDevices.contains)
                || departure(of: standing.member) == nil
        }
        derived.standings.members = members
        return members
    }
}
