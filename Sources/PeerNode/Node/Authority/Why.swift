import CRDTStore
import WorkspaceModel

/// What permits or denies something, computed from the judged authority document: a pure function.
struct Why {
    let workspace: Workspace

    private var evaluator: AuthEvaluator { workspace.judged.evaluator }

    /// An operation of the authority document as a step.
    func step(_ id: OperationID) -> WhyObject.Step? { step(id, under: nil) }

    /// The same, except that for a channel's settings the ledger decides what counts.
    func step(_ id: OperationID, under ledger: ChannelLedger?) -> WhyObject.Step? {
        guard let record = workspace.authority[id] else { return nil }
        let author = author(of: id)
        let name = author.map(workspace.displayName(of:)) ?? "someone"
        var text = sentence(record.payload, by: name)
        let verdict = evaluator.verdict(on: id)
        var counts = verdict == .valid
        if !counts {
            text += "; without effect: " + reason(verdict)
        } else if let ledger, id != OperationID(sameBytesAs: ledger.channel),
            !evaluator.counts(id, in: ledger)
        {
            counts = false
            text += "; without effect: its author had no such right in the channel then"
        }
        return WhyObject.Step(
            operation: PublicID.operation(id), kind: record.payload.word,
            by: author.map { PersonObject(id: PublicID.member($0), name: name) },
            at: Int64(clamping: record.timestamp.milliseconds), valid: counts, text: text)
    }

    /// The member as whom an operation acts; for the root its first member.
    private func author(of id: OperationID) -> MemberID? {
        if case .create(let create)? = workspace.authority[id]?.payload { return create.member }
        return evaluator.author(of: id)
    }

    // MARK: Chains

    /// The operations that define a member's state, in causal order: admission, grants, devices,
    /// removals, and the invites they joined by.
    func chain(of member: MemberID) -> [OperationID] {
        var wanted: Set<OperationID> = []
        let devices = everDevices(of: member)
        for (id, record) in workspace.authority {
            switch record.payload {
            case .create(let create) where create.member == member: wanted.insert(id)
            case .admit(let joiner, _, _, _) where joiner.member == member:
                wanted.formUnion([id, joiner.invite])
                wanted.formUnion(revocations(ofInvite: joiner.invite))
            case .request(let joiner) where joiner.member == member: wanted.insert(id)
            case .grant(let grant) where grant.member == member: wanted.insert(id)
            // A transfer of the workspace also changes the role of its author.
            case .grant(let grant) where grant.drops != nil && evaluator.author(of: id) == member:
                wanted.insert(id)
            case .remove(let remove) where remove.member == member: wanted.insert(id)
            case .removeDevice(let device, _, _) where devices.contains(device): wanted.insert(id)
            case .addDevices where evaluator.author(of: id) == member:
                wanted.insert(id)
            case .leave where evaluator.author(of: id) == member:
                wanted.insert(id)
            default: break
            }
        }
        return ordered(wanted)
    }

    private func revocations(ofInvite invite: OperationID) -> [OperationID] {
        workspace.authorityOrder.filter {
            if case .revokeInvite(invite)? = workspace.authority[$0]?.payload {
                true
            } else {
                false
            }
        }
    }

    private func everDevices(of member: MemberID) -> Set<DeviceID> {
        Set(
            workspace.authorityOrder.filter { evaluator.subject(ofGrant: $0) == member }
                .flatMap { evaluator.devices(ofGrant: $0) })
    }

    /// The operations that define a channel's state: its creation, its settings, its end.
    func chain(of channel: DocumentID) -> [OperationID] {
        let wanted = workspace.authority.filter { id, record in
            switch record.payload {
            case .createDocument: DocumentID(sameBytesAs: id) == channel
            case .setDocument(let settings): settings.document == channel
            case .deleteDocument(let document, _): document == channel
            default: false
            }
        }
        return ordered(Set(wanted.map(\.key)))
    }

