import WorkspaceModel

/// The indexes by which operations are found: each is entered when it is placed, and taken out
/// again if the one placed last has no effect.
extension PlacedOperations {
    /// Adds the operation to all indexes.
    mutating func register(_ index: Int) {
        guard records[index].fault == nil, !records[index].isOpaque else { return }
        for support in records[index].supports { records[support].dependants.append(index) }
        // The other indexes hold only first records.
        guard records[index].again.original == nil else { return }
        let record = records[index]
        for target in exposure(of: index)?.targets ?? [] {
            reach.exposed[target, default: []].append(index)
        }
        for target in targets(ofRevocation: index) {
            reach.revocations[target, default: []].append(index)
        }
        if record.operation.action.terms != nil { invites.all.append(index) }
        if record.operation.action.endsSomething { reach.endings.append(index) }
        for device in Set(record.gives.devices) {
            people.grantsOfDevice[device, default: []].append(index)
        }
        if let devices = record.operation.action.boundDevices, let member = record.gives.subject {
            for device in Set(devices) {
                people.bindings[device, default: [:]][member, default: []].append(index)
            }
        }
        if let key = record.operation.introducedKey {
            introductions[key, default: []].append(index)
        }
        registerAction(index)
    }

    private mutating func registerAction(_ index: Int) {
        let record = records[index]
        switch record.operation.action {
        case .create(let member, _):
            people.admitted[member, default: []].append(index)
        case .admit(_, let member, _, _):
            people.admitted[member, default: []].append(index)
            if let invite = record.cited.reference {
                invites.admissions[invite, default: []].append(index)
            }
        case .addDevices:
            if let author = record.author { registerAddition(index, of: author) }
        case .request:
            if let invite = record.cited.reference {
                invites.requests[invite, default: []].append(index)
            }
        case .remove(let member):
            people.removals[.member(member), default: []].append(index)
        case .removeDevice(let device):
            people.removals[.device(device), default: []].append(index)
            record.author.map { people.ownRemovals[$0, default: []].append(index) }
        case .confirm:
            for end in devicesEnded(by: record) {
                further.confirms[end, default: []].append(index)
            }
            registerChoice(index)
        case .setWorkspace(.some):
            invites.policies.append(index)
        case .feature(isKnown: false):
            unknownFeatures.append(index)
        case .grant(let grant):
            if grant.drops != nil, let author = record.author {
                people.drops[author, default: []].append(index)
            }
        case .recut:
            if let widened = record.cited.reference {
                reach.recuts[widened, default: []].append(index)
            }
        default:
            break
        }
    }

    /// The ends of devices that it confirms.
    private func devicesEnded(by record: AuthRecord) -> [Int] {
        record.cited.confirmed.filter {
            if case .removeDevice = records[$0].operation.action { true } else { false }
        }
    }

    // MARK: Taking back

    /// Whether only further records of the operation were placed after it.
    func isLast(_ index: Int) -> Bool {
        records.indices[(index + 1)...].allSatisfy { records[$0].isFurther }
    }

    /// Removes the operation that was placed last.
    mutating func withdraw(_ index: Int) {
        while records[records.count - 1].again.original != nil { unplaceAgain() }
        if let part = records[index].ownPart {
            records[part].gives.subject.map { people.given.drop(part, at: $0) }
            if !records[part].isOpaque {
                for device in Set(records[part].gives.devices) {
                    people.grantsOfDevice.drop(part, at: device)
                }
            }
            records.removeLast()
        }
        unregister(index)
        let record = records.removeLast()
        if let author = record.author {
            further.forget(index, of: author)
        }
        if deviceEndedAgain(by: record) != nil {
            further.endsByDevice.drop(index, at: record.operation.device)
            for root in further.lines.removeValue(forKey: index) ?? [] {
                further.endsBehind[root]?.removeLast()
                if further.endsBehind[root]?.isEmpty == true { further.endsBehind[root] = nil }
            }
        }
        further.earlierEnds[index] = nil
        record.gives.subject.map { people.given.drop(index, at: $0) }
        indices[record.operation.id] = nil
        if record.place.position == 0 {
            branchTips.removeLast()
        } else if let previous = record.operation.previous.flatMap({ indices[$0] }) {
            branchTips[record.place.branch] = previous
        }
    }

