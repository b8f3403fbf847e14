import Foundation
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// A random history with the evaluator's verdicts, for an implementation in another language.
///
/// An operation contains only what section 4 of PROTOCOL.md is about: no names, boxes or
/// signatures, only whether it satisfies the rules about signatures. So the reader judges the rules
/// alone, and ids and ranks follow from the seed. Bytes are hexadecimal.
struct ToldHistory: Encodable {
    /// One operation and the verdict on it.
    struct Operation: Encodable {
        let id: String
        let device: String
        let incarnation: UInt32
        let sequence: UInt64
        let previous: String?
        let dependencies: [String]
        let time: UInt64
        let grant: String?
        /// and the box keys of A-14.
        let isWellBound: Bool
        let introduces: String?
        let names: String?
        /// For an adddev: a new recovery phrase.
        let takesPlace: Bool
        let action: ToldAction
        /// "valid", "void" or "fault".
        let verdict: String
        /// The evaluator's explanation, for reading about a disagreement.
        let reason: String
    }

    /// V-2: the member and role of a device.
    struct Standing: Encodable, Equatable {
        let member: String
        let role: UInt64
        let grant: String
    }

    /// V-5: what hits the content of a device under a grant, in documents where members write and
    /// where guests do; `nil` if nothing that it writes there is valid.
    struct Content: Encodable {
        let grant: String
        let device: String
        let members: [String]?
        let guests: [String]?
    }

    let name: String
    let operations: [Operation]
    /// Every device that is listed anywhere; `nil` for one that is not in.
    let standings: [String: Standing?]
    /// The strongest role of every member who is in.
    let roles: [String: UInt64]
    let contents: [Content]

    /// The evaluator's verdicts on the operations, which are in causal order.
    init(_ name: String, _ operations: [AuthOperation]) throws {
        self.name = name
        var evaluator = AuthEvaluator()
        var faults: [OperationID: String] = [:]
        for operation in operations {
            do throws(AuthError) {
                _ = try evaluator.add(operation)
            } catch {
                switch error {
                case .faulty(let fault): faults[operation.id] = fault.rawValue
                case .unknownReference: faults[operation.id] = "cites what was refused"
                default: throw error
                }
            }
        }
        self.operations = operations.map { Self.told($0, evaluator, fault: faults[$0.id]) }
        var history = AuthHistory()
        for operation in operations { history.append(operation) }
        let devices = Set(operations.flatMap { history.devices(of: $0) })
        standings = Dictionary(
            uniqueKeysWithValues: devices.map { device in
                (device.bytes.hex, evaluator.standing(of: device))
            })
        roles = Dictionary(
            uniqueKeysWithValues: evaluator.members.map { ($0.member.bytes.hex, $0.role.rawValue) })
        contents = operations.filter { evaluator.contains($0.id) }.flatMap { grant in
            Set(history.devices(of: grant)).sorted().map { device in
                Content(
                    grant: grant.id.hex, device: device.bytes.hex,
                    members: evaluator.ends(grant.id, device, .member),
                    guests: evaluator.ends(grant.id, device, .guest))
            }
        }
    }

    private static func told(
        _ operation: AuthOperation, _ evaluator: AuthEvaluator, fault: String?
    ) -> Operation {
        let isValid = evaluator.isValid(operation.id)
        let reason = fault ?? evaluator.verdict(on: operation.id).map { "\($0)" } ?? "not taken"
        return Operation(
            id: operation.id.hex, device: operation.device.bytes.hex,
            incarnation: operation.incarnation, sequence: operation.sequence,
            previous: operation.previous?.hex, dependencies: operation.dependencies.map(\.hex),
            time: operation.timestamp, grant: operation.grant?.hex,
            isWellBound: operation.isWellBound, introduces: operation.introducedKey?.bytes.hex,
            names: operation.namedKey?.bytes.hex, takesPlace: operation.takesPlace,
            action: ToldAction(operation.action),
            verdict: fault != nil ? "fault" : isValid ? "valid" : "void", reason: reason)
    }

    /// Writes it into a folder, under its name.
    func write(into folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: folder.appendingPathComponent("\(name).json"))
    }
}

/// What an operation does; fields that an action does not use are absent.
struct ToldAction: Encodable {
    let kind: String
    var member: String?
    var devices: [String]?
    var drops: [String]?
    var role: UInt64?
    var replaces: Bool?
    var uses: UInt64?
    var expires: UInt64?
    var approve: Bool?
    /// The operation that it names: an invite, a revocation, the wsset that allows an invite.
    var named: String?
    /// The request that an admit answers, or the end that a request answers.
    var answered: String?
    var device: String?
    var right: UInt64?
    var isKnown: Bool?
    var confirmed: [String]?

    init(_ action: AuthAction) {
        kind = String("\(action)".prefix { $0 != "(" })
        switch action {
        case .create(let member, let devices):
            (self.member, self.devices) = (member.bytes.hex, devices.map(\.bytes.hex))
        case .invite(let terms):
            (role, uses, expires) = (terms.role.rawValue, terms.uses, terms.expires)
            (approve, named) = (terms.needsApproval, terms.policy?.hex)
        case .request(let invite, let member, let devices, let answered),
            .admit(let invite, let member, let devices, let answered):
            (self.member, self.devices) = (member.bytes.hex, devices.map(\.bytes.hex))
            (named, self.answered) = (invite.hex, answered?.hex)
        case .addDevices(let devices): self.devices = devices.map(\.bytes.hex)
        case .grant(let words):
            (member, devices) = (words.member.bytes.hex, words.devices.map(\.bytes.hex))
            (drops, role) = (words.drops?.map(\.bytes.hex), words.role.rawValue)
            replaces = words.replaces
        case .remove(let member): self.member = member.bytes.hex
        case .removeDevice(let device): self.device = device.bytes.hex
        case .revokeInvite(let other), .recut(let other): named = other.hex
        case .setWorkspace(let right): self.right = right?.rawValue
        case .feature(let isKnown): self.isKnown = isKnown
        case .confirm(let operations): confirmed = operations.map(\.hex)
        default: break
        }
    }
}

extension AuthEvaluator {
    /// V-2: by the strongest grant in force, with what transfers leave of its role (V-3).
    fileprivate func standing(of device: DeviceID) -> ToldHistory.Standing? {
        guard let grant = bestGrant(of: device),
            let member = subject(ofGrant: grant, device: device),
            let rank = standing(ofGrant: grant, device: device)
        else { return nil }
        return ToldHistory.Standing(
            member: member.bytes.hex, role: UInt64(max(rank.level, 0)), grant: grant.hex)
    }

    /// What hits the content of a device under a grant, where nothing has cuts.
    fileprivate func ends(_ grant: OperationID, _ device: DeviceID, _ least: Role) -> [String]? {
        guard let index = indices[grant], records[index].isValid,
            let role = records[index].gives.role, role <= least,
            let exposure = verdicts.contentExposure(index, device)
        else { return nil }
        return ends(ofContent: exposure, leastRole: least).map { records[$0].operation.id.hex }
            .sorted()
    }
}

extension OperationID {
    fileprivate var hex: String { bytes.hex }
}

extension Sequence<UInt8> {
    fileprivate var hex: String { map { String(format: "%02x", $0) }.joined() }
}