    /// In causal order, with the confirmations without which they would have no effect.
    private func ordered(_ ids: Set<OperationID>) -> [OperationID] {
        ids.union(ids.compactMap(evaluator.confirmation(keeping:)))
            .map { (evaluator.lamport(of: $0) ?? .max, $0) }.sorted { $0 < $1 }.map(\.1)
    }

    /// Why content does not count.
    func refusal(of operation: StoredOperation) -> String {
        let grant = operation.entry.grant
        let hits = evaluator.revocations(hittingGrant: grant, device: operation.log.device)
        let words = hits.prefix(3).map(PublicID.operation).joined(separator: ", ")
        if !words.isEmpty {
            return "\(words) cut it off, because the person who wrote that did not know it"
        }
        return reason(evaluator.verdict(on: grant))
    }

    // MARK: Actions

    /// The least role for what people ask about; `nil` for a word that means nothing here.
    static func leastRole(for action: String) -> Role? {
        switch action {
        case "send", "read", "join", "channel", "create": .member
        case "invite", "remove", "edit", "approve", "role", "rekey", "policy", "archive": .admin
        case "transfer", "delete", "successor": .owner
        default: nil
        }
    }

    /// Words that `--can` takes.
    static let actions =
        "send, read, channel, invite, approve, remove, role, edit, archive, policy, rekey, transfer, delete"

    /// The step that decides whether a member may do something.
    func decision(
        _ action: String, needing least: Role, of member: MemberID
    ) -> (answer: Bool, step: WhyObject.Step?) {
        let name = workspace.displayName(of: member)
        guard let standing = workspace.members.first(where: { $0.member == member }) else {
            let last = chain(of: member).last { evaluator.isValid($0) && isEnding($0) }
            guard let last, let step = step(last) else { return (false, nil) }
            return (false, step.saying("\(name) is no longer a member, so may not \(action)"))
        }
        let answer = standing.role <= least
        let text =
            answer
            ? "this gives \(name) the role \(standing.role.word), so they may \(action)"
            : "this gives \(name) only the role \(standing.role.word); "
                + "'\(action)' needs at least \(least.word)"
        return (answer, step(standing.grant)?.saying(text))
    }

    private func isEnding(_ id: OperationID) -> Bool {
        switch workspace.authority[id]?.payload {
        case .remove, .removeDevice, .leave: true
        default: false
        }
    }

    // MARK: Words

    /// Why an operation has no effect.
    func reason(_ verdict: AuthVerdict?) -> String {
        switch verdict {
        case .valid: "it is in effect"
        case .faulty(let fault): fault.sentence
        case .opaque: "this version does not know the feature it was written for"
        case .unsupported(let id): "it depends on \(PublicID.operation(id)), which has none"
        case .revoked(let id): "\(PublicID.operation(id)) revoked it"
        case nil: "it has not been judged yet"
        }
    }

