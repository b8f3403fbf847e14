import Testing
import WorkspaceModel

@testable import CRDTStore
@testable import WorkspaceTestKit

/// The members of the devices that a grant, a link or a request to come back names are looked up
/// once for all the devices, and each end, confirmation, link and revocation is examined once for
/// that (PROTOCOL.md, 4.0).
struct `Whose devices are listed` {
    // MARK: The same as device by device

    @Test(arguments: Seeds.explore(40))
    func `is found in one pass as well as device by device`(seed: UInt64) throws {
        var fuzzer = FoundDeviceFuzzer(seed: seed)
        fuzzer.run(steps: 40)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        expectSame(evaluator, with: &fuzzer.generator, seed)
    }

    @Test(arguments: Seeds.explore(40))
    func `is found so where forgers write, too`(seed: UInt64) throws {
        var fuzzer = AuthFuzzer(seed: seed, replacesPhrases: true)
        fuzzer.run(steps: 50)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        expectSame(evaluator, with: &fuzzer.generator, seed)
    }

    @Test(arguments: Seeds.explore(40))
    func `is found so where attackers share every key`(seed: UInt64) throws {
        let world = AttackWorld(seed: seed, rules: .current) { EvaluatorJudge() }
        world.run(steps: 28)
        var evaluator = AuthEvaluator()
        for written in world.record.written { _ = try? evaluator.add(written.operation) }
        var generator = SeededGenerator(seed: seed)
        expectSame(evaluator, with: &generator, seed)
    }

