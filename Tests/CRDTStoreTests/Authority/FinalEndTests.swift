import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A replaced recovery phrase, and grants that do not know its end: PROTOCOL.md, V-10.
struct `A phrase that was replaced` {
    /// Bob, a member, has the phrase `words` and the computer `bob`; `ann` is an admin.
    struct Scene {
        var story = Story(admins: ["ann"])
        let entry: OperationID
        /// What everybody knew before.
        let start: [OperationID]

        init() {
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member)))
            entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [story.device("words"), story.device("bob")], request: nil))
            start = [entry]
        }

        /// The new phrase, and the end of the old one that knows it.
        mutating func replace(
            after heads: [OperationID]? = nil, by new: String = "new"
        ) -> (added: OperationID, end: OperationID) {
            let added = story.write(
                "words", under: entry, after: heads ?? start, .addDevices([story.device(new)]),
                takesPlace: true)
            let end = story.write(
                "words", under: entry, after: [added], .removeDevice(story.device("words")))
            return (added, end)
        }

        /// A grant by the owner to the devices that Bob had at the start.
        mutating func give(
            _ role: Role, after heads: [OperationID]? = nil, replacing: Bool = false,
            dropping: [String]? = nil
        ) -> OperationID {
            let devices = [story.device("words"), story.device("bob")]
            let words = RoleGrant(
                member: story.member("bob"), devices: devices, role: role, replaces: replacing,
                drops: dropping?.map { story.device($0) })
            return story.write("root", after: heads ?? start, .grant(words))
        }

        /// The grants by which each of these is in, the same in every order of arrival.
        func grants(_ names: [String]) throws -> [OperationID?] {
            var found: Set<[OperationID?]> = []
            try story.inEveryOrder { evaluator in
                found.insert(names.map { evaluator.bestGrant(of: story.device($0)) })
            }
            try #require(found.count == 1)
            return found.first ?? []
        }

        /// The valid operations by the definition.
        func valid(without missing: AuthRule...) -> Set<OperationID> {
            var generator = SeededGenerator(seed: 1)
            var rules = AuthRuleSet.current
            rules.missing = Set(missing)
            return AuthDefinition(story.history, rules: rules, visitingWith: &generator)
                .validOperations()
        }
    }

    @Test func `is out under a stronger role that was given without knowing`() throws {
        var scene = Scene()
        let (added, end) = scene.replace()
        let given = scene.give(.admin)
        let wanted = [nil, given, added]
        #expect(try scene.grants(["words", "bob", "new"]) == wanted)
        // A thief with the old phrase writes as if before the end.
        let setting = scene.story.write(
            "words", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        let linked = scene.story.write(
            "words", under: given, after: [given], .addDevices([scene.story.device("thief")]))
        let removal = scene.story.write(
            "thief", under: linked, after: [linked], .removeDevice(scene.story.device("bob")))
        #expect(try scene.grants(["words", "bob", "new", "thief"]) == wanted + [nil])
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end))
            #expect(evaluator.verdict(on: setting) == .revoked(by: end))
            #expect(evaluator.verdict(on: linked) == .revoked(by: end))
            #expect(evaluator.verdict(on: removal) == .unsupported(by: linked))
            #expect(evaluator.isBarred(story.device("words")))
        }
        // Without the rule the holder of the old phrase is an admin.
        #expect(scene.valid().isDisjoint(with: [setting, linked, removal]))
        #expect(scene.valid(without: .v10).isSuperset(of: [setting, linked, removal]))
    }

    @Test func `is out under a weaker role, which takes the new one with the old grant`() throws {
        var scene = Scene()
        let (added, end) = scene.replace()
        let given = scene.give(.guest, replacing: true)
        #expect(try scene.grants(["words", "bob", "new"]) == [nil, given, nil])
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end) && !evaluator.isValid(added))
            #expect(evaluator.revocations(ending: story.device("words")) == [end])
            #expect(evaluator.membershipEnds == [end])
            #expect(evaluator.heads.contains(end))
        }
        #expect(scene.valid().contains(end) && !scene.valid(without: .v10).contains(end))
        // A grant that knows both gives the person a phrase again, and nothing to the old one.
        let again = scene.story.write(
            "root", after: scene.story.heads,
            .grant(
                RoleGrant(
                    member: scene.story.member("bob"),
                    devices: [scene.story.device("new"), scene.story.device("bob")],
                    role: .guest, replaces: true)))
        #expect(try scene.grants(["words", "bob", "new"]) == [nil, again, again])
        let barred = scene.give(.guest, after: scene.story.heads)
        #expect(scene.story.brokenRule(of: barred) == "A-19")
    }

    @Test func `is out under a handover of the workspace to its person`() throws {
        var scene = Scene()
        let (added, end) = scene.replace()
        let given = scene.give(.owner, dropping: ["recovery", "root"])
        #expect(try scene.grants(["words", "bob", "new"]) == [nil, given, added])
        let theft = scene.story.write(
            "words", under: given, after: [given], .remove(member: scene.story.member("ann")))
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: theft) == .revoked(by: end))
            #expect(evaluator.role(of: story.member("bob")) == .owner)
        }
    }

    @Test func `is out if its person was removed and came back`() throws {
        var scene = Scene()
        let (added, end) = scene.replace()
        let removal = scene.story.write(
            "ann", after: scene.start, .remove(member: scene.story.member("bob")))
        let back = scene.give(.member, after: [removal])
        #expect(try scene.grants(["words", "bob", "new"]) == [nil, back, nil])
        #expect(scene.valid().contains(end) && !scene.valid().contains(added))
    }

    @Test func `has no effect by its end where nothing that it has is left`() throws {
        var scene = Scene()
        let (_, end) = scene.replace()
        _ = scene.story.write(
            "ann", after: scene.start, .remove(member: scene.story.member("bob")))
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.isValid(end))
            #expect(evaluator.role(of: story.member("bob")) == nil)
        }
    }

    @Test func `keeps what it had said, by the cuts of its end, under each grant`() throws {
        let document = DocumentID([UInt8](repeating: 7, count: 32))
        var scene = Scene()
        let log = LogName(document: document, device: scene.story.device("words"), incarnation: 1)
        let cut = CutEntry(log: log, sequence: 3, id: .init([UInt8](repeating: 9, count: 16)))
        let added = scene.story.write(
            "words", under: scene.entry, after: scene.start,
            .addDevices([scene.story.device("new")]), takesPlace: true)
        _ = scene.story.write(
            "words", under: scene.entry, after: [added],
            .removeDevice(scene.story.device("words")), cuts: [cut])
        let given = scene.give(.admin)
        let story = scene.story
        let entry = scene.entry
        try story.inEveryOrder { evaluator in
            for grant in [entry, given] {
                let limit = evaluator.contentLimit(grant: grant, log: log, leastRole: .member)
                #expect(limit.allows(sequence: 3) { _ in true })
                #expect(!limit.allows(sequence: 4) { _ in true })
            }
            #expect(evaluator.grants(reachedBy: added).isEmpty)
        }
    }

    /// The older of two ends counts, wherever both do.
    @Test func `is ended by one of two ends alone`() throws {
        var scene = Scene()
        let (added, end) = scene.replace()
        let later = scene.story.write("ann", after: [added], .createDocument)
        let second = scene.story.write(
            "words", under: scene.entry, after: [later],
            .removeDevice(scene.story.device("words")))
        _ = scene.give(.admin)
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end) && !evaluator.isValid(second))
            #expect(evaluator.bestGrant(of: story.device("words")) == nil)
        }
    }

    /// A thief with the old phrase revokes it as if before everything, under the stronger grant:
    /// that would take the new phrase away.
    @Test func `ends once more for nobody, where somebody stronger has answered its end`() throws {
        for isAnswered in [true, false] {
            var scene = Scene()
            let late = scene.story.write("ann", after: scene.start, .createDocument)
            let (added, end) = scene.replace(after: [late])
            let given = scene.give(.admin)
            if isAnswered { _ = scene.story.write("root", after: [end], .confirm([end])) }
            let early = scene.story.write(
                "words", under: given, after: [given], .removeDevice(scene.story.device("words")))
            let wanted = [nil, given, isAnswered ? added : nil]
            #expect(try scene.grants(["words", "bob", "new"]) == wanted)
            #expect(scene.valid().contains(early) == !isAnswered)
            #expect(scene.valid(without: .v10Answer).contains(early))
        }
    }

    /// An end counts, and is due for confirmation, as long as it is valid under any grant.
    @Test func `has its end confirmed by who is stronger than it is anywhere`() throws {
        var scene = Scene()
        let (_, end) = scene.replace()
        _ = scene.give(.admin)
        let byAdmin = scene.story.write("ann", after: [end], .confirm([end]))
        let confirmed = scene.story
        let root = confirmed.grant("root")
        try confirmed.inEveryOrder { evaluator in
            #expect(evaluator.isValid(byAdmin))
            let open = evaluator.unconfirmed(for: confirmed.device("root"), under: root)
            // Ann came in before, so her grant is the stronger one.
            #expect(!open.contains(end))
        }
        var other = Scene()
        let demoted = other.replace().end
        _ = other.give(.guest, replacing: true)
        let story = other.story
        try story.inEveryOrder { evaluator in
            let open = evaluator.unconfirmed(for: story.device("root"), under: root)
            #expect(open.filter { $0 == demoted }.count == 1)
        }
    }

    @Test func `stays in if it only revoked itself and was given a new grant`() throws {
        var scene = Scene()
        _ = scene.story.write(
            "words", under: scene.entry, after: scene.start,
            .removeDevice(scene.story.device("words")))
        let given = scene.give(.admin)
        #expect(try scene.grants(["words"]) == [given])
    }

    // MARK: The evaluator

    /// The change reports that an end that counts under another grant has neither gained nor lost
    /// effect.
    @Test func `tells where its end has come to count`() throws {
        var scene = Scene()
        let (_, end) = scene.replace()
        let given = scene.give(.admin)
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations.filter { $0.id != given })
        let operation = try #require(scene.story.history[given])
        let change = try evaluator.add(operation)
        #expect(change.becameValid == [given] && change.becameInvalid.isEmpty)
        #expect(change.moved == [end] && !change.isOnly(given))
        // It costs one verdict more (S-5).
        #expect(change.furtherGrants == 1)
        #expect(evaluator.changesStanding(change))
    }

    /// A void grant is taken back, together with what was derived from it.
    @Test func `leaves nothing of a grant that is taken back`() throws {
        var scene = Scene()
        let (_, end) = scene.replace()
        let removal = scene.story.write(
            "root", after: scene.start, .remove(member: scene.story.member("ann")))
        let void = scene.story.write(
            "ann", after: scene.start,
            .grant(
                RoleGrant(
                    member: scene.story.member("bob"), devices: [scene.story.device("words")],
                    role: .member)))
        let all = scene.story.history.operations
        var evaluator = AuthEvaluator()
        try evaluator.feed(all)
        let count = evaluator.count
        #expect(!evaluator.isValid(void) && evaluator.withdraw(void))
        #expect(evaluator.count == count - 1 && !evaluator.contains(void))
        // In another order, with the grant first and the end last.
        var other = AuthEvaluator()
        try other.feed(all.filter { $0.id != end } + all.filter { $0.id == end })
        #expect(!other.withdraw(removal) && !other.withdraw(end))
        #expect(other.withdraw(void) == false, "the end came after it")
        try evaluator.feed(all)
        #expect(evaluator.validOperations.count == other.validOperations.count)
    }
}
