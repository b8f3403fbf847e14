import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Devices that lose effect with a revoked one under a role granted
/// concurrently: PROTOCOL.md, V-11.
struct `What a revoked device had linked` {
    /// Bob, a member, has the phrase `words` and the computer `bob`, which a thief has found.
    private struct Scene {
        var base = `A phrase that was replaced`.Scene()

        var story: Story { base.story }

        mutating func link(
            _ device: String, by author: String, after heads: [OperationID]? = nil,
            takesPlace: Bool = false, under grant: OperationID? = nil
        ) -> OperationID {
            base.story.write(
                author, under: grant ?? base.entry, after: heads ?? base.start,
                .addDevices([base.story.device(device)]), takesPlace: takesPlace)
        }

        mutating func revoke(
            _ device: String, by author: String = "words", after heads: [OperationID]? = nil
        ) -> OperationID {
            base.story.write(
                author, under: base.entry, after: heads ?? base.start,
                .removeDevice(base.story.device(device)))
        }

        /// The owner, who knows these operations, makes Bob an admin.
        mutating func promote(_ devices: [String], after heads: [OperationID]) -> OperationID {
            let listed = devices.map { base.story.device($0) }
            let member = base.story.member("bob")
            return base.story.write(
                "root", after: heads,
                .grant(RoleGrant(member: member, devices: listed, role: .admin)))
        }

        /// The grant by which each device is in, the same in every order and by the definition.
        func grants(_ names: [String]) throws -> [OperationID?] { try base.grants(names) }
    }