    /// Otherwise the properties above would prove nothing.
    @Test func `is asked where devices are barred and where confirmations decide`() throws {
        var (barred, unbound, chosen) = (0, 0, 0)
        for seed in UInt64(0)..<40 where barred <= 10 || unbound <= 2 || chosen <= 5 {
            var fuzzer = FoundDeviceFuzzer(seed: seed)
            fuzzer.run(steps: 40)
            let placed = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations).placed
            chosen += placed.further.choices.count
            for member in placed.people.admitted.keys {
                let plain = PlainRoll(of: member, before: placed.everything, placed)
                barred += plain.bars.values.count { !$0.isEmpty }
                unbound += placed.people.bindings.count { device, members in
                    members[member] != nil && plain.ages[device] == nil
                }
            }
        }
        #expect(barred > 10 && unbound > 2 && chosen > 5, "\(barred) \(unbound) \(chosen)")
    }

    /// Compares both for pasts of all kinds.
    private func expectSame(
        _ evaluator: AuthEvaluator, with generator: inout SeededGenerator, _ seed: UInt64
    ) {
        let placed = evaluator.placed
        let some = placed.records.indices.filter { _ in generator.oneIn(4) }
        for record in [placed.everything] + some.map(placed.knowing) {
            var known = KnownRolls(before: record)
            for member in placed.people.admitted.keys.sorted() {
                let plain = PlainRoll(of: member, before: record, placed)
                let roll = placed.roll(of: member, before: record)
                #expect(roll.ages == plain.ages, "WSX_SEED=\(seed)")
                #expect(roll.bars == plain.bars, "WSX_SEED=\(seed)")
                #expect(roll.links.map(\.device) == plain.links.map(\.device), "WSX_SEED=\(seed)")
                #expect(roll.links.map(\.binding) == plain.links.map(\.binding), "WSX_SEED=\(seed)")
                let own = placed.people.bindings.filter { $0.value[member] != nil }.keys.sorted()
                for _ in 0..<3 {
                    let listed = own.shuffled(using: &generator).filter { _ in
                        !generator.oneIn(3)
                    }
                    // The rolls that were computed for other members and lists are used again.
                    #expect(
                        placed.listingFault(listed, of: member, &known)
                            == plainFault(listed, of: member, before: record, placed),
                        "WSX_SEED=\(seed)")
                }
            }
        }
    }

    private func plainFault(
        _ devices: [DeviceID], of member: MemberID, before record: AuthRecord,
        _ placed: PlacedOperations
    ) -> AuthFault? {
        for device in devices {
            guard placed.isBound(device, to: member, before: record) else { return .foreignDevice }
            let isBarred = (placed.people.bindings[device] ?? [:]).keys.contains {
                placed.isBound(device, to: $0, before: record)
                    && PlainRoll(of: $0, before: record, placed).bars[device]?.isEmpty == false
            }
            if isBarred { return .deviceBarred }
        }
        let roll = PlainRoll(of: member, before: record, placed)
        return devices.contains { roll.ages[$0] == nil } ? .foreignDevice : nil
    }

    // MARK: What it costs

    /// Bob's phrase has linked some devices and then revoked itself in concurrent operations. Eve,
    /// who is removed, has confirmed all of these ends very often, and Ann once. The phrase has
    /// revoked each device as if before its end.
    private struct Scene {
        var story = Story(admins: ["eve", "ann"])
        private(set) var given = OperationID.zero

        init(ends: Int, confirmations: Int, devices: Int) {
            let words = story.device("words")
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member)))
            let entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [words, story.device("bob")], request: nil))
            let linked = (0..<devices).map { story.device("d\($0)") }
            var heads = [
                story.write(
                    "words", under: entry, after: [entry], .addDevices([story.device("new")]),
                    takesPlace: true)
            ]
            for device in linked {
                heads = [story.write("words", under: entry, after: heads, .addDevices([device]))]
            }
            let all = (0..<ends).map { _ in
                story.write("words", under: entry, after: heads, .removeDevice(words))
            }
            let removal = story.write(
                "root", after: [entry], .remove(member: story.member("eve")))
            let stolen = (0..<confirmations).map { _ in
                story.write("eve", after: all, .confirm(all))
            }
            let confirmed = story.write("ann", after: all, .confirm(all))
            for device in linked {
                _ = story.write("words", under: entry, after: heads, .removeDevice(device))
            }
            given = story.write(
                "root", after: stolen + [confirmed, removal],
                .grant(
                    RoleGrant(member: story.member("bob"), devices: linked, role: .member)))
        }

        /// The change that the grant makes, and the cost of placing it.
        func add() throws -> (change: AuthChange, placing: Int) {
            var evaluator = AuthEvaluator()
            try evaluator.feed(story.history.operations.filter { $0.id != given })
            let before = evaluator.placed.looks
            let change = try evaluator.add(try #require(story.history[given]))
            return (change, evaluator.placed.looks - before)
        }

        func looks() throws -> Int { try add().change.looksAtRolls }
    }

    @Test func `costs lookups for each end, confirmation and device, but not for each pair`()
        throws
    {
        let few = try Scene(ends: 10, confirmations: 10, devices: 10).looks()
        #expect(few >= 30)
        for (ends, confirmations, devices) in [(40, 10, 10), (10, 40, 10), (10, 10, 40)] {
            let more = try Scene(ends: ends, confirmations: confirmations, devices: devices)
                .looks()
            #expect(more - few <= 5 * 30, "\(more) where there were \(few)")
        }
        let many = try Scene(ends: 40, confirmations: 40, devices: 40).looks()
        #expect(many <= 4 * few, "\(few) looks, and \(many) of four times as many")
    }

    /// The cost counts towards the end of a turn, and is paid for together with ends that are
    /// judged again.
    @Test func `is counted with all else that an operation costs`() throws {
        let (change, placing) = try Scene(ends: 40, confirmations: 40, devices: 40).add()
        #expect(change.looksAtRolls >= 120 && placing >= change.looksAtRolls)
        let judgements = change.looksAtRolls / FurtherEnds.looksPerRecord
        #expect(judgements > 0 && change.furtherWork == change.furtherGrants + judgements)
    }

    /// The names in a confirmation are forgotten with it.
    @Test func `is found without what was taken back`() throws {
        let scene = Scene(ends: 3, confirmations: 2, devices: 1)
        var evaluator = AuthEvaluator()
        var choices: [[OwnDevice: [Int]]] = []
        for operation in scene.story.history.operations {
            let before = evaluator.placed.further.choices
            try evaluator.add(operation)
            guard evaluator.withdraw(operation.id) else { continue }
            #expect(evaluator.placed.further.choices == before)
            choices.append(before)
            try evaluator.add(operation)
        }
        #expect(!choices.isEmpty)
        let named = try #require(evaluator.placed.further.choices.values.first)
        #expect(named.count == 3)
        #expect(
            zip(named, named.dropFirst()).allSatisfy { evaluator.placed.isStronger($0, than: $1) })
    }
}

