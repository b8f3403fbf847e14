import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension Workspace {
    /// What is kept from one operation to the next and does not follow from all of them. What is kept then does.
    var staleDerivations: [String] {
        let people = (members, recoveryDevices)
        let channels = channelNames
        let (fields, invites) = (fields, invites)
        let twins = people.0.map { hasTwin($0.member) }
        judged.derived = .init()
        return [
            people == (members, recoveryDevices) ? nil : "who is in",
            channels == channelNames ? nil : "which channels there are",
            fields == self.fields ? nil : "its settings",
            invites == self.invites ? nil : "what came of invites",
            twins == people.0.map { hasTwin($0.member) } ? nil : "whose names look alike",
        ].compactMap { $0 }
    }
}

extension Workspace {
    /// What channels are called and shown as, and by what they are found.
    var channelNames: [String] {
        let index = channelIndex
        return zip(index.all, index.names).enumerated().map { place, channel in
            let (channel, name) = channel
            let found = [
                index.matching(name), index.matching(channel.name ?? ""),
                index.place(of: channel.publicID).map { [$0] } ?? [],
                index.called(channel.name ?? "").compactMap { index.place(of: $0.publicID) },
            ]
            return """
                \(place) \(channel.publicID) \(name) \(channel.name ?? "") \(channel.topic ?? "") \
                \(channel.isArchived) \(channel.privateMembership?.roles.count ?? 0) \(found) \
                \(index.channel(channel.number)?.publicID ?? "") \(hasTwin(channel))
                """
        }
    }
}

/// Reads one node's store and recomputes what is valid in it: every signature and every id from the
/// stored bytes, authority by the recursive definition, content by walking each branch back to what
/// the revocations keep. Uses none of the node's own verdicts.
struct SlowAudit {
    private let node: SimulatedNode
    private let core: NodeCore
    private let workspace: Workspace
    private var history = AuthHistory()
    private var keptTips: [OperationID: [CutEntry]] = [:]
    private(set) var problems: [String] = []

    init(_ node: SimulatedNode, seed: UInt64) throws {
        self.node = node
        core = try #require(node.host?.core)
        workspace = try #require(try core.membership.selectedWorkspace())
        try readAuthority()
        var generator = SeededGenerator(seed: seed)
        var definition = AuthDefinition(history, visitingWith: &generator)
        let valid = definition.validOperations()
        if valid != Set(workspace.judged.evaluator.validOperations) {
            let own = Set(workspace.judged.evaluator.validOperations)
            complain("holds \(own.subtracting(valid).count) authority operations too many valid")
            complain("holds \(valid.subtracting(own).count) authority operations wrongly void")
        }
        checkStandings()
        for channel in workspace.book.channels.keys.sorted() {
            try checkContent(of: channel, by: &definition)
        }
    }

    private mutating func complain(_ problem: String) {
        problems.append("node \(node.index) " + problem)
    }

    /// What is kept from one change to the next, against what follows from everything.
    private mutating func checkStandings() {
        for difference in workspace.staleDerivations { complain("has not heard " + difference) }
    }

    // MARK: Authority

    private mutating func readAuthority() throws {
        try core.turn.store.operations.forEachOperation(in: workspace.id, of: workspace.number) {
            (stored) throws(StorageError) in
            let header = try self.header(of: stored)
            guard let payload = try? AuthorityPayload(decoding: stored.entry.payload) else {
                return complain("stores authority that does not parse")
            }
            let isRoot = header.document == .zero
            history.append(
                AuthOperation(
                    id: stored.place.link.id, device: header.device,
                    incarnation: header.incarnation, sequence: header.sequence,
                    previous: header.previous, dependencies: header.dependencies.map(\.id),
                    timestamp: header.timestamp.rawValue, grant: isRoot ? nil : header.grant,
                    isWellBound: isWellBound(payload, by: header.device, under: header.grant),
                    action: payload.action, cuts: CutTable(payload.cuts),
                    introducedKey: payload.newKey, namedKey: payload.namedKey))
            keptTips[stored.place.link.id] = payload.cuts
            if !OperationSigning.verify(
                stored.entry.signature, of: stored.place.link.id, by: header.device)
            {
                complain("stores authority that nobody signed")
            }
        }
    }

    /// The signed fields by the stored bytes, whose hash has to be the stored id.
    private mutating func header(of stored: StoredOperation) throws(StorageError) -> OperationHeader
    {
        let entry = stored.entry
        let isRoot = stored.place.sequence == 0 && entry.grant == .zero
        let header = OperationHeader(
            kind: entry.kind, document: isRoot ? .zero : stored.log.document,
            device: stored.log.device, incarnation: stored.log.incarnation,
            sequence: stored.place.sequence,
            previous: try core.turn.store.operations.previous(of: stored.place),
            timestamp: entry.timestamp, grant: entry.grant, keyID: entry.keyID,
            dependencies: entry.dependencies, payloadLength: entry.payload.count,
            payloadHash: OperationSigning.hash(ofPayload: entry.payload))
        if OperationSigning.id(ofHeader: header.encoded) != stored.place.link.id {
            complain("stores an operation under a wrong id")
        }
        return header
    }

