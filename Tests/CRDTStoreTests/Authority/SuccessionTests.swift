import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A recovery phrase that replaces another one: PROTOCOL.md, 3.3, A-17 and the terms of 4.
struct `A new recovery phrase` {
    /// The owner has the phrase `recovery`, the computer `root` and the phone `phone`.
    struct Scene {
        var story = Story(admins: ["ann"])
        let phone: OperationID

        init() {
            phone = story.write("root", after: story.heads, .addDevices([story.device("phone")]))
        }

        /// A new phrase, written by an older one that acts under `grant`.
        mutating func succeed(
            _ old: String = "recovery", under grant: OperationID? = nil, by new: String,
            after heads: [OperationID]? = nil
        ) -> OperationID {
            story.write(
                old, under: grant ?? story.grant("root"), after: heads ?? story.heads,
                .addDevices([story.device(new)]), takesPlace: true)
        }

        mutating func revoke(
            _ name: String, by author: String, under grant: OperationID? = nil,
            after heads: [OperationID]? = nil
        ) -> OperationID {
            story.write(
                author, under: grant ?? story.grant("root"), after: heads ?? story.heads,
                .removeDevice(story.device(name)))
        }

        /// Which of these are in, in every order of arrival.
        func areIn(_ names: [String]) throws -> Set<[Bool]> {
            var found: Set<[Bool]> = []
            try story.inEveryOrder { evaluator in
                found.insert(names.map { evaluator.bestGrant(of: story.device($0)) != nil })
            }
            return found
        }
    }

