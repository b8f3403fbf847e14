import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A role that lists a phrase added by a thief with the old words, because the grantor had heard of
/// the thief's end of the old phrase and not of the owner's: PROTOCOL.md, V-13.
struct `A phrase that a role lists without its predecessor` {
    /// Bob has the phrase `words` and the computer `bob`; a thief has the phrase, too.
    private struct Scene {
        var story = Story(admins: ["ann", "ben"])
        let entry: OperationID
        var start: [OperationID] { [entry] }

        init(role: Role = .member) {
            let invite = story.write("root", after: story.heads, .invite(InviteTerms(role: role)))
            entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [story.device("words"), story.device("bob")], request: nil))
        }

        mutating func add(
            _ device: String, by author: String = "words", under grant: OperationID? = nil,
            after heads: [OperationID]? = nil, takesPlace: Bool = true
        ) -> OperationID {
            story.write(
                author, under: grant ?? entry, after: heads ?? start,
                .addDevices([story.device(device)]), takesPlace: takesPlace)
        }

        mutating func revoke(
            _ device: String, by author: String = "words", under grant: OperationID? = nil,
            after heads: [OperationID]
        ) -> OperationID {
            story.write(
                author, under: grant ?? entry, after: heads, .removeDevice(story.device(device)))
        }

        /// Adds a phrase in the place of the old one, and the end of the old one, concurrent to all
        /// others.
        mutating func replace(by device: String) -> (added: OperationID, end: OperationID) {
            let added = add(device)
            return (added, revoke("words", after: [added]))
        }

        @discardableResult
        mutating func confirm(
            _ end: OperationID, by who: String, under grant: OperationID? = nil
        ) -> OperationID {
            story.write(who, under: grant, after: [end], .confirm([end]))
        }

        mutating func give(
            _ role: Role, to devices: [String], after heads: [OperationID], by who: String = "root"
        ) -> OperationID {
            let words = RoleGrant(
                member: story.member("bob"), devices: devices.map { story.device($0) }, role: role)
            return story.write(who, after: heads, .grant(words))
        }

        /// The grants by which each of these is in, the same in every order and by the definition.
        func grants(_ names: [String]) throws -> [OperationID?] {
            var found: Set<[OperationID?]> = []
            let valid = valid()
            try story.inEveryOrder { evaluator in
                found.insert(names.map { evaluator.bestGrant(of: story.device($0)) })
                #expect(Set(evaluator.validOperations) == valid)
            }
            try #require(found.count == 1)
            return found.first ?? []
        }

        func valid(without missing: AuthRule...) -> Set<OperationID> {
            var generator = SeededGenerator(seed: 1)
            var rules = AuthRuleSet.current
            rules.missing = Set(missing)
            return AuthDefinition(story.history, rules: rules, visitingWith: &generator)
                .validOperations()
        }
    }

    @Test func `is out once another member confirms the end that its person wrote`() throws {
        var scene = Scene()
        let (_, theft) = scene.replace(by: "evil")
        let given = scene.give(.admin, to: ["evil", "bob"], after: [theft])
        let (added, end) = scene.replace(by: "new")
        scene.confirm(end, by: "ann")
        let names = ["words", "evil", "bob", "new"]
        #expect(try scene.grants(names) == [nil, nil, given, added])
        // What it writes there about the computer, as if before.
        let word = scene.revoke("bob", by: "evil", under: given, after: [given])
        #expect(try scene.grants(["evil", "bob"]) == [nil, given])
        #expect(!scene.valid().contains(word) && scene.valid(without: .v13).contains(word))
        let evaluator = try AuthEvaluator.evaluateFromScratch(scene.story.history.operations)
        #expect(evaluator.verdict(on: word) == .revoked(by: end))
        #expect(evaluator.revocations(ending: scene.story.device("evil")) == [end])
    }

    @Test func `stays in while nobody has confirmed that end`() throws {
        var scene = Scene()
        let (_, theft) = scene.replace(by: "evil")
        let given = scene.give(.admin, to: ["evil", "bob"], after: [theft])
        let (_, end) = scene.replace(by: "new")
        #expect(try scene.grants(["words", "evil", "bob"]) == [nil, given, given])
        let setting = scene.story.write(
            "evil", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        #expect(scene.valid().contains(setting))
        #expect(!scene.valid(without: .v13Confirmed).contains(setting))
        // An admin who knows everything revokes it by name.
        _ = scene.story.write(
            "ann", after: [end, setting], .removeDevice(scene.story.device("evil")))
        #expect(try scene.grants(["words", "evil", "bob"]) == [nil, nil, given])
    }

    @Test func `is out with the phrases that it added and what these linked`() throws {
        var scene = Scene()
        let (first, theft) = scene.replace(by: "evil")
        let second = scene.add("worse", by: "evil", under: first, after: [theft])
        let gone = scene.revoke("evil", by: "evil", under: first, after: [second])
        let link = scene.add(
            "tablet", by: "worse", under: second, after: [gone], takesPlace: false)
        let given = scene.give(.admin, to: ["worse", "bob", "tablet"], after: [link])
        let (added, end) = scene.replace(by: "new")
        scene.confirm(end, by: "ann")
        let names = ["words", "evil", "worse", "tablet", "bob", "new"]
        #expect(try scene.grants(names) == [nil, nil, nil, nil, given, added])
    }

    /// Each has revoked the one before it.
    @Test func `is out, however many phrases it follows`() throws {
        for count in [Limits.phraseSuccessionsMax, Limits.phraseSuccessionsMax + 1] {
            var scene = Scene()
            var (last, grant, head) = ("words", scene.entry, scene.entry)
            for number in 1...count {
                let added = scene.add("evil \(number)", by: last, under: grant, after: [head])
                head = scene.revoke(last, by: last, under: grant, after: [added])
                (last, grant) = ("evil \(number)", added)
            }
            let given = scene.give(.admin, to: [last, "bob"], after: [head])
            let all = scene.story.history.operations
            let (added, end) = scene.replace(by: "new")
            let own = [added, end, scene.confirm(end, by: "ann")]
            let said = try own.map { try #require(scene.story.history[$0]) }
            let start = try #require(all.firstIndex { $0.id == scene.entry })
            for order in [all + said, Array(all[...start]) + said + all[(start + 1)...]] {
                var evaluator = AuthEvaluator()
                try evaluator.feed(order)
                #expect(Set(evaluator.validOperations) == scene.valid())
                let found = ["words", last, "bob", "new"].map {
                    evaluator.bestGrant(of: scene.story.device($0))
                }
                #expect(found == [nil, nil, given, added])
            }
        }
    }

    /// It has added another phrase, which it revokes, and has revoked itself.
    @Test func `is out with what it linked, although the role lists only that`() throws {
        var scene = Scene()
        let (first, theft) = scene.replace(by: "evil")
        let link = scene.add(
            "tablet", by: "evil", under: first, after: [theft], takesPlace: false)
        let second = scene.add("worse", by: "evil", under: first, after: [link])
        let revoked = scene.revoke("worse", by: "evil", under: first, after: [second])
        let gone = scene.revoke("evil", by: "evil", under: first, after: [revoked])
        let given = scene.give(.admin, to: ["bob", "tablet"], after: [gone])
        #expect(try scene.grants(["bob", "tablet"]) == [given, given])
        let (added, end) = scene.replace(by: "new")
        scene.confirm(end, by: "ann")
        let names = ["words", "evil", "tablet", "bob", "new"]
        #expect(try scene.grants(names) == [nil, nil, nil, given, added])
        let word = scene.story.write(
            "tablet", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        #expect(!scene.valid().contains(word) && scene.valid(without: .v13).contains(word))
    }

    @Test func `costs nothing under a role that knows nothing it linked`() throws {
        var scene = Scene()
        let (_, end) = scene.replace(by: "new")
        let given = scene.give(.admin, to: ["bob"], after: scene.start)
        let all = scene.story.history.operations
        for last in [given, end] {
            var evaluator = AuthEvaluator()
            try evaluator.feed(all.filter { $0.id != last })
            let change = try evaluator.add(try #require(scene.story.history[last]))
            #expect(change.furtherGrants == 0)
            #expect(evaluator.bestGrant(of: scene.story.device("bob")) == given)
        }
    }

    /// The person saw it in the list and revoked it, without having heard that the old phrase was
    /// ended.
    @Test func `is out if its person revoked it by the old phrase`() throws {
        var scene = Scene()
        let evil = scene.add("evil")
        let theft = scene.revoke("words", after: [evil])
        let given = scene.give(.admin, to: ["evil", "bob"], after: [theft])
        let word = scene.revoke("evil", after: [evil])
        let added = scene.add("new", after: [word])
        let end = scene.revoke("words", after: [added])
        scene.confirm(end, by: "ann")
        #expect(try scene.grants(["words", "evil", "bob", "new"]) == [nil, nil, given, added])
    }

    // MARK: The other way round

    /// What a thief with the old phrase ends afterwards takes nothing while nobody has confirmed
    /// it, nor if somebody stronger has confirmed the end by the person.
    @Test func `stays its person's unless the strongest member confirmed an end`() throws {
        for confirmed in [[], ["ann", "ben"], ["", "ben"]] {
            var scene = Scene()
            let (_, end) = scene.replace(by: "new")
            let given = scene.give(.admin, to: ["new", "bob"], after: [end])
            let (_, theft) = scene.replace(by: "evil")
            for (word, who) in zip([end, theft], confirmed) where !who.isEmpty {
                scene.confirm(word, by: who)
            }
            let stays = confirmed.first != ""
            #expect(
                try scene.grants(["words", "new", "bob"]) == [nil, stays ? given : nil, given])
        }
    }

    /// The member who confirms it could have revoked the phrase there by name.
    @Test func `stays if the member who confirmed is weaker`() throws {
        var scene = Scene()
        let (_, end) = scene.replace(by: "new")
        let given = scene.give(.owner, to: ["new", "bob"], after: [end])
        let (_, theft) = scene.replace(by: "evil")
        scene.confirm(theft, by: "ann")
        #expect(try scene.grants(["words", "new", "bob"]) == [nil, given, given])
    }

    @Test func `stays if its own person confirmed`() throws {
        var scene = Scene(role: .admin)
        let (_, end) = scene.replace(by: "new")
        let given = scene.give(.member, to: ["new", "bob"], after: [end])
        let (_, theft) = scene.replace(by: "evil")
        scene.confirm(theft, by: "bob", under: scene.entry)
        let channel = scene.story.write(
            "new", under: given, after: [given], .createDocument)
        let story = scene.story
        try story.inEveryOrder { #expect($0.isValid(channel)) }
        #expect(scene.valid().contains(channel))
        #expect(!scene.valid(without: .v13Others).contains(channel))
    }

    // MARK: The evaluator

    @Test func `costs one verdict more for each such role, and leaves nothing of one taken back`()
        throws
    {
        var scene = Scene()
        let (_, theft) = scene.replace(by: "evil")
        let removal = scene.story.write(
            "root", after: [theft], .remove(member: scene.story.member("ann")))
        let void = scene.give(.member, to: ["evil", "bob"], after: [theft], by: "ann")
        let (_, end) = scene.replace(by: "new")
        scene.confirm(end, by: "ben")
        let all = scene.story.history.operations
        var evaluator = AuthEvaluator()
        try evaluator.feed(all.filter { $0.id != void })
        let change = try evaluator.add(try #require(scene.story.history[void]))
        #expect(change.furtherGrants == 1)
        #expect(evaluator.isValid(removal) && !evaluator.isValid(void))
        let isTakenBack = evaluator.withdraw(void)
        #expect(isTakenBack)
        _ = try evaluator.add(try #require(scene.story.history[void]))
        #expect(Set(evaluator.validOperations) == scene.valid())
        // The end arrives after the grant.
        var other = AuthEvaluator()
        try other.feed(all)
        #expect(Set(other.validOperations) == scene.valid())
    }

    // MARK: Who confirms (F-16)

    /// Admits somebody whom the owner makes an admin after the others, and who is so weaker than a
    /// role that was given before.
    private func letIn(
        _ name: String, after given: OperationID, in scene: inout Scene
    ) -> OperationID {
        let invite = scene.story.write(
            "root", after: [given], .invite(InviteTerms(role: .admin)))
        return scene.story.admit(name, on: invite, by: "root", after: [invite])
    }

    /// What the owner's device would confirm, the same in each order of arrival.
    private func open(_ scene: Scene) throws -> Set<OperationID> {
        var found: Set<Set<OperationID>> = []
        let story = scene.story
        try story.inEveryOrder { evaluator in
            found.insert(
                Set(
                    evaluator.unconfirmed(
                        for: story.device("root"), under: story.grant("root"))))
        }
        try #require(found.count == 1)
        return found.first ?? []
    }

    @Test func `waits for a stronger confirm of the end that a weaker admin has confirmed`() throws
    {
        var scene = Scene()
        let (_, theft) = scene.replace(by: "evil")
        let given = scene.give(.admin, to: ["evil", "bob"], after: [theft])
        let young = letIn("young", after: given, in: &scene)
        let (added, end) = scene.replace(by: "new")
        _ = scene.story.write("young", under: young, after: [young, end], .confirm([end]))
        #expect(try scene.grants(["evil", "bob", "new"]) == [given, given, added])
        let due = try open(scene)
        #expect(due.contains(end) && !due.contains(theft))
        scene.confirm(end, by: "root")
        #expect(try scene.grants(["evil", "bob", "new"]) == [nil, given, added])
        #expect(try open(scene).isDisjoint(with: [end, theft]))
    }

    /// Under the role neither end is confirmed, and the thief's comes first.
    @Test func `has no end confirmed beside the one that an admin has confirmed`() throws {
        var scene = Scene()
        let given = scene.give(.admin, to: ["words", "bob"], after: scene.start)
        let evil = scene.add("evil", under: given, after: [given])
        let theft = scene.revoke("words", under: given, after: [evil])
        let young = letIn("young", after: given, in: &scene)
        let added = scene.add("new", after: [young])
        let end = scene.revoke("words", after: [added])
        _ = scene.story.write("young", under: young, after: [end], .confirm([end]))
        #expect(scene.valid().contains(theft) && !scene.valid().contains(end))
        let due = try open(scene)
        #expect(due.contains(end) && !due.contains(theft))
        scene.confirm(end, by: "root")
        #expect(try scene.grants(["words", "evil", "new", "bob"]) == [nil, nil, added, given])
    }

    /// The person's end cites the role, which is stronger than the admin who confirms the end. The
    /// thief's end cites the entry, and an even weaker admin has confirmed that.
    @Test func `has the end confirmed that an admin younger than the role has confirmed`() throws {
        var scene = Scene()
        let given = scene.give(.admin, to: ["words", "bob"], after: scene.start)
        let young = letIn("young", after: given, in: &scene)
        let younger = letIn("younger", after: young, in: &scene)
        let added = scene.add("new", under: given, after: [younger])
        let end = scene.revoke("words", under: given, after: [added])
        _ = scene.story.write("young", under: young, after: [end], .confirm([end]))
        let (_, theft) = scene.replace(by: "evil")
        _ = scene.story.write(
            "younger", under: younger, after: [younger, theft], .confirm([theft]))
        let due = try open(scene)
        #expect(due.contains(end) && !due.contains(theft))
    }

    /// A confirmation takes nothing else that it knows. An author who names one of two ends has
    /// chosen, and one who names both has not.
    @Test func `is out once somebody stronger chooses between two ends that they know`() throws {
        for isChoice in [true, false] {
            var scene = Scene()
            let given = scene.give(.admin, to: ["words", "bob"], after: scene.start)
            let evil = scene.add("evil", under: given, after: [given])
            let theft = scene.revoke("words", under: given, after: [evil])
            let young = letIn("young", after: given, in: &scene)
            let added = scene.add("new", after: [young])
            let end = scene.revoke("words", after: [added])
            let chosen = scene.story.write("young", under: young, after: [end], .confirm([end]))
            let names = ["words", "evil", "new", "bob"]
            #expect(try scene.grants(names) == [nil, evil, nil, given])
            _ = scene.story.write(
                "root", after: [chosen, theft], .confirm(isChoice ? [end] : [end, theft]))
            let wanted = isChoice ? [nil, nil, added, given] : [nil, evil, nil, given]
            #expect(try scene.grants(names) == wanted)
            #expect(scene.valid().contains(theft) != isChoice)
            #expect(scene.valid(without: .v7Chosen).contains(theft))
            #expect(try open(scene).isDisjoint(with: isChoice ? [end, theft] : [theft]))
        }
    }

    /// It takes no end that knows the end which it names, and none of another phrase.
    @Test func `stays out though somebody confirms the end of another phrase`() throws {
        var scene = Scene()
        let (_, end) = scene.replace(by: "new")
        let invite = scene.story.write(
            "root", after: [end], .invite(InviteTerms(role: .member)))
        let entry = scene.story.write(
            "root", after: [invite],
            .admit(
                invite: invite, member: scene.story.member("cat"),
                devices: [scene.story.device("paper"), scene.story.device("cat")], request: nil))
        let added = scene.story.write(
            "paper", under: entry, after: [entry], .addDevices([scene.story.device("sheet")]),
            takesPlace: true)
        let other = scene.story.write(
            "paper", under: entry, after: [added], .removeDevice(scene.story.device("paper")))
        scene.confirm(other, by: "ann")
        #expect(try scene.grants(["words", "paper", "sheet"]) == [nil, nil, added])
        #expect(scene.valid().isSuperset(of: [end, other]))
    }

    @Test func `has the end confirmed that the stronger of two admins has confirmed`() throws {
        for isTheftFirst in [false, true] {
            var scene = Scene()
            let given = scene.give(.admin, to: ["words", "bob"], after: scene.start)
            let first = letIn("first", after: given, in: &scene)
            let second = letIn("second", after: first, in: &scene)
            let (_, theft) = scene.replace(by: "evil")
            let (_, end) = scene.replace(by: "new")
            let chosen = isTheftFirst ? theft : end
            let other = isTheftFirst ? end : theft
            _ = scene.story.write(
                "first", under: first, after: [first, chosen], .confirm([chosen]))
            _ = scene.story.write(
                "second", under: second, after: [second, other], .confirm([other]))
            let due = try open(scene)
            #expect(due.contains(chosen) && !due.contains(other))
        }
    }

    // MARK: Under a role that replaces

    /// The owner has heard of the thief's end alone, and gives a role that replaces: Bob's end has no
    /// effect, so no node stores it, and none confirms it.
    private func replaced() -> (scene: Scene, given: OperationID, end: OperationID) {
        var scene = Scene()
        let (_, theft) = scene.replace(by: "evil")
        let devices = ["evil", "bob"].map { scene.story.device($0) }
        let given = scene.story.write(
            "root", after: [theft],
            .grant(
                RoleGrant(
                    member: scene.story.member("bob"), devices: devices, role: .member,
                    replaces: true)))
        let (_, end) = scene.replace(by: "new")
        return (scene, given, end)
    }

    @Test func `is out with what it linked once its person was removed and is back`() throws {
        let made = replaced()
        let given = made.given
        var scene = made.scene
        let names = ["words", "evil", "new", "bob", "tablet"]
        let link = scene.add(
            "tablet", by: "evil", under: given, after: [given], takesPlace: false)
        #expect(try scene.grants(names) == [nil, given, nil, given, link])
        #expect(!scene.valid().contains(made.end))
        let bob = scene.story.member("bob")
        let gone = scene.story.write("root", after: [link], .remove(member: bob))
        #expect(try scene.grants(names) == [nil, nil, nil, nil, nil])
        let back = scene.give(.member, to: ["bob"], after: [gone])
        #expect(try scene.grants(names) == [nil, nil, nil, back, nil])
        // What it writes as if before.
        let word = scene.revoke("bob", by: "evil", under: given, after: [link])
        #expect(try scene.grants(names) == [nil, nil, nil, back, nil])
        #expect(!scene.valid().contains(word))
    }

    @Test func `is out by name, and its person's computer stays`() throws {
        let made = replaced()
        let given = made.given
        var scene = made.scene
        let named = scene.story.write(
            "root", after: [given], .removeDevice(scene.story.device("evil")))
        #expect(try scene.grants(["words", "evil", "new", "bob"]) == [nil, nil, nil, given])
        // No role gives its person a phrase there.
        let phrase = scene.give(.admin, to: ["new", "bob"], after: [named])
        #expect(scene.story.brokenRule(of: phrase) == "A-19")
    }

    /// Nothing brings a computer back that an older device of its member has revoked.
    @Test func `has revoked a computer for good, unless its person's end is confirmed`() throws {
        for isConfirmed in [false, true] {
            let made = replaced()
            let (given, end) = (made.given, made.end)
            var scene = made.scene
            let word = scene.revoke("bob", by: "evil", under: given, after: [given])
            #expect(try scene.grants(["evil", "bob"]) == [given, nil])
            let named =
                isConfirmed
                ? scene.story.write("root", after: [end, word], .confirm([end]))
                : scene.story.write(
                    "root", after: [word], .removeDevice(scene.story.device("evil")))
            #expect(try scene.grants(["evil", "bob"]) == [nil, isConfirmed ? given : nil])
            let devices = isConfirmed ? ["new", "bob"] : ["bob"]
            let again = scene.give(.admin, to: devices, after: [named])
            #expect(scene.story.brokenRule(of: again) == (isConfirmed ? nil : "A-19"))
            guard isConfirmed else { continue }
            #expect(try scene.grants(devices) == [again, again])
        }
    }
}
