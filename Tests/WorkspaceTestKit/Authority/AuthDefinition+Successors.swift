import CRDTStore
import WorkspaceModel

/// Phrases that count under a grant in the place of a listed one, and phrases that it does not
/// give: V-12 and V-13.
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
        let gone = rules.has(.v12Gone) ? revoked(by: author, in: past) : []
        let first = successions(author, in: past).filter { place in
            bound(by: facts[place])?.devices.contains { gone.contains($0) } != true
        }.min {
            (facts[$0].lam, facts[$0].operation.id) < (facts[$1].lam, facts[$1].operation.id)
        }
        return first.flatMap { bound(by: facts[$0])?.devices.first }
    }

    /// The phrases behind which the author of an end stands.
    func line(of end: Int) -> [DeviceID] {
        facts[end].author.map { line(of: $0.device, as: $0.member, knownTo: end) } ?? []
    }

    /// The phrases behind which a device stands, the nearest first: who has put it in their place, by the first
    /// such word that an operation knows, who has put that one, as that word knows, and so on.
    func line(of device: DeviceID, as member: MemberID, knownTo place: Int) -> [DeviceID] {
        var line: [DeviceID] = []
        var (device, past) = (device, facts[place].past)
        while line.count < Limits.phraseSuccessionsMax {
            let words = past.filter { place in
                let fact = facts[place]
                guard fact.operation.takesPlace, fact.author?.member == member else {
                    return false
                }
                return bound(by: fact)?.devices.contains(device) == true
            }
            guard
                let first = words.min(by: {
                    (facts[$0].lam, facts[$0].operation.id)
                        < (facts[$1].lam, facts[$1].operation.id)
                })
            else { break }
            (device, past) = (facts[first].operation.device, facts[first].past)
            line.append(device)
        }
        return line
    }

    /// What is judged so since an operation is here, an end or a grant.
    func endsBehind(by place: Int) -> [Fact] {
        guard rules.has(.v12) else { return [] }
        let all = facts.indices.filter { !facts[$0].isBehind && facts[$0].again == nil }
        return all.flatMap { endsBehind(place, under: $0) }
            + all.flatMap { endsBehind($0, under: place) }
    }

    private func endsBehind(_ end: Int, under grant: Int) -> [Fact] {
        guard let author = facts[end].author, case .removeDevice = facts[end].operation.action,
            devices(facts[grant].operation.action) != nil
        else { return [] }
        return zip(line(of: end), 1...).compactMap { root, generation in
            guard let given = given(by: grant, to: root), given.member == author.member,
                countsAgain(end, under: grant)
            else { return nil }
            let behind = Behind(end: end, grant: grant, root: root, generation: generation)
            // What hits the device hits it there, too, as strong as the one before it.
            let standing = Given(
                grant: grant, member: given.member, role: given.role, device: author.device,
                place: given.place)
            return judged(end, as: standing, behind: behind)
        }
    }

    /// V-13: what final ends of phrases count as since an operation is here, where a grant gives them not, and
    /// knows of something that they have linked.
    func endsBefore(by place: Int) -> [Fact] {
        guard rules.has(.v13) else { return [] }
        let all = facts.indices.filter { !facts[$0].isBehind && facts[$0].again == nil }
        return all.compactMap { endBefore(place, under: $0) }
            + all.compactMap { endBefore($0, under: place) }
    }

    private func endBefore(_ end: Int, under grant: Int) -> Fact? {
        guard let author = facts[end].author, isFinalEnd(facts[end]), !knows(facts[grant], end),
            case .grant = facts[grant].operation.action,
            given(by: grant, to: author.device)?.member != author.member,
            hasLinked(author, in: facts[grant].past)
        else { return nil }
        for device in devices(facts[grant].operation.action) ?? [] {
            guard let given = given(by: grant, to: device), given.member == author.member else {
                continue
            }
            let behind = Behind(end: end, grant: grant, root: author.device, generation: -1)
            let standing = Given(
                grant: grant, member: given.member, role: given.role, device: author.device,
                place: given.place)
            return judged(end, as: standing, behind: behind)
        }
        return nil
    }

    /// Whether a past has an adddev by a device, as its member's.
    private func hasLinked(_ author: Given, in past: PlainSet) -> Bool {
        past.contains { place in
            guard case .addDevices = facts[place].operation.action else { return false }
            return facts[place].operation.device == author.device
                && facts[place].author?.member == author.member
        }
    }

    /// V-13: whether a valid confirm by another member that is stronger names an end.
    private func isConfirmedByAnother(_ o: Int, _ isValid: (Int) -> Bool) -> Bool {
        facts.indices.contains { other in
            guard case .confirm(let named) = facts[other].operation.action,
                named.contains(facts[o].operation.id), facts[other].rank < facts[o].rank,
                !rules.has(.v13Others)
                    || facts[other].author?.member != facts[o].author?.member
            else { return false }
            return isValid(other)
        }
    }

    /// V-13: what put devices in the place of a phrase that it has revoked, as far as its end and a grant know.
    func revokedSuccessions(_ end: Int, knownTo grant: Int) -> [Int] {
        guard let generation = facts[end].behind?.generation, generation < 0,
            let author = facts[end].author
        else { return [] }
        let gone = revoked(by: author, in: facts[end].past)
        return successions(author, in: facts[end].past).filter { place in
            facts[grant].past.contains(place)
                && bound(by: facts[place])?.devices.contains { gone.contains($0) } == true
        }
    }

    /// The devices that a device has revoked as its member's, in a past.
    private func revoked(by author: Given, in past: PlainSet) -> [DeviceID] {
        past.compactMap { place in
            guard facts[place].operation.device == author.device,
                facts[place].author?.member == author.member,
                case .removeDevice(let device) = facts[place].operation.action
            else { return nil }
            return device
        }
    }

    /// Whether the one right before it has a valid final end under the grant that names it; of a phrase before
    /// a listed one whether that end is confirmed.
    func hasFollowed(_ o: Int, _ behind: Behind, _ isValid: (Int) -> Bool) -> Bool {
        guard let author = facts[o].author else { return false }
        if behind.generation < 0 {
            return !rules.has(.v13Confirmed) || isConfirmedByAnother(o, isValid)
        }
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