    mutating func unregister(_ index: Int) {
        let record = records[index]
        guard record.fault == nil, !record.isOpaque else { return }
        for other in record.supports where records[other].dependants.last == index {
            records[other].dependants.removeLast()
        }
        guard record.again.original == nil else { return }
        for target in exposure(of: index)?.targets ?? [] { reach.exposed.drop(index, at: target) }
        for target in targets(ofRevocation: index) { reach.revocations.drop(index, at: target) }
        if record.operation.action.terms != nil { invites.all.removeLast() }
        if record.operation.action.endsSomething { reach.endings.removeLast() }
        for device in Set(record.gives.devices) { people.grantsOfDevice.drop(index, at: device) }
        if let devices = record.operation.action.boundDevices, let member = record.gives.subject {
            for device in Set(devices) {
                people.bindings[device]?.drop(index, at: member)
                if people.bindings[device]?.isEmpty == true { people.bindings[device] = nil }
            }
        }
        record.operation.introducedKey.map { introductions.drop(index, at: $0) }
        unregisterAction(index)
    }

    private mutating func unregisterAction(_ index: Int) {
        let record = records[index]
        switch record.operation.action {
        case .create(let member, _):
            people.admitted.drop(index, at: member)
        case .admit(_, let member, _, _):
            people.admitted.drop(index, at: member)
            record.cited.reference.map { invites.admissions.drop(index, at: $0) }
        case .addDevices:
            if let author = record.author { unregisterAddition(index, of: author) }
        case .request:
            record.cited.reference.map { invites.requests.drop(index, at: $0) }
        case .remove(let member):
            people.removals.drop(index, at: .member(member))
        case .removeDevice(let device):
            people.removals.drop(index, at: .device(device))
            record.author.map { people.ownRemovals.drop(index, at: $0) }
        case .confirm:
            for end in devicesEnded(by: record) { further.confirms.drop(index, at: end) }
            unregisterChoice(index)
        case .setWorkspace(.some):
            invites.policies.removeLast()
        case .feature(isKnown: false):
            unknownFeatures.removeLast()
        case .grant(let grant):
            if grant.drops != nil { record.author.map { people.drops.drop(index, at: $0) } }
        case .recut:
            record.cited.reference.map { reach.recuts.drop(index, at: $0) }
        default:
            break
        }
    }
}

/// The indexes of operations that link devices.
extension PlacedOperations {
    private func linker(of index: Int, _ member: MemberID) -> OwnDevice {
        OwnDevice(member: member, device: records[index].operation.device)
    }

    fileprivate mutating func registerAddition(_ index: Int, of member: MemberID) {
        people.additions[member, default: []].append(index)
        people.links[linker(of: index, member), default: []].append(index)
        guard records[index].operation.takesPlace else { return }
        for device in Set(devicesBound(index)) {
            people.successions[OwnDevice(member: member, device: device), default: []]
                .append(index)
        }
    }

    fileprivate mutating func unregisterAddition(_ index: Int, of member: MemberID) {
        people.additions.drop(index, at: member)
        people.links.drop(index, at: linker(of: index, member))
        guard records[index].operation.takesPlace else { return }
        for device in Set(devicesBound(index)) {
            people.successions.drop(index, at: OwnDevice(member: member, device: device))
        }
    }
}

extension Dictionary where Value == [Int] {
    /// Removes the last number of a list, and the list if it is empty then.
    fileprivate mutating func drop(_ index: Int, at key: Key) {
        guard self[key]?.last == index else { return }
        self[key]?.removeLast()
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
