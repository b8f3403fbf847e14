import CRDTStore
import WorkspaceModel

/// Attacks of several matching parts, which chance alone seldom combines.
extension AttackWorld {
    /// What attackers hold of honest people.
    var stolenDevices: [DeviceID] {
        record.people.values.filter(\.isHonest).flatMap(\.devices)
            .filter { record.secrets.contains($0) }.sorted()
    }

    /// A newcomer who came to an attacker's device that answered, on this invite or another.
    func deceivedJoin() -> Draft? {
        let said = sealOrder.compactMap { seal -> AttackWords? in
            guard case .entry(_, let words) = seal, words.type == 3 || words.type == 4,
                words.workspace == AttackSignatures.workspace || generator.oneIn(4),
                record.secrets.contains(words.answerer),
                !record.secrets.contains(words.list[0].device)
            else { return nil }
            return words
        }
        guard let words = said.randomElement(using: &generator),
            var draft = draft(by: words.answerer)
        else { return nil }
        var list = words.list
        if generator.oneIn(3) { list.append(pair(ownDevice())) }
        if list.count > 1, generator.oneIn(4) { list.removeFirst() }
        let invites = links.sorted() + (words.type == 3 ? [words.context] : [])
        guard let some = invites.randomElement(using: &generator) else { return nil }
        let invite = words.type == 3 && generator.oneIn(2) ? words.context : some
        draft.past.formUnion(history.closure(of: [invite]))
        let devices = list.map(\.device)
        if words.type == 4 {
            guard history[words.context] != nil else { return nil }
            draft.past.formUnion(history.closure(of: [words.context]))
            draft.action = .request(
                invite: invite, member: words.member, devices: devices, answering: words.context)
        } else {
            draft.action = .admit(
                invite: invite, member: words.member, devices: devices, request: nil)
        }
        fillEntries(&draft, list)
        prove(&draft, invite, words.member)
        return draft
    }

    /// What was signed to a stolen device, which links it as somebody else's.
    func stolenLink() -> Draft? {
        guard let stolen = stolenDevices.randomElement(using: &generator) else { return nil }
        let others = history.operations.filter {
            history.devices(of: $0).contains(stolen)
                && (history.subject(of: $0.id, by: stolen)).map { member in
                    record.people.values.contains { $0.member == member && !$0.isHonest }
                } == true
        }
        guard let grant = others.randomElement(using: &generator) else {
            return linkStolen(stolen)
        }
        let said = sealOrder.compactMap { seal -> AttackPair? in
            guard case .entry(_, let words) = seal, words.type == 5, words.answerer == stolen else {
                return nil
            }
            return words.list[0]
        }
        guard let device = said.randomElement(using: &generator) else { return nil }
        var draft = Draft(
            author: "accomplice", device: stolen, grant: grant.id,
            past: history.closure(of: [grant.id]), action: .addDevices([device.device]))
        draft.isHonest = false
        fillEntries(&draft, [device])
        return draft
    }

    /// A stolen device becomes an attacker's own, in a past that has not heard whose it was.
    private func linkStolen(_ stolen: DeviceID) -> Draft? {
        let people = record.people.values.filter { !$0.isHonest }.sorted { $0.name < $1.name }
        guard let eve = people.randomElement(using: &generator),
            let grant = history.operations.first(where: {
                history.devices(of: $0).contains(eve.devices[0])
            })
        else { return nil }
        var draft = Draft(
            author: eve.name, device: eve.devices[0], grant: grant.id,
            past: history.closure(of: [grant.id]), action: .addDevices([stolen]))
        draft.isHonest = false
        if generator.oneIn(2) { draft.past = history.closure(of: probe.valid) }
        fillEntries(&draft, [pair(stolen)])
        return draft
    }

    /// An own device under the name of somebody honest, where nobody knows that one yet.
    func nameSomebody(_ draft: inout Draft) {
        let honest = record.people.values.filter(\.isHonest).sorted { $0.name < $1.name }
        guard let victim = honest.randomElement(using: &generator),
            let invite = links.sorted().randomElement(using: &generator)
        else { return }
        draft.past = history.closure(of: [invite, draft.grant].compactMap { $0 })
        let list = [pair(ownDevice())]
        draft.action = .admit(
            invite: invite, member: victim.member, devices: list.map(\.device), request: nil)
        fillEntries(&draft, list)
        prove(&draft, invite, victim.member)
    }

