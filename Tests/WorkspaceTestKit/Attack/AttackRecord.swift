import CRDTStore
public import WorkspaceModel

/// A person in the world of an attack.
public struct AttackPerson: Sendable {
    /// What the report calls them.
    public let name: String
    /// How the workspace names them.
    public let member: MemberID
    /// What they hold, the strongest first.
    public var devices: [DeviceID]
    /// Whether they follow the rules.
    public let isHonest: Bool
}

/// The end of a membership, device or role, decided by an honest person.
public struct AttackEnd: Sendable {
    /// What kinds there are.
    public enum Kind: Sendable {
        case revoked, removed, left, demoted(Role)
        /// By a device that is not the person's strongest: what a stronger one signs goes on, and
        /// nobody is asked about that person any more.
        case leftByYounger
    }
    /// Which it is.
    public let kind: Kind
    /// The operation.
    public let operation: OperationID
    /// Whose.
    public let person: String
    /// What the person, or of a revoked device the finder, holds.
    public let devices: [DeviceID]
}

/// The events of one attack: enough to judge it again, also without some of them.
public struct AttackRecord: Sendable {
    /// In the order of writing.
    public var written: [AttackWritten] = []
    /// Who was there.
    public var people: [String: AttackPerson] = [:]
    /// What ended.
    public var ends: [AttackEnd] = []
    /// The devices whose secrets the attackers hold.
    public var secrets: Set<DeviceID> = []
    /// Whether an admin, in force, is among the attackers.
    public var hasAdmin = false
    /// Whether nobody has seen that a device of the owner's was stolen: then attackers are an owner,
    /// weaker than the honest one.
    public var hasOwner = false
    /// The transfers of somebody honest.
    public var transfers: Set<OperationID> = []
    /// The seed.
    public var seed: UInt64 = 0

    var byID: [OperationID: AttackWritten] {
        Dictionary(uniqueKeysWithValues: written.map { ($0.operation.id, $0) })
    }

    /// The same without one operation: what cited it cites what it cited.
    func dropping(_ index: Int) -> AttackRecord {
        var rest = self
        let gone = rest.written.remove(at: index).operation
        let cited = gone.dependencies + (gone.previous.map { [$0] } ?? [])
        for place in rest.written.indices {
            var written = rest.written[place]
            written.known.remove(gone.id)
            written.operation = written.operation.passing(over: gone, citing: cited)
            rest.written[place] = written
        }
        rest.ends.removeAll { $0.operation == gone.id }
        return rest
    }

    /// What would have happened without attackers.
    var honestly: AttackRecord {
        var rest = self
        while let index = rest.written.lastIndex(where: { !$0.isHonest }) {
            rest = rest.dropping(index)
        }
        return rest
    }

    /// What happened, one line for each operation.
    public func story(judgedBy judge: some AuthJudge) -> String {
        var names: [OperationID: String] = [:]
        for (index, written) in written.enumerated() { names[written.operation.id] = "#\(index)" }
        return written.map { written in
            let operation = written.operation
            let id = operation.id
            let verdict = !judge.contains(id) ? "REFUSED" : judge.isValid(id) ? "valid" : "void"
            let cited = (operation.dependencies + [operation.previous].compactMap { $0 })
                .compactMap { names[$0] }.sorted().joined(separator: " ")
            let grant = operation.grant.flatMap { names[$0] } ?? "-"
            let honest = written.isHonest ? "" : "!"
            return "\(names[id] ?? "") \(honest)\(written.author) by \(name(operation.device))"
                + " under \(grant) after [\(cited)] \(said(operation.action, names)): \(verdict)"
        }.joined(separator: "\n")
    }

    private func name(_ device: DeviceID) -> String {
        for person in people.values.sorted(by: { $0.name < $1.name }) {
            if let index = person.devices.firstIndex(of: device) {
                return "\(person.name).\(index)"
            }
        }
        return "d\(device.bytes[0])"
    }

    private func name(_ member: MemberID) -> String {
        people.values.filter { $0.member == member }.map(\.name).min() ?? "m\(member.bytes[0])"
    }

    private func said(_ action: AuthAction, _ names: [OperationID: String]) -> String {
        func list(_ devices: [DeviceID]) -> String { "\(devices.map { name($0) })" }
        switch action {
        case .create: return "create"
        case .invite(let terms): return "invite(\(terms.role), \(terms.uses))"
        case .request(let invite, let member, let devices, let end):
            return "request(\(names[invite] ?? "?"), \(name(member)), \(list(devices)), "
                + "\(end.flatMap { names[$0] } ?? "-"))"
        case .admit(let invite, let member, let devices, let request):
            return "admit(\(names[invite] ?? "?"), \(name(member)), \(list(devices)), "
                + "\(request.flatMap { names[$0] } ?? "-"))"
        case .addDevices(let devices): return "adddev(\(list(devices)))"
        case .grant(let words):
            return "grant(\(name(words.member)), \(list(words.devices)), \(words.role)"
                + (words.replaces ? ", replaces" : "")
                + (words.drops.map { ", drops \(list($0))" } ?? "") + ")"
        case .remove(let member): return "remove(\(name(member)))"
        case .removeDevice(let device): return "rmdev(\(name(device)))"
        case .revokeInvite(let invite): return "rvinv(\(names[invite] ?? "?"))"
        case .recut(let other): return "recut(\(names[other] ?? "?"))"
        default: return "\(action)"
        }
    }
}

extension AuthOperation {
    /// The same, in a history in which `gone` was never written.
    func passing(over gone: AuthOperation, citing cited: [OperationID]) -> AuthOperation {
        let isBehind =
            device == gone.device && incarnation == gone.incarnation
            && sequence > gone.sequence
        var deps = Set(dependencies)
        if deps.remove(gone.id) != nil { deps.formUnion(cited) }
        if previous == gone.id { deps.formUnion(gone.dependencies) }
        let before = previous == gone.id ? gone.previous : previous
        before.map { _ = deps.remove($0) }
        return AuthOperation(
            id: id, device: device, incarnation: incarnation,
            sequence: isBehind ? sequence - 1 : sequence, previous: before,
            dependencies: deps.sorted(), timestamp: timestamp, grant: grant,
            isWellBound: isWellBound, action: action, cuts: cuts, introducedKey: introducedKey,
            namedKey: namedKey)
    }
}
