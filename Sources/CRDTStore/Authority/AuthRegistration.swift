public import WorkspaceModel

/// Which operations are found by what: each is entered when it is placed, and taken out again
/// where the one that was placed last has no effect.
extension AuthEvaluator {
    /// Makes the operation findable by all that bears on it and that it bears on.
    mutating func register(_ index: Int) {
        let record = records[index]
        guard record.fault == nil, !record.isOpaque else { return }
        for support in record.supports { records[support].dependants.append(index) }
        for target in exposure(of: index)?.targets ?? [] {
            exposed[target, default: []].append(index)
        }
        for target in targets(ofRevocation: index) {
            revocations[target, default: []].append(index)
        }
        // What it says is found by its first record.
        guard record.original == nil else { return }
        if record.operation.action.terms != nil { invites.append(index) }
        if record.operation.action.endsSomething { endings.append(index) }
        for device in Set(record.devices) { grantsOfDevice[device, default: []].append(index) }
        if let devices = record.operation.action.boundDevices, let member = record.subject {
            for device in Set(devices) {
                bindings[device, default: [:]][member, default: []].append(index)
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
            admitted[member, default: []].append(index)
        case .admit(_, let member, _, _):
            admitted[member, default: []].append(index)
            if let invite = record.reference { admissions[invite, default: []].append(index) }
        case .addDevices:
            if let author = record.author { additions[author, default: []].append(index) }
        case .request:
            if let invite = record.reference { requests[invite, default: []].append(index) }
        case .remove(let member):
            removals[.member(member), default: []].append(index)
        case .removeDevice(let device):
            removals[.device(device), default: []].append(index)
        case .setWorkspace(.some):
            invitePolicies.append(index)
        case .feature(isKnown: false):
            unknownFeatures.append(index)
        case .grant(let grant):
            if grant.drops != nil, let author = record.author {
                drops[author, default: []].append(index)
            }
        case .recut:
            if let widened = record.reference { recuts[widened, default: []].append(index) }
        default:
            break
        }
    }

    // MARK: Taking back

    /// Takes back the operation that was added last, if it has no effect: nothing can rest on it
    /// yet, so the document is as if it had never come.
    ///
    /// - Returns: whether it is gone.
    @discardableResult
    public mutating func withdraw(_ id: OperationID) -> Bool {
        guard let index = indices[id], !records[index].hasEffect,
            records.indices[(index + 1)...].allSatisfy({ records[$0].isFurther })
        else { return false }
        while records[records.count - 1].original != nil { unplaceAgain() }
        if let part = records[index].ownPart {
            records[part].subject.map { given.drop(part, at: $0) }
            if !records[part].isOpaque {
                for device in Set(records[part].devices) { grantsOfDevice.drop(part, at: device) }
            }
            records.removeLast()
        }
        unregister(index)
        let record = records.removeLast()
        if deviceEndedAgain(by: record) != nil {
            endsByDevice.drop(index, at: record.operation.device)
        }
        earlierEnds[index] = nil
        record.subject.map { given.drop(index, at: $0) }
        indices[id] = nil
        if record.place.position == 0 {
            branchTips.removeLast()
        } else if let previous = record.operation.previous.flatMap({ indices[$0] }) {
            branchTips[record.place.branch] = previous
        }
        return true
    }

    mutating func unregister(_ index: Int) {
        let record = records[index]
        guard record.fault == nil, !record.isOpaque else { return }
        for other in record.supports where records[other].dependants.last == index {
            records[other].dependants.removeLast()
        }
        for target in exposure(of: index)?.targets ?? [] { exposed.drop(index, at: target) }
        for target in targets(ofRevocation: index) { revocations.drop(index, at: target) }
        unconfirmed.remove(index)
        guard record.original == nil else { return }
        if record.operation.action.terms != nil { invites.removeLast() }
        if record.operation.action.endsSomething { endings.removeLast() }
        for device in Set(record.devices) { grantsOfDevice.drop(index, at: device) }
        if let devices = record.operation.action.boundDevices, let member = record.subject {
            for device in Set(devices) {
                bindings[device]?.drop(index, at: member)
                if bindings[device]?.isEmpty == true { bindings[device] = nil }
            }
        }
        record.operation.introducedKey.map { introductions.drop(index, at: $0) }
        unregisterAction(index)
    }

    private mutating func unregisterAction(_ index: Int) {
        let record = records[index]
        switch record.operation.action {
        case .create(let member, _):
            admitted.drop(index, at: member)
        case .admit(_, let member, _, _):
            admitted.drop(index, at: member)
            record.reference.map { admissions.drop(index, at: $0) }
        case .addDevices:
            record.author.map { additions.drop(index, at: $0) }
        case .request:
            record.reference.map { requests.drop(index, at: $0) }
        case .remove(let member):
            removals.drop(index, at: .member(member))
        case .removeDevice(let device):
            removals.drop(index, at: .device(device))
        case .setWorkspace(.some):
            invitePolicies.removeLast()
        case .feature(isKnown: false):
            unknownFeatures.removeLast()
        case .grant(let grant):
            if grant.drops != nil { record.author.map { drops.drop(index, at: $0) } }
        case .recut:
            record.reference.map { recuts.drop(index, at: $0) }
        default:
            break
        }
    }
}

extension Dictionary where Value == [Int] {
    /// Takes the last number of a list away, and the list with its last number.
    fileprivate mutating func drop(_ index: Int, at key: Key) {
        guard self[key]?.last == index else { return }
        self[key]?.removeLast()
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}