    /// A member or guest invites because of some word on who may.
    func memberOffer() -> Draft? {
        let words = history.operations.filter {
            guard case .setWorkspace(let right) = $0.action else { return false }
            return right == .members || generator.oneIn(4)
        }
        guard let word = words.randomElement(using: &generator),
            let name = ["eve", "uma", "eve", "vic", "xan"].randomElement(using: &generator),
            let device = record.people[name]?.devices.first, var draft = draft(by: device)
        else { return nil }
        draft.past.formUnion(history.closure(of: [word.id]))
        let role = Role(rawValue: UInt64(generator.below(4))) ?? .member
        draft.action = .invite(
            InviteTerms(role: generator.oneIn(4) ? role : .member, uses: 2, policy: word.id))
        return draft
    }

    /// Ends an invite, often one that a plain member made.
    func closeSome(_ draft: inout Draft) {
        let byMembers = history.operations.filter {
            if case .invite(let terms) = $0.action { terms.policy != nil } else { false }
        }
        guard
            let invite = generator.oneIn(2)
                ? byMembers.randomElement(using: &generator) : anyInvite()
        else { return }
        draft.past.formUnion(history.closure(of: [invite.id]))
        draft.action = .revokeInvite(invite.id)
    }

    /// Somebody who has to go is let in once more by a friend, as before or with another device.
    func backByFriend() -> Draft? {
        let gone = record.ends.compactMap { record.people[$0.person] }.filter { !$0.isHonest }
        guard let person = gone.randomElement(using: &generator),
            let friend = record.secrets.sorted().randomElement(using: &generator),
            var draft = draft(by: friend),
            let invite = links.sorted().randomElement(using: &generator)
        else { return nil }
        draft.past.formUnion(history.closure(of: [invite]))
        if generator.oneIn(2) { draft.past.formUnion(history.closure(of: probe.valid)) }
        var list = person.devices.map(pair)
        var member = person.member
        if generator.oneIn(4) {
            list = [pair(device()), pair(person.devices[0])]
            record.secrets.insert(list[0].device)
            member = self.member(of: list[0].device)
        }
        let isAsking = generator.oneIn(4)
        draft.action =
            isAsking
            ? .request(
                invite: invite, member: member, devices: list.map(\.device), answering: nil)
            : .admit(invite: invite, member: member, devices: list.map(\.device), request: nil)
        fillEntries(&draft, list)
        prove(&draft, invite, member)
        return draft
    }

    /// The owner's device that nobody misses hands the workspace over, and names devices of its
    /// own that are none.
    func unseenTransfer() -> Draft? {
        guard record.hasOwner,
            let unseen = record.people["owner"]?.devices.last(where: {
                record.secrets.contains($0)
            }), var draft = draft(by: unseen), let eve = record.people["eve"]
        else { return nil }
        let stolen = record.ends.filter { $0.person == "owner" }.flatMap(\.devices)
        let more = (stolen + [ownDevice()]).randomElement(using: &generator)
        draft.past = history.closure(of: probe.valid)
        draft.action = .grant(
            RoleGrant(
                member: eve.member, devices: eve.devices, role: .owner,
                drops: [unseen] + [more].compactMap { $0 }))
        return draft
    }

    /// As many requests or devices as fit in, and some more: by a member, or with a stolen device.
    func flood() {
        let stolen = generator.oneIn(2) ? stolenDevices.randomElement(using: &generator) : nil
        guard let own = record.people["eve"]?.devices[0], let door = links.sorted().first,
            let grant = history.operations.first(where: {
                history.devices(of: $0).contains(stolen ?? own)
            })
        else { return }
        // What a stolen device writes is stored where a member cites it.
        var past = history.closure(of: stolen == nil ? probe.valid : [grant.id, door])
        let isLinking = stolen != nil || generator.oneIn(2)
        for _ in 0..<(isLinking ? 66 : 24) {
            let device = device()
            record.secrets.insert(device)
            var draft = Draft(
                author: "eve", device: stolen ?? own, grant: grant.id, past: past,
                action: .addDevices([device]))
            draft.isHonest = false
            if !isLinking {
                draft.action = .request(
                    invite: door, member: member(of: device), devices: [device], answering: nil)
            }
            fillEntries(&draft, [pair(device)])
            prove(&draft, door, member(of: device))
            write(draft).map { _ = past.insert($0.id) }
        }
        if stolen != nil { citeAll(by: own) }
    }

    /// A member cites all that is void; and the owner, who has heard of it, links a device.
    private func citeAll(by own: DeviceID) {
        guard var draft = draft(by: own) else { return }
        draft.past = everything
        draft.action = .createDocument
        guard let cited = write(draft) else { return }
        deliver(cited.id, to: 0)
        if let worker = worker(at: 0) { _ = addDevice(worker) }
    }
}
