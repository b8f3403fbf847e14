import CRDTStore
import WorkspaceModel

/// Phrases that stand under a grant for one that it lists, whose place they took: V-12.
extension AuthDefinition {
    /// Which end counts so, under which grant, behind which device and how many phrases behind.
    struct Behind: Hashable {
        let end: Int
        let grant: Int
        let root: DeviceID
        let generation: Int
    }

    /// The device that a final end says takes the place: by the first such addition that it knows, but for
    /// devices that the old phrase has revoked, as far as it knows.
    func successor(of end: Int) -> DeviceID? {
        guard isFinalEnd(facts[end]), let author = facts[end].author else { return nil }
        let past = facts[end].past
        let gone = past.compactMap { place -> DeviceID? in
            guard rules.has(.v12Gone), facts[place].operation.device == author.device,
                facts[place].author?.member == author.member,
                case .removeDevice(let device) = facts[place].operation.action
            else { return nil }
            return device
        }
        let first = successions(author, in: past).filter { place in
            bound(by: facts[place])?.devices.contains { gone.contains($0) } != true
        }.min {
            (facts[$0].lam, facts[$0].operation.id) < (facts[$1].lam, facts[$1].operation.id)
        }
        return first.flatMap { bound(by: facts[$0])?.devices.first }
    }

    /// What is judged so since the last operation is here.
    func endsBehind() -> [Fact] {
        guard rules.has(.v12) else { return [] }
        let all = facts.indices.filter { !facts[$0].isBehind && facts[$0].again == nil }
        let finals = all.filter { isFinalEnd(facts[$0]) }
        guard !finals.isEmpty else { return [] }
        var found: [Fact] = []
        for grant in all {
            for root in devices(facts[grant].operation.action) ?? [] {
                guard let given = given(by: grant, to: root) else { continue }
                found += endsBehind(given, finals, all)
            }
        }
        return found
    }

    private func endsBehind(_ root: Given, _ finals: [Int], _ all: [Int]) -> [Fact] {
        var found: [Fact] = []
        var devices: Set<DeviceID> = [root.device]
        for generation in 1...Limits.phraseSuccessionsMax where !devices.isEmpty {
            let before = finals.filter {
                devices.contains(facts[$0].operation.device)
                    && facts[$0].author?.member == root.member
            }
            devices = Set(before.compactMap(successor))
            for end in all {
                guard let author = facts[end].author, author.member == root.member,
                    devices.contains(author.device), countsAgain(end, under: root.grant)
                else { continue }
                let behind = Behind(
                    end: end, grant: root.grant, root: root.device, generation: generation)
                guard placedBehind.insert(behind).inserted else { continue }
                // What hits the device hits it there, too, as strong as the one before it.
                let given = Given(
                    grant: root.grant, member: root.member, role: root.role,
                    device: author.device, place: root.place)
                found.append(judged(end, as: given, behind: behind))
            }
        }
        return found
    }

    /// Whether the one right before it has a valid final end under the grant that names it.
    func hasFollowed(_ o: Int, _ behind: Behind, _ isValid: (Int) -> Bool) -> Bool {
        guard let author = facts[o].author else { return false }
        return facts.indices.contains { end in
            guard let other = facts[end].author, other.grant == behind.grant,
                other.member == author.member, successor(of: end) == author.device
            else { return false }
            let isBefore =
                behind.generation == 1
                ? facts[end].behind == nil && other.device == behind.root
                : facts[end].behind?.root == behind.root
                    && facts[end].behind?.generation == behind.generation - 1
            return isBefore && isValid(end)
        }
    }
}
