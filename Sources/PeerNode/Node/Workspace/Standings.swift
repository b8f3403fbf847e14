import CRDTStore
import WorkspaceModel

/// A cache of who is in a workspace. Most operations do not change that, and computing it scans all
/// of them.
struct Standings {
    var members: [MemberStanding]?
    /// The roles of those that were asked about; the inner `nil` for a non-member.
    var roles: [MemberID: Role?] = [:]
    /// The devices that are recovery phrases.
    var recoveryDevices: Set<DeviceID>?

    /// How often membership was computed: of everybody, and of one person; for tests.
    struct Made {
        var whole = 0
        var single = 0
    }
}

extension Workspace {
    /// Takes up what a judged operation says.
    func enter(_ record: AuthorityRecord, _ id: OperationID) {
        var known = judged.derived
        authority.enter(record, id)
        // Names and phrases are found in what lets somebody in.
        if !record.payload.isEntrance { judged.derived.keepPeople(of: known) }
        if !record.payload.isSetting { judged.derived.fields = known.fields }
        judged.derived.invites = known.invites
        // Else it would be copied.
        known.invites = nil
        judged.derived.invites?.enter(record.payload, id, isValid: judged.evaluator.isValid(id))
    }

    /// The devices that are recovery phrases by what is valid: they write nothing from day to day.
    var recoveryDevices: Set<DeviceID> {
        if let known = judged.derived.standings.recoveryDevices { return known }
        let found = Set(judged.evaluator.boundDevices.filter(judged.evaluator.isRecovery))
        judged.derived.standings.recoveryDevices = found
        return found
    }

    /// Everybody who may act now, in the order of their ids.
    var members: [MemberStanding] {
        if let known = judged.derived.standings.members { return known }
        judged.standingsMade.whole &+= 1
        let members = judged.evaluator.members.filter(isIn)
        judged.derived.standings.members = members
        return members
    }

    /// Whether somebody with these devices is a member. A departure does not reach the recovery
    /// device, which is stronger than the device that wrote it; a person who has only that device
    /// left is out nevertheless.
    func isIn(_ standing: MemberStanding) -> Bool {
        judged.evaluator.departure(of: standing.member) == nil
            || !standing.devices.allSatisfy(judged.evaluator.isRecovery)
    }
}
