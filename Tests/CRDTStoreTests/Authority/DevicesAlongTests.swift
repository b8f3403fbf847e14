import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Devices that go with a revoked one under a role that was given meanwhile: PROTOCOL.md, V-11.
@Suite struct `What a revoked device had linked` {
    /// Bob, a member, has the phrase `words` and the computer `bob`, which somebody has found.
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

        /// An admin's role for Bob, by the owner, who knows these operations.
        mutating func promote(_ devices: [String], after heads: [OperationID]) -> OperationID {
            let listed = devices.map { base.story.device($0) }
            let member = base.story.member("bob")
            return base.story.write(
                "root", after: heads,
                .grant(RoleGrant(member: member, devices: listed, role: .admin)))
        }

        /// What each is in by, the same in every order and by the definition.
        func grants(_ names: [String]) throws -> [OperationID?] { try base.grants(names) }
    }

    @Test func `goes along, though the owner has listed it`() throws {
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

    @Test func `goes along where it is a phrase, which the old words put in`() throws {
        var scene = Scene()
        let link = scene.link("evil", by: "words", takesPlace: true)
        let given = scene.promote(["words", "evil", "bob"], after: [link])
        let (added, _) = scene.base.replace()
        let wanted = [nil, nil, given, added]
        #expect(try scene.grants(["words", "evil", "bob", "new"]) == wanted)
    }

    @Test func `goes along with what it linked, and that with what links it back`() throws {
        var scene = Scene()
        let one = scene.link("evil", by: "bob")
        let two = scene.link("worse", by: "evil", after: [one], under: one)
        let back = scene.link("evil", by: "worse", after: [two], under: two)
        let given = scene.promote(["words", "bob", "evil", "worse"], after: [back])
        _ = scene.revoke("bob")
        #expect(try scene.grants(["words", "evil", "worse"]) == [given, nil, nil])
    }

    @Test func `goes along where the found one was given up before, and the role lists it no more`()
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

    @Test func `goes along where two that were found have linked it, whichever is revoked first`()
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

    // MARK: What stays

    @Test func `stays where its person knew of it, and the role lists what linked it no more`() throws {
        var scene = Scene()
        let link = scene.link("phone", by: "bob")
        let gone = scene.revoke("bob", by: "bob", after: [link])
        let given = scene.promote(["words", "phone"], after: [gone])
        _ = scene.revoke("bob", after: [link])
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, nil, given])
    }

    @Test func `stays where one that was found has said it of the other that links it`() throws {
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

    @Test func `stays where its person knew of it`() throws {
        var scene = Scene()
        let link = scene.link("phone", by: "bob")
        let given = scene.promote(["words", "bob", "phone"], after: [link])
        _ = scene.revoke("bob", after: [link])
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, nil, given])
    }

    @Test func `stays where the words have linked it, too`() throws {
        var scene = Scene()
        let link = scene.link("phone", by: "bob")
        let again = scene.link("phone", by: "words")
        let given = scene.promote(["words", "bob", "phone"], after: [link, again])
        _ = scene.revoke("bob")
        #expect(try scene.grants(["words", "bob", "phone"]) == [given, nil, given])
    }

    /// Else who has found the computer would take from Bob what his words have linked.
    @Test func `stays where a weaker device had said the word`() throws {
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

    /// What the found computer has linked again and again is looked at once for a grant.
    @Test func `costs a look for each word that binds a device, for each grant`() throws {
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
