import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A device revoked by its own person, and grants that do not know the revocation: PROTOCOL.md,
/// V-10.
struct `A device that its person revoked` {
    /// Bob, a member, has the phrase `words` and the computer `bob`; `ann` is an admin.
    private typealias Scene = `A phrase that was replaced`.Scene

    /// Bob's phrase revokes his computer.
    private func revoke(
        in scene: inout Scene, after heads: [OperationID]? = nil
    ) -> OperationID {
        scene.story.write(
            "words", under: scene.entry, after: heads ?? scene.start,
            .removeDevice(scene.story.device("bob")))
    }

    @Test func `is out under a stronger role that was given without knowing`() throws {
        var scene = Scene()
        let end = revoke(in: &scene)
        let given = scene.give(.admin)
        #expect(try scene.grants(["words", "bob"]) == [given, nil])
        // The finder of the computer writes as if before the end.
        let setting = scene.story.write(
            "bob", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        let removal = scene.story.write(
            "bob", under: given, after: [given], .remove(member: scene.story.member("ann")))
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end))
            #expect(evaluator.verdict(on: setting) == .revoked(by: end))
            #expect(evaluator.verdict(on: removal) == .revoked(by: end))
            #expect(evaluator.revocations(ending: story.device("bob")) == [end])
        }
        #expect(scene.valid().isDisjoint(with: [setting, removal]))
        // Without the rule they would have effect as an admin's.
        #expect(scene.valid(without: .v10Own).isSuperset(of: [setting, removal]))
    }

    @Test func `is out under a handover of the workspace to its person`() throws {
        var scene = Scene()
        _ = revoke(in: &scene)
        let handed = scene.give(.owner, dropping: ["root"])
        #expect(try scene.grants(["words", "bob"]) == [handed, nil])
    }

    @Test func `is out if its person was removed and came back`() throws {
        var scene = Scene()
        let end = revoke(in: &scene)
        let gone = scene.story.write(
            "root", after: scene.start, .remove(member: scene.story.member("bob")))
        let back = scene.give(.member, after: [gone])
        #expect(try scene.grants(["words", "bob"]) == [back, nil])
        let story = scene.story
        try story.inEveryOrder { #expect($0.isValid(end)) }
    }

    /// A grant that knows the end could not list a device that an older one had revoked. A
    /// revocation by a younger device is no stronger there than that device.
    @Test func `is in by a grant that knows of a revocation without effect`() throws {
        var scene = Scene()
        let end = scene.story.write(
            "bob", under: scene.entry, after: scene.start,
            .removeDevice(scene.story.device("words")))
        let given = scene.give(.admin, after: [end])
        #expect(try scene.grants(["words", "bob"]) == [given, given])
        _ = revoke(in: &scene)
        let barred = scene.give(.admin, after: scene.story.heads)
        #expect(scene.story.brokenRule(of: barred) == "A-19")
    }

    /// The older device is the stronger one under the new grant too.
    @Test func `puts out no older one by a stronger role`() throws {
        var scene = Scene()
        _ = scene.story.write(
            "bob", under: scene.entry, after: scene.start,
            .removeDevice(scene.story.device("words")))
        let given = scene.give(.admin)
        #expect(try scene.grants(["words", "bob"]) == [given, given])
    }

    /// Both revoke each other: the finder of the computer gains nothing by having been first.
    @Test func `is out, although it had revoked the device that revoked it`() throws {
        var scene = Scene()
        _ = scene.story.write(
            "bob", under: scene.entry, after: scene.start,
            .removeDevice(scene.story.device("words")))
        _ = revoke(in: &scene)
        let given = scene.give(.admin)
        #expect(try scene.grants(["words", "bob"]) == [given, nil])
    }

    /// A key that two people have is a device of both. An end that counts again under an admin's
    /// grant does not count as an admin's revocation.
    @Test func `affects no other person who has the device`() throws {
        var story = Story(admins: [], members: ["ann", "bob"])
        let devices = ["ann", "tablet"].map { story.device($0) }
        let ann = story.write("ann", after: story.start, .addDevices([story.device("tablet")]))
        let bob = story.write("bob", after: story.start, .addDevices([story.device("tablet")]))
        let end = story.write("ann", after: [ann], .removeDevice(story.device("tablet")))
        let given = story.write(
            "root", after: [ann],
            .grant(RoleGrant(member: story.member("ann"), devices: devices, role: .admin)))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end) && evaluator.isValid(given))
            #expect(evaluator.bestGrant(of: story.device("ann")) == given)
            #expect(evaluator.bestGrant(of: story.device("tablet")) == bob)
        }
    }

    // MARK: A second admission

    /// Eve answered Bob, who came in by another member. She uses what he signed later, as if
    /// before: his devices have an older place there.
    private struct AdmittedTwice {
        var story = Story(admins: ["ann"], members: ["eve"])
        let entry: OperationID
        let late: OperationID

        init() {
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member, uses: 9)))
            let devices = [story.device("words"), story.device("bob")]
            let admission = AuthAction.admit(
                invite: invite, member: story.member("bob"), devices: devices, request: nil)
            let busy = story.write("root", after: [invite], .setWorkspace(mayInvite: .owner))
            entry = story.write("root", after: [busy], admission)
            late = story.write("eve", after: [invite], admission)
        }

        /// Somebody who does not know of the second admission revokes Bob's computer.
        mutating func revoke(by author: String) -> OperationID {
            story.write(
                author, under: author == "ann" ? nil : entry, after: [entry],
                .removeDevice(story.device("bob")))
        }

        func valid(without missing: AuthRule...) -> Set<OperationID> {
            var generator = SeededGenerator(seed: 1)
            var rules = AuthRuleSet.current
            rules.missing = Set(missing)
            return AuthDefinition(story.history, rules: rules, visitingWith: &generator)
                .validOperations()
        }
    }

    /// Nobody writes the revocation again.
    @Test(arguments: ["words", "ann"])
    func `is out under a second admission that is dated back`(author: String) throws {
        var twice = AdmittedTwice()
        let end = twice.revoke(by: author)
        let channel = twice.story.write(
            "bob", under: twice.late, after: [twice.late], .createDocument)
        let (story, late) = (twice.story, twice.late)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end) && evaluator.isValid(late))
            #expect(evaluator.verdict(on: channel) == .revoked(by: end))
            #expect(evaluator.bestGrant(of: story.device("bob")) == nil)
            #expect(evaluator.bestGrant(of: story.device("words")) == late)
        }
        #expect(!twice.valid().contains(channel))
        // An admin's word is stronger in any case. The phrase's counts again.
        #expect(twice.valid(without: .v10Own).contains(channel) == (author == "words"))
    }

    /// Its own word counts under the grant that it cites alone, as it names no new phrase.
    @Test func `is in by an admission dated back if it only gave itself up`() throws {
        var twice = AdmittedTwice()
        let gone = twice.revoke(by: "bob")
        let channel = twice.story.write(
            "bob", under: twice.late, after: [twice.late], .createDocument)
        let (story, late) = (twice.story, twice.late)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(gone) && evaluator.isValid(channel))
            #expect(evaluator.bestGrant(of: story.device("bob")) == late)
        }
        #expect(twice.valid().isSuperset(of: [gone, channel]))
        let end = twice.revoke(by: "words")
        let ended = twice.story
        try ended.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: channel) == .revoked(by: end))
            #expect(evaluator.bestGrant(of: ended.device("bob")) == nil)
        }
        #expect(!twice.valid().contains(channel))
    }

    // MARK: The evaluator

    @Test func `costs one more verdict per further grant, revoked once or several times`() throws {
        var scene = Scene()
        let first = revoke(in: &scene)
        let second = revoke(in: &scene, after: [first])
        _ = revoke(in: &scene, after: [second])
        let given = scene.give(.admin)
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations.filter { $0.id != given })
        let operation = try #require(scene.story.history[given])
        let change = try evaluator.add(operation)
        #expect(change.furtherGrants == 1)
        #expect(change.becameValid == [given] && change.becameInvalid.isEmpty)
        #expect(change.moved == [first])
    }

    /// An adddev gives a role to one device only, so what that device revokes has no other grant
    /// under it.
    @Test func `is not judged again under a link of the device that revoked it`() throws {
        var scene = Scene()
        func link(_ device: String, by author: String, after heads: [OperationID]) -> OperationID {
            scene.story.write(
                author, under: scene.entry, after: heads,
                .addDevices([scene.story.device(device)]))
        }
        let phone = link("phone", by: "words", after: scene.start)
        let decoy = link("decoy", by: "bob", after: scene.start)
        let again = link("phone", by: "words", after: [decoy])
        let word = scene.story.write(
            "phone", under: phone, after: [phone], .removeDevice(scene.story.device("bob")))
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations.filter { $0.id != word })
        let change = try evaluator.add(try #require(scene.story.history[word]))
        #expect(change.furtherGrants == 0 && evaluator.isValid(again))
        #expect(scene.valid() == Set(evaluator.validOperations))
    }

    /// Concurrent forks of one revocation: each is examined once for a grant, not each with each
    /// other.
    @Test func `costs a look for each of its forks, not for each pair of them`() throws {
        func looks(_ forks: Int) throws -> Int {
            var scene = Scene()
            for _ in 0..<forks { _ = revoke(in: &scene) }
            let given = scene.give(.admin)
            var evaluator = AuthEvaluator()
            try evaluator.feed(scene.story.history.operations.filter { $0.id != given })
            let before = evaluator.looks
            let change = try evaluator.add(try #require(scene.story.history[given]))
            #expect(change.furtherGrants == forks)
            return evaluator.looks - before
        }
        let (few, many) = (try looks(20), try looks(80))
        #expect(many <= 5 * few, "\(few) looks for 20, \(many) for 80")
    }

    /// A grant that knows the first revocation, and not the second one, gives nothing to that
    /// device.
    @Test func `stays out where only a second revocation was not known`() throws {
        var scene = Scene()
        // The first one has no effect, because its author had been removed.
        let gone = scene.story.write(
            "root", after: scene.start, .remove(member: scene.story.member("bob")))
        let first = revoke(in: &scene)
        let second = revoke(in: &scene, after: [first])
        let back = scene.give(.member, after: [gone])
        #expect(try scene.grants(["bob"]) == [nil])
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(first) && !evaluator.isValid(second))
            #expect(evaluator.isValid(back))
        }
    }

    @Test func `leaves nothing of a grant that is taken back`() throws {
        var scene = Scene()
        let end = revoke(in: &scene)
        let removal = scene.story.write(
            "root", after: scene.start, .remove(member: scene.story.member("ann")))
        let devices = ["words", "bob"].map { scene.story.device($0) }
        let void = scene.story.write(
            "ann", after: scene.start,
            .grant(RoleGrant(member: scene.story.member("bob"), devices: devices, role: .member)))
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations)
        let count = evaluator.count
        #expect(evaluator.isValid(removal) && evaluator.isValid(end))
        #expect(!evaluator.isValid(void) && evaluator.withdraw(void))
        #expect(evaluator.count == count - 1 && !evaluator.contains(void))
        try evaluator.feed(scene.story.history.operations)
        #expect(evaluator.isValid(end) && !evaluator.isValid(void))
    }
}
