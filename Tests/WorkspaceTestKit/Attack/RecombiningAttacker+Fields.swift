import CRDTStore
import WorkspaceModel

/// The attackers' values for fields: anything they have seen, or can make.
extension AttackWorld {
    func anyMember() -> MemberID {
        let people = record.people.values.sorted { $0.name < $1.name }
        return people.randomElement(using: &generator)?.member ?? owner?.member
            ?? MemberID([UInt8](repeating: 0, count: 16))
    }

    func anyDevice() -> DeviceID {
        let people = record.people.values.sorted { $0.name < $1.name }
        return people.randomElement(using: &generator)?.devices.randomElement(using: &generator)
            ?? device()
    }

    func ownDevice() -> DeviceID {
        if !generator.oneIn(3), let own = record.secrets.sorted().randomElement(using: &generator) {
            return own
        }
        let new = device()
        record.secrets.insert(new)
        return new
    }

    func anyInvite() -> AuthOperation? {
        history.operations.filter { operation in
            if case .invite = operation.action { true } else { false }
        }.randomElement(using: &generator)
    }

    /// A signature for a place in a list: made, where the secret is there, or found.
    private func seal(_ index: Int, _ devices: [AttackPair], _ words: AttackWords) -> AttackSeal? {
        let pair = devices[index]
        let isFirst = index == 0 && devices.count > 1 && words.type < 4
        if record.secrets.contains(pair.device) {
            return isFirst
                ? .recovery(pair.device, box: pair.box, second: devices[1].device)
                : .entry(pair.device, words)
        }
        let found = sealOrder.filter { seal in
            switch seal {
            case .entry(pair.device, let signed): !isFirst && signed.list.contains(pair)
            case .recovery(pair.device, box: pair.box, second: _): isFirst
            default: false
            }
        }
        return found.first { $0 == .entry(pair.device, words) }
            ?? found.randomElement(using: &generator)
    }

    func entries(_ list: [AttackPair], _ words: AttackWords) -> [AttackEntry] {
        list.indices.map { AttackEntry(pair: list[$0], seal: seal($0, list, words)) }
    }

    /// The list of something seen, whole or with something put in or taken out; or a new one.
    func anyList() -> (list: [AttackPair], member: MemberID) {
        var list: [AttackPair] = []
        var member: MemberID?
        if !generator.oneIn(4),
            case .entry(_, let words)? = sealOrder.randomElement(using: &generator)
        {
            (list, member) = (words.list, words.member)
            if generator.oneIn(3) { list.append(pair(ownDevice())) }
            if generator.oneIn(6) { list.insert(pair(ownDevice()), at: 0) }
            if generator.oneIn(6) { list.append(pair(anyDevice())) }
            if list.count > 1, generator.oneIn(6) {
                list.remove(at: generator.below(list.count))
            }
        } else {
            list = (0..<1 + generator.below(2)).map { _ in pair(ownDevice()) }
        }
        if list.count > 0, generator.oneIn(8) {
            let index = generator.below(list.count)
            list[index] = AttackPair(device: list[index].device, box: generator.below(40))
        }
        let named = list.first.map { self.member(of: $0.device) }
        let chosen = generator.oneIn(2) ? member ?? named : named
        return (list, generator.oneIn(12) ? anyMember() : chosen ?? anyMember())
    }
}
