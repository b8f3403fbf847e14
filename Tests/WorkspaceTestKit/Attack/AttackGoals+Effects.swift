import CRDTStore
import WorkspaceModel

/// Honest operations have their effect, the same for everybody: G6, G7, G9, G10, G14.
extension AttackGoals {
    /// A judge of some of the operations.
    func judge(of ids: Set<OperationID>) -> Judge {
        var judge = makeJudge()
        for operation in history.operations where ids.contains(operation.id) {
            _ = judge.take(operation)
        }
        return judge
    }

    /// What members and guests among the attackers write, and nobody else builds on, changes no
    /// verdict but on those whom they admitted or invited.
    func g6MembersChangeVerdicts() -> String? {
        let theirs = belongings
        let kept = Set(history.operations.map(\.id)).subtracting(theirs)
        let without = judge(of: kept)
        // What somebody's own stolen device does to that person is another goal's.
        let people = Set(history.operations.filter { theirs.contains($0.id) }.compactMap(author))
        for operation in history.operations
        where kept.contains(operation.id) && author(operation).map(people.contains) != true {
            let id = operation.id
            guard isByHonest(id), all.isValid(id) != without.isValid(id) else {
                continue
            }
            return "\(label(id)) is \(all.isValid(id) ? "valid" : "void") only because of members"
        }
        return nil
    }

    /// Whether an honest person wrote it; of who became an attacker later, no operation.
    func isByHonest(_ id: OperationID) -> Bool {
        guard let written = written(id), written.isHonest else { return false }
        return record.people[written.author]?.isHonest ?? false
    }

    /// Operations of attackers that act as member or guest, and that only such have in the past.
    private var belongings: Set<OperationID> {
        var theirs: Set<OperationID> = []
        var used: Set<OperationID> = []
        for operation in history.operations.reversed() {
            let role = operation.grant.flatMap { all.role(ofGrant: $0, device: operation.device) }
            let isWeak = written(operation.id)?.isHonest == false && (role ?? .owner) >= .member
            if isWeak, !used.contains(operation.id) {
                theirs.insert(operation.id)
            } else {
                used.insert(operation.id)
                used.formUnion(history.pasts[operation.id] ?? [])
            }
        }
        return theirs
    }

    /// An honest operation that was due has a fault, or no effect at its author's node; or the
    /// owner's loses it later.
    func g7HonestWithoutEffect() -> String? { broken("G7") ?? lostByOwner() }

    func broken(_ goal: String) -> String? {
        for written in record.written where written.promise == goal {
            let id = written.operation.id
            guard all.contains(id) else { return "\(label(id)) has a fault" }
            let judge = judge(of: written.known.union(history.closure(of: [id])))
            if !judge.isValid(id) { return "\(label(id)) is void where it was written" }
        }
        return nil
    }

    private func lostByOwner() -> String? {
        guard let owner = record.people["owner"], record.transfers.isEmpty, !record.hasOwner else {
            return nil
        }
        for written in record.written where written.isHonest && written.author == owner.name {
            let id = written.operation.id
            // Whom an admin invited, that admin's invite or removal may end.
            if case .admit = written.operation.action { continue }
            if all.contains(id), !judge.isValid(id) { return "\(label(id)) of the owner is void" }
        }
        return nil
    }

    func g9NodesDiffer() -> String? {
        for node in nodes where node.judge.valid != nodes[0].judge.valid {
            let differing = node.judge.valid.symmetricDifference(nodes[0].judge.valid)
            return "nodes differ on \(differing.map { label($0) }.sorted())"
        }
        return nil
    }

    /// Who comes late is given what a node stores, and ends with the same.
    func g10LatecomerDiffers() -> String? {
        var generator = SeededGenerator(seed: record.seed ^ 0x1a7e)
        for node in nodes {
            var judge = makeJudge()
            for operation in history.shuffledCausally(with: &generator)
            where node.stored.contains(operation.id) {
                guard judge.take(operation) else { return "\(label(operation.id)) has no place" }
            }
            if judge.valid != node.judge.valid { return "a latecomer says something else" }
        }
        return nil
    }

    /// An unknown feature that is void changes nothing, and nothing behind one counts.
    func g14FeatureMatters() -> String? {
        let features = Set(
            history.operations.filter {
                if case .feature(isKnown: false) = $0.action { true } else { false }
            }.map(\.id))
        let void = features.filter { !all.isValid($0) }
        for operation in history.operations {
            if case .unknown = operation.action, all.isValid(operation.id) {
                return "\(label(operation.id)) counts, and nobody here knows what it is"
            }
        }
        var kept: Set<OperationID> = []
        for operation in history.operations {
            let past = history.pasts[operation.id] ?? []
            if !past.isDisjoint(with: features), all.isValid(operation.id) {
                return "\(label(operation.id)) counts behind an unknown feature"
            }
            guard past.isDisjoint(with: void), !void.contains(operation.id) else { continue }
            kept.insert(operation.id)
        }
        let without = judge(of: kept)
        for id in kept where all.isValid(id) != without.isValid(id) {
            return "\(label(id)) is judged otherwise because of a void feature"
        }
        return nil
    }
}
