import CRDTStore
import WorkspaceModel

/// The choices of authors and forgers.
extension AuthFuzzer {
    // MARK: Signatures

    mutating func sign(_ consent: Consent) { signatures.insert(consent) }

    /// Whether every device that the action binds has signed that.
    func isSigned(_ action: AuthAction, by author: DeviceID, under grant: OperationID?) -> Bool {
        switch action {
        case .request(let invite, let member, let devices, let end):
            return hasForm(devices, atMost: end == nil ? 2 : 16)
                && signatures.contains(
                    Consent(
                        context: end ?? invite, answerer: author, member: member, devices: devices))
        case .admit(let invite, let member, let devices, let request):
            let answerer = request.flatMap { history[$0]?.device } ?? author
            return hasForm(devices, atMost: 2)
                && signatures.contains(
                    Consent(context: invite, answerer: answerer, member: member, devices: devices))
        case .addDevices(let devices):
            guard let member = history.subject(of: grant, by: author) else { return false }
            return hasForm(devices, atMost: 1)
                && signatures.contains(
                    Consent(context: .zero, answerer: author, member: member, devices: devices))
        default:
            return true
        }
    }

    private func hasForm(_ devices: [DeviceID], atMost count: Int) -> Bool {
        !devices.isEmpty && devices.count <= count && Set(devices).count == devices.count
    }

    /// Has the holders sign, if they would.
    private mutating func ask(
        _ devices: [DeviceID], to be: MemberID, context: OperationID, answerer: DeviceID
    ) {
        guard sharesDevices || devices.allSatisfy({ holder[$0] == be }) else { return }
        sign(Consent(context: context, answerer: answerer, member: be, devices: devices))
    }

    // MARK: Actions

    mutating func anyAction(
        by device: DeviceID, under grant: OperationID, knowing past: Set<OperationID>,
        honestly: Bool
    ) -> AuthAction {
        if replacesPhrases, generator.oneIn(3),
            let action = anyReplacement(by: device, under: grant, knowing: past)
        {
            return action
        }
        switch generator.below(28) {
        case 0..<3: return anyOffer(in: past)
        case 3..<8: return anyAdmission(by: device, in: past, honestly: honestly)
        case 8..<10: return anyAddition(by: device, under: grant, honestly: honestly)
        case 10..<14: return anyRoleGrant(by: device, under: grant, knowing: past)
        case 14..<16: return .remove(member: anyMember())
        case 16: return .removeDevice(deviceOrder.randomElement(using: &generator) ?? device)
        case 17: return anyInvite(in: past).map { .revokeInvite($0.id) } ?? .cutPart
        case 18: return generator.oneIn(2) ? .leave : .removeDevice(device)
        case 19..<21: return anyRequest(by: device, in: past)
        case 21: return anyReturn(by: device, in: past)
        case 22: return .rekey
        case 23:
            guard generator.oneIn(8) else { return .createDocument }
            return generator.oneIn(3) ? .unknown : .feature(isKnown: generator.oneIn(2))
        case 24:
            let ends = history.operations.filter { past.contains($0.id) }
            return ends.randomElement(using: &generator).map { .recut(revocation: $0.id) }
                ?? .cutPart
        case 25, 26: return anyConfirmation(in: past)
        default:
            return .setWorkspace(mayInvite: InviteRight.allCases.randomElement(using: &generator))
        }
    }

    /// Of what others build on, and of ends of own parts; at times of something else, or of what is not known.
    private mutating func anyConfirmation(in past: Set<OperationID>) -> AuthAction {
        let isForged = generator.oneIn(16)
        let all = history.operations.filter { operation in
            if isForged { return true }
            guard past.contains(operation.id) else { return false }
            switch operation.action {
            case .create, .request, .addDevices, .cutPart, .deleteWorkspace, .feature, .unknown:
                return false
            case .grant(let grant): return grant.drops == nil
            default: return true
            }
        }
        return .confirm(all.shuffled(using: &generator).prefix(1 + generator.below(4)).map(\.id))
    }

    private mutating func anyOffer(in past: Set<OperationID>) -> AuthAction {
        var terms = InviteTerms(role: anyRole(), uses: UInt64(1 + generator.below(2)))
        terms.needsApproval = generator.oneIn(4)
        if generator.oneIn(4) { terms.expires = now + UInt64(generator.below(20)) }
        guard generator.oneIn(2) else { return .invite(terms) }
        let policies = history.operations.filter { operation in
            guard case .setWorkspace(.members) = operation.action else { return false }
            return past.contains(operation.id)
        }
        terms.policy = policies.randomElement(using: &generator)?.id
        if terms.policy != nil { terms.role = .member }
        return .invite(terms)
    }