    private func sentence(_ payload: AuthorityPayload, by name: String) -> String {
        func called(_ member: MemberID) -> String { workspace.displayName(of: member) }
        switch payload {
        case .create: return "\(name) created the workspace, and so owns it"
        case .invite(let invite):
            let people = invite.maximum == 1 ? "1 person" : "\(invite.maximum) people"
            return "\(name) created an invite for \(people) as \(invite.role.word)"
        case .request(let joiner):
            return "\(name) passed on a request from \(called(joiner.member))"
        case .admit(let joiner, _, _, _):
            var role = Role.member
            if case .invite(let invite)? = workspace.authority[joiner.invite]?.payload {
                role = invite.role
            }
            return "\(name) let \(called(joiner.member)) in as \(role.word), with the invite "
                + PublicID.invite(joiner.invite)
        case .addDevices(_, _, _, true): return "\(name) has a new recovery phrase"
        case .addDevices(let devices, _, _, _):
            return "\(name) added \(devices.count == 1 ? "a device" : "\(devices.count) devices")"
        case .grant(let grant) where grant.drops != nil && grant.role == .owner:
            return "\(name) handed the workspace over to \(called(grant.member)) "
                + "and became an admin"
        case .grant(let grant): return "\(name) made \(called(grant.member)) \(grant.role.word)"
        case .remove(let remove): return "\(name) removed \(called(remove.member))"
        case .removeDevice(let device, _, _):
            return "\(name) revoked the device \(PublicID.device(device))"
        case .revokeInvite(let invite):
            return "\(name) revoked the invite \(PublicID.invite(invite))"
        case .leave: return "\(name) left"
        case .recut: return "\(name) kept more of what a removal cut off"
        case .cutPart(let cuts) where cuts.isEmpty: return "\(name) noted what others had written"
        case .cutPart: return "\(name) listed what a removal keeps"
        case .confirm: return "\(name) confirmed that, so it stays though its author gave it up"
        case .createDocument: return "\(name) created the channel"
        case .setDocument(let settings): return "\(name) set " + fields(settings)
        case .deleteDocument: return "\(name) deleted the channel"
        case .setWorkspace: return "\(name) changed the workspace's settings"
        case .deleteWorkspace: return "\(name) deleted the workspace"
        case .rekey: return "\(name) made a new key"
        case .feature(let number): return "\(name) turned feature \(number) on"
        case .unknown(let type): return "\(name) wrote something of the unknown type \(type)"
        }
    }

    private func fields(_ settings: AuthorityPayload.DocumentSettings) -> String {
        var words: [String] = []
        if settings.name != nil { words.append("the channel's name") }
        if settings.topic != nil { words.append("the topic") }
        if settings.description != nil { words.append("the description") }
        if settings.image != nil { words.append("the picture") }
        if settings.copies != nil { words.append("how many devices keep its files") }
        if settings.owner != nil { words.append("the owner") }
        if settings.roles != nil { words.append("the roles") }
        if settings.history != nil { words.append("who can read the history") }
        if let archived = settings.archived {
            words.append(archived ? "the channel to archived" : "the channel to unarchived")
        }
        return words.isEmpty ? "nothing" : words.joined(separator: ", ")
    }
}

extension WhyObject.Step {
    /// The same step with other words.
    func saying(_ text: String) -> Self {
        Self(operation: operation, kind: kind, by: by, at: at, valid: valid, text: text)
    }
}

extension AuthFault {
    fileprivate var sentence: String {
        switch self {
        case .foreignDevice: "it names a device that does not belong to that member"
        case .deviceTaken: "it names a device that belongs to another member"
        case .notBound: "a signature or a member's id in it is wrong"
        case .rootCites: "a first operation depends on nothing, and its own device writes it"
        case .noGrant: "its author had no grant for that device"
        case .roleTooWeak: "its author's role is too weak for it"
        case .roleTooStrong: "its author may not give that role"
        case .ownSubject: "you cannot do this to yourself"
        case .noReference: "what it names did not exist"
        case .inviteUsedUp: "the invite was used up"
        case .inviteExpired: "the invite had expired"
        case .notRequested: "the invite requires a request, and there was none"
        case .returnNeedsAdmin: "only an admin can take back someone who was removed"
        case .tooManyRequests: "there were too many requests"
        case .ownerLeaves: "an owner must hand the workspace over before leaving"
        case .memberBound: "that person, or that device, was let in before"
        case .deviceBarred: "it names a device that its owner has revoked"
        case .noPlaceToTake: "only a recovery phrase can be followed by a new one"
        case .tooManyDevices: "its author has linked too many devices"
        case .unknownKey: "the key that it passes on did not exist"
        case .badTransfer:
            "a transfer must be by an owner, to a member, and keep devices of that owner"
        case .badConfirmation: "what it confirms did not exist, or cannot be confirmed"
        case .repeated: "they joined and left too often"
        case .unknownKind: "this version does not know its kind"
        }
    }
}