    /// Whether members are named after their keys and every new key has consented.
    private func isWellBound(
        _ payload: AuthorityPayload, by author: DeviceID, under grant: OperationID
    ) -> Bool {
        switch payload {
        case .create(let create):
            return belong(
                create.devices, to: create.member, salt: create.nonce,
                signing: statement(
                    1, [UInt8](repeating: 0, count: 32),
                    create.nonce + [UInt8](repeating: 0, count: 16), .zero, create.member,
                    create.devices))
        case .admit(let joiner, _, _, let asked):
            let request = asked.flatMap { workspace.authority[$0] }
            return isWellBound(joiner, before: request?.log.device ?? author)
        case .request(let joiner):
            return isWellBound(joiner, before: author)
        case .addDevices(let devices, _, _, _):
            guard let member = history.subject(of: grant) else { return false }
            let zeros = [UInt8](repeating: 0, count: 32)
            let said = statement(5, workspace.id.bytes, zeros, author, member, devices)
            return devices.allSatisfy { $0.device.signed(said, $0.signature) }
        default:
            return true
        }
    }

    private func isWellBound(
        _ joiner: AuthorityPayload.Joiner, before answerer: DeviceID
    ) -> Bool {
        guard case .invite(let invite)? = workspace.authority[joiner.invite]?.payload,
            let inviteKey = DeviceID(untrusted: invite.publicKey)
        else { return false }
        let proven =
            Array("wsx-inv1".utf8) + workspace.id.bytes + joiner.invite.bytes
            + joiner.member.bytes
            + Hash.personal("wsx-devs1", DeviceEntry.encoded(joiner.devices))
        guard inviteKey.signed(proven, joiner.proof) else { return false }
        let said = statement(
            joiner.answering == nil ? 3 : 4, workspace.id.bytes,
            (joiner.answering ?? joiner.invite).bytes, answerer, joiner.member, joiner.devices)
        guard joiner.answering == nil else {
            return joiner.devices.allSatisfy { $0.device.signed(said, $0.signature) }
        }
        return belong(
            joiner.devices, to: joiner.member, salt: workspace.id.bytes, signing: said)
    }

    /// What a device signs when it enters, by the words of PROTOCOL.md, 4.0.1.
    private func statement(
        _ type: UInt8, _ workspace: [UInt8], _ context: [UInt8], _ answerer: DeviceID,
        _ member: MemberID, _ devices: [DeviceEntry]
    ) -> [UInt8] {
        Array("wsx-dev2".utf8) + [type] + workspace + context + answerer.bytes + member.bytes
            + Hash.personal("wsx-devs2", DeviceEntry.encodedKeys(devices))
    }

    private func belong(
        _ devices: [DeviceEntry], to member: MemberID, salt: [UInt8], signing said: [UInt8]
    ) -> Bool {
        guard let first = devices.first, devices.count < 3 else { return false }
        let name = Hash.name("wsx-member", first.device.bytes + salt) as OperationID
        guard MemberID(prefixOf: name) == member else { return false }
        guard devices.count > 1 else { return first.device.signed(said, first.signature) }
        // The first of two is a recovery phrase, which vouches for one device, once.
        let certificate = Array("wsx-rec1".utf8) + first.agreementKey + devices[1].device.bytes
        return first.device.signed(certificate, first.signature)
            && first.device != devices[1].device
            && devices[1].device.signed(said, devices[1].signature)
    }

    // MARK: Content

    private struct Content {
        let id: OperationID
        let header: OperationHeader
        let payload: [UInt8]
    }

    /// Every stored message is shown if and only if it is valid.
    private mutating func checkContent(
        of channel: DocumentID, by definition: inout AuthDefinition
    ) throws {
        var found: [Content] = []
        try core.turn.store.operations.forEachOperation(in: channel, of: workspace.number) {
            (stored) throws(StorageError) in
            found.append(
                Content(
                    id: stored.place.link.id, header: try self.header(of: stored),
                    payload: stored.entry.payload))
        }
        let parents = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.header.previous) })
        var expected: [String] = []
        for content in found {
            let reached = definition.revocationsOfContent(
                under: content.header.grant, by: content.header.device)
            let isKept = reached?.allSatisfy { revocation in
                (keptTips[revocation] ?? []).contains { tip in
                    tip.log == log(of: content) && isAtOrBefore(content.id, tip, parents)
                }
            }
            if isKept == true, let text = text(of: content) { expected.append(text) }
        }
        let shown = Scenes.texts(of: PublicID.channel(channel), on: node).sorted()
        if shown != expected.sorted() {
            complain("shows \(shown) where \(expected.sorted()) is valid")
        }
    }

    private func log(of content: Content) -> LogName {
        LogName(
            document: content.header.document, device: content.header.device,
            incarnation: content.header.incarnation)
    }

    /// Whether the operation is the one that a tip names, or comes before it on its branch.
    private func isAtOrBefore(
        _ id: OperationID, _ tip: CutEntry, _ parents: [OperationID: OperationID?]
    ) -> Bool {
        var current = parents.keys.first { Identifier16(prefixOf: $0) == tip.id }
        while let place = current {
            if place == id { return true }
            current = parents[place] ?? nil
        }
        return false
    }

    private func text(of content: Content) -> String? {
        guard let keyID = content.header.keyID, let key = workspace.secrets.keys[keyID],
            let plaintext = SealedPayload.open(
                content.payload, under: key.documentKey(for: content.header.document),
                associatedData: content.header.associatedData),
            case .message(let message)? = try? ContentPayload(decoding: plaintext)
        else { return nil }
        return message.text
    }
}