    /// Mostly somebody new, by what was asked for or at once; of forgers, whatever there is.
    private mutating func anyAdmission(
        by author: DeviceID, in past: Set<OperationID>, honestly: Bool
    ) -> AuthAction {
        let asked = history.operations.filter { past.contains($0.id) && isFirstRequest($0) }
        if generator.oneIn(2), let request = asked.randomElement(using: &generator),
            case .request(let invite, let member, let devices, _) = request.action
        {
            if generator.oneIn(8) {
                let (other, list) = anyJoiner(isNew: true)
                ask(list, to: other, context: invite, answerer: request.device)
                return .admit(invite: invite, member: other, devices: list, request: request.id)
            }
            return .admit(
                invite: invite, member: member, devices: devices,
                request: generator.oneIn(6) ? nil : request.id)
        }
        guard let invite = anyInvite(in: past) else { return .cutPart }
        let (member, devices) = anyJoiner(isNew: honestly || !generator.oneIn(3))
        if honestly || generator.oneIn(2) {
            ask(devices, to: member, context: invite.id, answerer: author)
        }
        return .admit(invite: invite.id, member: member, devices: devices, request: nil)
    }

    private func isFirstRequest(_ operation: AuthOperation) -> Bool {
        if case .request(_, _, _, nil) = operation.action { true } else { false }
    }

    private mutating func anyJoiner(isNew: Bool) -> (MemberID, [DeviceID]) {
        let member = isNew ? newMember() : anyMember()
        var devices = isNew ? [] : (members[member] ?? [])
        if generator.oneIn(8), let others = deviceOrder.randomElement(using: &generator) {
            devices.append(others)
        }
        while devices.count < 1 || generator.oneIn(3) { devices.append(newDevice(of: member)) }
        return (member, devices)
    }

    private mutating func anyRequest(by author: DeviceID, in past: Set<OperationID>) -> AuthAction {
        guard let invite = anyInvite(in: past) else { return .cutPart }
        let (member, devices) = anyJoiner(isNew: !generator.oneIn(4))
        ask(devices, to: member, context: invite.id, answerer: author)
        return .request(invite: invite.id, member: member, devices: devices, answering: nil)
    }

    /// Somebody whose membership ended asks to come back; or says that it had.
    private mutating func anyReturn(by author: DeviceID, in past: Set<OperationID>) -> AuthAction {
        guard let invite = anyInvite(in: past) else { return .cutPart }
        let ends = history.operations.filter { operation in
            guard past.contains(operation.id) else { return false }
            switch operation.action {
            case .remove, .leave: return true
            default: return false
            }
        }
        guard let end = ends.randomElement(using: &generator) else { return .cutPart }
        let member: MemberID
        if case .remove(let removed) = end.action, !generator.oneIn(10) {
            member = removed
        } else {
            member = history.subject(of: end.grant, by: end.device) ?? anyMember()
        }
        var devices = history.devices(of: member, in: past)
        if generator.oneIn(8) { devices.append(newDevice(of: member)) }
        if devices.count > 1, generator.oneIn(2) { devices.removeLast() }
        ask(devices, to: member, context: end.id, answerer: author)
        return .request(invite: invite.id, member: member, devices: devices, answering: end.id)
    }

    private mutating func anyAddition(
        by author: DeviceID, under grant: OperationID, honestly: Bool
    ) -> AuthAction {
        guard let own = history.subject(of: grant, by: author) else { return .cutPart }
        let other = deviceOrder.randomElement(using: &generator)
        let device = generator.oneIn(4) ? other ?? author : newDevice(of: own)
        if honestly || generator.oneIn(2) {
            ask([device], to: own, context: .zero, answerer: author)
        }
        return .addDevices([device])
    }

    /// A role for what the past binds to somebody; of owners, often the whole workspace.
    private mutating func anyRoleGrant(
        by author: DeviceID, under grant: OperationID, knowing past: Set<OperationID>
    ) -> AuthAction {
        let member = anyMember()
        var devices = history.devices(of: member, in: past).shuffled(using: &generator)
        if generator.oneIn(8), let others = deviceOrder.randomElement(using: &generator) {
            devices.append(others)
        }
        if devices.count > 1, generator.oneIn(3) { devices.removeLast() }
        var words = RoleGrant(
            member: member, devices: devices, role: anyRole(), replaces: generator.oneIn(2))
        if generator.oneIn(4) {
            words.role = generator.oneIn(8) ? words.role : .owner
            let own = history.subject(of: grant, by: author)
                .map { history.devices(of: $0, in: past) }
            words.drops = (own ?? []).filter { _ in !generator.oneIn(3) }
            if generator.oneIn(8) { words.drops?.append(contentsOf: devices) }
        }
        return .grant(words)
    }

    // MARK: Anything

    mutating func anyInvite(in past: Set<OperationID>) -> AuthOperation? {
        history.operations
            .filter { operation in
                guard case .invite = operation.action else { return false }
                return past.contains(operation.id)
            }
            .randomElement(using: &generator)
    }

    mutating func anyMember() -> MemberID {
        memberOrder.randomElement(using: &generator) ?? newMember()
    }

    private mutating func anyRole() -> Role {
        Role.allCases.randomElement(using: &generator) ?? .member
    }
}