/// What counts of a member's devices, as 4.0 of PROTOCOL.md defines it, with each pair examined by
/// itself.
private struct PlainRoll {
    var ages: [DeviceID: DeviceRoll.DeviceAge] = [:]
    var bars: [DeviceID: [Int]] = [:]
    var links: [DeviceRoll.Link] = []

    init(of member: MemberID, before record: AuthRecord, _ placed: PlacedOperations) {
        let finals = Self.finals(of: member, before: record, placed)
        var open: [DeviceRoll.Link] = []
        for index in placed.people.admitted[member] ?? []
        where record.knows(placed.records[index].place) {
            let own = finals.filter {
                placed.records[index].operation.action.isAdmission
                    && placed.records[$0].operation.device == placed.devicesBound(index).first
            }
            guard own.isEmpty || own.contains(where: { placed.knows($0, index) }) else { continue }
            open += placed.links(by: index, after: nil)
        }
        while let link = open.min(by: { $0.age < $1.age }) {
            open.removeAll { $0.age == link.age && $0.binding == link.binding }
            let binding = placed.records[link.binding].operation
            let linkers = bars[binding.device] ?? []
            guard
                !binding.action.isAddition || linkers.allSatisfy({ placed.knows($0, link.binding) })
            else { continue }
            links.append(link)
            guard ages[link.device] == nil else { continue }
            bars[link.device] = (placed.people.removals[.device(link.device)] ?? []).filter { end in
                guard placed.records[end].author == member,
                    record.knows(placed.records[end].place)
                else { return false }
                if finals.contains(end) { return true }
                let author = placed.records[end].operation.device
                guard author != link.device, let judge = ages[author], judge < link.age else {
                    return false
                }
                return (bars[author] ?? []).allSatisfy { placed.knows($0, end) }
            }
            ages[link.device] = link.age
            for index in placed.people.additions[member] ?? []
            where record.knows(placed.records[index].place)
                && placed.records[index].operation.device == link.device
            {
                open += placed.links(by: index, after: link.age)
            }
        }
    }

    /// Each end with each confirmation that names it.
    private static func finals(
        of member: MemberID, before record: AuthRecord, _ placed: PlacedOperations
    ) -> Set<Int> {
        let known = (placed.further.finalEnds[member] ?? []).filter {
            record.knows(placed.records[$0].place)
        }
        guard known.count > 1 else { return Set(known) }
        var strongest: [DeviceID: Int] = [:]
        var confirmations: [Int: [Int]] = [:]
        for end in known {
            let device = placed.records[end].operation.device
            let found = (placed.further.confirms[end] ?? []).filter {
                record.knows(placed.records[$0].place) && placed.records[$0].author != member
                    && !isEnded($0, before: record, placed)
            }
            confirmations[end] = found
            for index in found
            where strongest[device].map({ placed.isStronger(index, than: $0) }) ?? true {
                strongest[device] = index
            }
        }
        return Set(
            known.filter { end in
                strongest[placed.records[end].operation.device].map {
                    confirmations[end]?.contains($0) == true
                } ?? true
            })
    }

    private static func isEnded(
        _ confirmation: Int, before record: AuthRecord, _ placed: PlacedOperations
    ) -> Bool {
        let verdicts = AuthVerdicts(placed)
        var open = [confirmation]
        while let next = open.popLast() {
            let isHit = (placed.exposure(of: next)?.targets ?? []).contains { target in
                (placed.reach.revocations[target] ?? []).contains {
                    !placed.records[$0].operation.action.isConfirmation
                        && record.knows(placed.records[$0].place) && verdicts.voids($0, next)
                }
            }
            if isHit { return true }
            open += placed.records[next].supports
        }
        return false
    }
}