    @Test func `puts out a computer that was there before it, and leaves the phone`() throws {
        var scene = Scene()
        let new = scene.succeed(by: "new")
        _ = scene.revoke("recovery", by: "recovery")
        _ = scene.revoke("root", by: "new", under: new)
        let areIn = try scene.areIn(["recovery", "new", "root", "phone"])
        #expect(areIn == [[false, true, false, true]])
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isRecovery(story.device("new")))
            #expect(evaluator.isBarred(story.device("root")))
        }
    }

    @Test func `is removed by nobody who could not remove the old one`() throws {
        var scene = Scene()
        let new = scene.succeed(by: "new")
        _ = scene.revoke("new", by: "root")
        _ = scene.revoke("new", by: "phone", under: scene.phone)
        _ = scene.revoke("new", by: "ann", under: scene.story.grant("ann"))
        #expect(try scene.areIn(["new", "root"]) == [[true, true]])
        let story = scene.story
        try story.inEveryOrder { #expect($0.isValid(new)) }
    }

    @Test func `is added only by a recovery phrase`() throws {
        var scene = Scene()
        let byRoot = scene.succeed("root", by: "new")
        #expect(scene.story.brokenRule(of: byRoot) == "A-17")
        var other = Scene()
        let byPhone = other.succeed("phone", under: other.phone, by: "new")
        #expect(other.story.brokenRule(of: byPhone) == "A-17")
        var third = Scene()
        let plain = third.story.write(
            "recovery", under: third.story.grant("root"), after: third.story.heads,
            .addDevices([third.story.device("pad")]))
        let byPad = third.succeed("pad", under: plain, by: "new")
        #expect(third.story.brokenRule(of: byPad) == "A-17")
        for (scene, id) in [(scene, byRoot), (other, byPhone), (third, byPad)] {
            try scene.story.inEveryOrder { #expect(!$0.contains(id)) }
        }
    }

    @Test func `has room, however many devices the old one linked`() throws {
        var scene = Scene()
        for number in 0..<Limits.devicesLinkedMax {
            _ = scene.story.write(
                "recovery", under: scene.story.grant("root"), after: scene.story.heads,
                .addDevices([scene.story.device("junk \(number)")]))
        }
        var other = scene
        let more = other.story.write(
            "recovery", under: other.story.grant("root"), after: other.story.heads,
            .addDevices([other.story.device("more")]))
        #expect(other.story.brokenRule(of: more) == "A-17")
        let new = scene.succeed(by: "new")
        #expect(scene.story.brokenRule(of: new) == nil)
        let evaluator = try AuthEvaluator.evaluateFromScratch(scene.story.history.operations)
        #expect(evaluator.isValid(new))
    }

    @Test(arguments: ["recovery", "root", "phone"])
    func `is neither the old one nor a device that is there`(name: String) throws {
        var scene = Scene()
        let added = scene.succeed(by: name)
        #expect(scene.story.brokenRule(of: added) == "A-17")
        try scene.story.inEveryOrder { #expect(!$0.contains(added)) }
    }

    @Test func `is followed by the next one, which stands before the computer as well`() throws {
        var scene = Scene()
        let second = scene.succeed(by: "second")
        _ = scene.revoke("recovery", by: "recovery")
        let third = scene.succeed("second", under: second, by: "third")
        _ = scene.revoke("second", by: "second", under: second)
        _ = scene.revoke("root", by: "third", under: third)
        let areIn = try scene.areIn(["recovery", "second", "third", "root", "phone"])
        #expect(areIn == [[false, false, true, false, true]])
    }

    @Test func `stands before the computer in a role that was given later`() throws {
        var story = Story(admins: ["ann"])
        let invite = story.write("root", after: story.heads, .invite(InviteTerms(role: .member)))
        let entry = story.write(
            "root", after: [invite],
            .admit(
                invite: invite, member: story.member("bob"),
                devices: [story.device("words"), story.device("bob")], request: nil))
        let new = story.write(
            "words", under: entry, after: [entry], .addDevices([story.device("new")]),
            takesPlace: true)
        let ended = story.write(
            "words", under: entry, after: [new], .removeDevice(story.device("words")))
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        let devices = evaluator.byStrength(
            [story.device("bob"), story.device("new")], of: story.member("bob"))
        #expect(devices == [story.device("new"), story.device("bob")])
        let given = story.write(
            "root", after: [ended],
            .grant(
                RoleGrant(
                    member: story.member("bob"), devices: devices, role: .admin, replaces: true)))
        let lost = story.write(
            "new", under: given, after: [given], .removeDevice(story.device("bob")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(lost))
            #expect(evaluator.bestGrant(of: story.device("bob")) == nil)
            #expect(evaluator.standing(of: story.member("bob"))?.role == .admin)
        }
    }

    // MARK: What is left to who has the old words

    @Test func `lets nobody link the old one again once it has ended itself`() throws {
        for isReplaced in [true, false] {
            var scene = Scene()
            if isReplaced { _ = scene.succeed(by: "new") }
            _ = scene.revoke("recovery", by: "recovery")
            let again = scene.story.write(
                "root", after: scene.story.heads, .addDevices([scene.story.device("recovery")]))
            #expect(scene.story.brokenRule(of: again) == (isReplaced ? "A-17" : nil))
            let story = scene.story
            try story.inEveryOrder { #expect($0.contains(again) == !isReplaced) }
        }
    }

    @Test func `is the only one if the end of the old one knows no other`() throws {
        var scene = Scene()
        let before = scene.story.heads
        let new = scene.succeed(by: "new")
        _ = scene.revoke("recovery", by: "recovery", after: [new])
        _ = scene.succeed(by: "thief", after: before)
        #expect(try scene.areIn(["recovery", "new", "thief"]) == [[false, true, false]])
    }

    @Test func `ranks beside another one that the end knows, by depth`() throws {
        var scene = Scene()
        let first = scene.succeed(by: "first")
        let second = scene.succeed(by: "second")
        _ = scene.revoke("recovery", by: "recovery")
        _ = scene.revoke("first", by: "second", under: second)
        #expect(try scene.areIn(["first", "second"]) == [[true, true]])
        _ = scene.revoke("second", by: "first", under: first)
        #expect(try scene.areIn(["first", "second"]) == [[true, false]])
    }

    /// Nobody confirms for owners, so this is not guaranteed: SECURITY.md says so.
    @Test func `is out by an older end of the old one if nobody confirmed the later`()
        throws
    {
        var scene = Scene()
        let before = scene.story.heads
        let new = scene.succeed(by: "new")
        _ = scene.revoke("recovery", by: "recovery", after: [new])
        _ = scene.revoke("recovery", by: "recovery", after: before)
        #expect(try scene.areIn(["recovery", "new"]) == [[false, false]])
    }

    @Test func `stays if an admin confirmed the end of the old one`() throws {
        var story = Story(admins: ["ann"])
        let invite = story.write("root", after: story.heads, .invite(InviteTerms(role: .member)))
        let entry = story.write(
            "root", after: [invite],
            .admit(
                invite: invite, member: story.member("bob"),
                devices: [story.device("words"), story.device("bob")], request: nil))
        let new = story.write(
            "words", under: entry, after: [entry], .addDevices([story.device("new")]),
            takesPlace: true)
        let ended = story.write(
            "words", under: entry, after: [new], .removeDevice(story.device("words")))
        _ = story.write("ann", after: [ended], .confirm([ended]))
        let again = story.write(
            "words", under: entry, after: [entry], .removeDevice(story.device("words")))
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.isValid(again))
            #expect(evaluator.isValid(new) && evaluator.isValid(ended))
            #expect(evaluator.bestGrant(of: story.device("new")) == new)
        }
    }

    /// Bob is a member with a phrase, and Ann an admin, who confirms what she hears of.
    private struct MemberScene {
        var story = Story(admins: ["ann"])
        let entry: OperationID

        init() {
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member)))
            entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [story.device("words"), story.device("bob")], request: nil))
        }

        mutating func write(
            _ name: String, under grant: OperationID, after heads: [OperationID],
            adding new: String
        ) -> OperationID {
            story.write(
                name, under: grant, after: heads, .addDevices([story.device(new)]),
                takesPlace: true)
        }

        mutating func write(
            _ name: String, under grant: OperationID, after heads: [OperationID],
            revoking old: String
        ) -> OperationID {
            story.write(name, under: grant, after: heads, .removeDevice(story.device(old)))
        }
    }

    /// A relay shows the new phrase to an admin's node, and not yet the end of the old one.
    @Test func `stays, although an admin confirmed its revocation by the old one`() throws {
        var scene = MemberScene()
        let new = scene.write("words", under: scene.entry, after: [scene.entry], adding: "new")
        let theft = scene.write("words", under: scene.entry, after: [new], revoking: "new")
        _ = scene.story.write("ann", after: [theft], .confirm([theft]))
        let ended = scene.write("words", under: scene.entry, after: [new], revoking: "words")
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(ended) && !evaluator.isValid(theft))
            #expect(evaluator.bestGrant(of: story.device("new")) == new)
            #expect(evaluator.bestGrant(of: story.device("words")) == nil)
        }
    }

    /// An own revocation takes the theft here, and no final end, which takes every revocation by
    /// its phrase. So one rule alone decides whether the confirmation keeps it.
    @Test func `stays, although an admin confirmed its revocation by an older phrase`()
        throws
    {
        var scene = MemberScene()
        let theirs = scene.write(
            "words", under: scene.entry, after: [scene.entry], adding: "theirs")
        let new = scene.write("words", under: scene.entry, after: [theirs], adding: "new")
        let theft = scene.write("theirs", under: theirs, after: [new], revoking: "new")
        _ = scene.story.write("ann", after: [theft], .confirm([theft]))
        let out = scene.write("words", under: scene.entry, after: [new], revoking: "theirs")
        _ = scene.write("words", under: scene.entry, after: [out], revoking: "words")
        let story = scene.story
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(out) && !evaluator.isValid(theft))
            #expect(evaluator.bestGrant(of: story.device("new")) == new)
            for name in ["words", "theirs"] {
                #expect(evaluator.bestGrant(of: story.device(name)) == nil)
            }
        }
    }

    // MARK: Transfers

    @Test func `is covered by a transfer, as the old one was`() throws {
        var scene = Scene()
        let new = scene.succeed(by: "new")
        let ended = scene.revoke("recovery", by: "recovery")
        _ = scene.story.write(
            "phone", under: scene.phone, after: [ended],
            scene.story.transfer(to: "ann", keeping: ["new", "phone"]))
        _ = scene.revoke("root", by: "new", under: new, after: [ended])
        let story = scene.story
        try story.inEveryOrder { evaluator in
            for name in ["new", "phone"] {
                let grant = try #require(evaluator.bestGrant(of: story.device(name)))
                let role = evaluator.standing(ofGrant: grant, device: story.device(name))?.role
                #expect(role == .admin)
            }
        }
    }
}