    @Test func `is out too, although the role lists it`() throws {
        var scene = Scene()
        let link = scene.link("evil", by: "bob")
        let given = scene.promote(["words", "bob", "evil"], after: [link])
        let end = scene.revoke("bob")
        #expect(try scene.grants(["words", "bob", "evil"]) == [given, nil, nil])
        let removal = scene.base.story.write(
            "evil", under: given, after: [given], .remove(member: scene.story.member("ann")))
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: removal) == .revoked(by: end))
            #expect(evaluator.revocations(ending: story.device("evil")) == [end])
        }
        #expect(!scene.base.valid().contains(removal))
        #expect(scene.base.valid(without: .v11).contains(removal))
    }

    @Test func `is out too if it is a phrase that the old phrase added`() throws {
        var scene = Scene()
        let link = scene.link("evil", by: "words", takesPlace: true)
        let given = scene.promote(["words", "evil", "bob"], after: [link])
        let (added, _) = scene.base.replace()
        let wanted = [nil, nil, given, added]
        #expect(try scene.grants(["words", "evil", "bob", "new"]) == wanted)
    }

    @Test func `is out with all devices that it linked, also in a cycle of links`() throws {
        var scene = Scene()
        let one = scene.link("evil", by: "bob")
        let two = scene.link("worse", by: "evil", after: [one], under: one)
        let back = scene.link("evil", by: "worse", after: [two], under: two)
        let given = scene.promote(["words", "bob", "evil", "worse"], after: [back])
        _ = scene.revoke("bob")
        #expect(try scene.grants(["words", "evil", "worse"]) == [given, nil, nil])
    }

    @Test func `is out too if the lost device had revoked itself and the role omits it`()
        throws
    {
        var scene = Scene()
        let link = scene.link("evil", by: "bob")
        let gone = scene.revoke("bob", by: "bob", after: [link])
        let given = scene.promote(["words", "evil"], after: [gone])
        _ = scene.revoke("bob")
        #expect(try scene.grants(["words", "bob", "evil"]) == [given, nil, nil])
        let answer = scene.base.story.write(
            "evil", under: given, after: [given], .removeDevice(scene.story.device("words")))
        #expect(try scene.grants(["words", "evil"]) == [given, nil])
        #expect(!scene.base.valid().contains(answer))
        #expect(scene.base.valid(without: .v11Unlisted).contains(answer))
    }

    @Test func `is out if two lost devices linked it, whichever is revoked first`()
        throws
    {
        for isPhoneFirst in [false, true] {
            var scene = Scene()
            let phone = scene.link("phone", by: "bob")
            let one = scene.link("evil", by: "bob", after: [phone])
            let two = scene.link("evil", by: "phone", after: [phone], under: phone)
            let given = scene.promote(["words", "bob", "phone", "evil"], after: [one, two])
            let found = isPhoneFirst ? ["phone", "bob"] : ["bob", "phone"]
            let first = scene.revoke(found[0], after: [phone])
            _ = scene.revoke(found[1], after: [first])
            #expect(
                try scene.grants(["words", "bob", "phone", "evil"]) == [given, nil, nil, nil])
            let said = scene.base.story.write(
                "evil", under: given, after: [given], .setWorkspace(mayInvite: .owner))
            #expect(try scene.grants(["words", "evil"]) == [given, nil])
            #expect(!scene.base.valid().contains(said))
            #expect(scene.base.valid(without: .v11Together).contains(said))
        }
    }

    /// The weaker of two ends leaves no chain, also where the stronger one is heard of after it.
    /// What the device had said before that has to be judged again.
    @Test func `is out with what it wrote, whichever end of the two that linked it comes last`()
        throws
    {
        var scene = Scene()
        let phone = scene.link("phone", by: "bob")
        let one = scene.link("evil", by: "bob", after: [phone])
        let two = scene.link("evil", by: "phone", after: [phone], under: phone)
        let given = scene.promote(["words", "bob", "phone", "evil"], after: [one, two])
        let said = scene.base.story.write(
            "evil", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        _ = scene.revoke("bob", after: [phone])
        #expect(scene.base.valid().contains(said))
        // Neither end knows the other.
        _ = scene.revoke("phone", after: [phone])
        #expect(!scene.base.valid().contains(said))
        let story = scene.story
        try story.inEveryOrder { #expect(!$0.isValid(said)) }
    }

    // MARK: What stays

    @Test func `stays if its person knew of it, although the role omits what linked it`()
        throws
    {
        var scene = Scene()
        let link = scene.link("phone", by: "bob")
        let gone = scene.revoke("bob", by: "bob", after: [link])
        let given = scene.promote(["words", "phone"], after: [gone])
        _ = scene.revoke("bob", after: [link])
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, nil, given])
    }

    @Test func `stays if one of the lost devices revoked the other`() throws {
        var scene = Scene()
        let tablet = scene.link("tablet", by: "words")
        let one = scene.link("phone", by: "bob", after: [tablet])
        let two = scene.link("phone", by: "tablet", after: [tablet], under: tablet)
        let given = scene.promote(["words", "bob", "tablet", "phone"], after: [one, two])
        let answer = scene.revoke("tablet", by: "bob", after: [tablet])
        #expect(
            try scene.grants(["words", "bob", "tablet", "phone"]) == [given, given, nil, given])
        _ = scene.revoke("bob", after: [tablet])
        #expect(
            try scene.grants(["words", "bob", "tablet", "phone"]) == [given, nil, given, given])
        #expect(!scene.base.valid().contains(answer))
    }

    @Test func `stays if its person knew of it`() throws {
        var scene = Scene()
        let link = scene.link("phone", by: "bob")
        let given = scene.promote(["words", "bob", "phone"], after: [link])
        _ = scene.revoke("bob", after: [link])
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, nil, given])
    }

    @Test func `stays if the phrase has linked it, too`() throws {
        var scene = Scene()
        let link = scene.link("phone", by: "bob")
        let again = scene.link("phone", by: "words")
        let given = scene.promote(["words", "bob", "phone"], after: [link, again])
        _ = scene.revoke("bob")
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, nil, given])
    }

    /// Otherwise the finder of the computer could take from Bob what his phrase has linked.
    @Test func `stays if a weaker device wrote the revocation`() throws {
        var scene = Scene()
        let link = scene.link("phone", by: "words")
        let given = scene.promote(["words", "bob", "phone"], after: [link])
        _ = scene.revoke("words", by: "bob")
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, given, given])
        let said = scene.base.story.write(
            "phone", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        #expect(scene.base.valid().contains(said))
        #expect(!scene.base.valid(without: .v11Stronger).contains(said))
    }

    // MARK: The evaluator

    @Test(arguments: Seeds.explore(60))
    func `equals the definition in every order, for any links and revocations`(
        seed: UInt64
    ) throws {
        var fuzzer = FoundDeviceFuzzer(seed: seed)
        fuzzer.run(steps: 32)
        fuzzer.writeUnderAll()
        let operations = fuzzer.history.operations
        let definition = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
        let valid = definition.validOperations()
        let full = try AuthEvaluator.evaluateFromScratch(operations)
        #expect(Set(full.validOperations) == valid)
        for _ in 0..<4 {
            var evaluator = AuthEvaluator()
            try evaluator.feed(fuzzer.history.shuffledCausally(with: &fuzzer.generator))
            #expect(Set(evaluator.validOperations) == valid)
            for device in fuzzer.devices {
                #expect(evaluator.bestGrant(of: device) == full.bestGrant(of: device))
            }
            try expectContent(evaluator, definition, fuzzer)
        }
    }

    /// Otherwise the content of such a device would be shown until the next start.
    @Test(arguments: Seeds.explore(15))
    func `is reported wherever it affects content`(seed: UInt64) throws {
        var fuzzer = FoundDeviceFuzzer(seed: seed)
        fuzzer.run(steps: 32)
        var evaluator = AuthEvaluator()
        var before: [ContentLimit] = []
        for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
            let change = try evaluator.add(operation)
            let changed =
                change.becameValid + change.becameInvalid + change.moved + [operation.id]
            let reached = Set(changed.flatMap { evaluator.grants(reachedBy: $0) } + changed)
            let seats = fuzzer.history.operations.flatMap { grant in
                fuzzer.history.devices(of: grant).map { (grant: grant.id, device: $0) }
            }
            let limits = seats.map { seat in
                evaluator.contentLimit(
                    grant: seat.grant,
                    log: LogName(document: .zero, device: seat.device, incarnation: 1),
                    leastRole: .member)
            }
            for (seat, pair) in zip(seats, zip(before, limits)) where pair.0 != pair.1 {
                #expect(reached.contains(seat.grant))
            }
            before = limits
        }
    }

    /// The revoked device is in no list of the role, so nothing but what it had linked leads there.
    @Test func `is reported if the role lists it and omits the device that linked it`()
        throws
    {
        var scene = Scene()
        let link = scene.link("evil", by: "bob")
        let gone = scene.revoke("bob", by: "bob", after: [link])
        let given = scene.promote(["words", "evil"], after: [gone])
        let end = scene.revoke("bob")
        let log = LogName(document: .zero, device: scene.story.device("evil"), incarnation: 1)
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations.filter { $0.id != end })
        let before = evaluator.contentLimit(grant: given, log: log, leastRole: .member)
        #expect(before == .everything)
        let change = try evaluator.add(try #require(scene.story.history[end]))
        let after = evaluator.contentLimit(grant: given, log: log, leastRole: .member)
        #expect(after == .nothing && evaluator.isValid(given))
        #expect(evaluator.grants(reachedByAny: change.all).contains(given))
    }

    /// Content is hit as the definition says; no operation here has cuts.
    private func expectContent(
        _ evaluator: AuthEvaluator, _ definition: AuthDefinition, _ fuzzer: FoundDeviceFuzzer
    ) throws {
        for operation in fuzzer.history.operations where evaluator.contains(operation.id) {
            for device in fuzzer.history.devices(of: operation) {
                let log = LogName(document: .zero, device: device, incarnation: 1)
                let limit = evaluator.contentLimit(
                    grant: operation.id, log: log, leastRole: .member)
                let reached = definition.revocationsOfContent(under: operation.id, by: device)
                #expect((limit == .everything) == (reached == []))
                #expect((limit == .nothing) == (reached != []))
            }
        }
    }

    private static let rules: [AuthRule] = [
        .v11, .v11Stronger, .v11Unlisted, .v11Together, .v11Admits, .v12, .countsLinks,
    ]

    /// Otherwise the property above would prove nothing. Some cases are missing in one history of a
    /// hundred.
    @Test func `is what such people come to`() {
        var open = Self.rules
        for seed in UInt64(0)..<480 where !open.isEmpty {
            var fuzzer = FoundDeviceFuzzer(seed: seed)
            fuzzer.run(steps: 32)
            fuzzer.writeUnderAll()
            let with = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
                .validOperations()
            open.removeAll { rule in
                let without = AuthDefinition(
                    fuzzer.history, rules: .without(rule), visitingWith: &fuzzer.generator)
                return without.validOperations() != with
            }
        }
        #expect(open == [], "nothing misses these")
    }

    /// The devices that the found computer has linked again and again are examined once for a
    /// grant.
    @Test func `costs one lookup per device binding, for each grant`() throws {
        func looks(_ links: Int) throws -> Int {
            var scene = Scene()
            var heads = scene.base.start
            for _ in 0..<links { heads = [scene.link("evil", by: "bob", after: heads)] }
            let given = scene.promote(["words", "bob", "evil"], after: heads)
            _ = scene.revoke("bob")
            var evaluator = AuthEvaluator()
            try evaluator.feed(scene.story.history.operations.filter { $0.id != given })
            let before = evaluator.looks
            _ = try evaluator.add(try #require(scene.story.history[given]))
            return evaluator.looks - before
        }
        let (few, many) = (try looks(10), try looks(40))
        #expect(many <= 5 * few, "\(few) looks for 10, \(many) for 40")
    }
}
