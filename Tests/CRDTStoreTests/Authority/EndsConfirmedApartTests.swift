import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Ends of one phrase confirmed by members who had not heard of each other, and further concurrent
/// operations of a thief with the old words: PROTOCOL.md, 4.0, 4.0.3, V-6 and V-12.
struct `Ends that were confirmed concurrently` {
    /// Bob, a member, has the phrase `words` and the computer `bob`, and has linked the phone.
    private struct Scene {
        var story: Story
        let entry: OperationID
        let phone: OperationID
        var start: [OperationID] { [phone] }

        init(admins: [String] = ["ann", "ben"], members: [String] = []) {
            story = Story(admins: admins, members: members)
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member)))
            entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [story.device("words"), story.device("bob")], request: nil))
            phone = story.write(
                "words", under: entry, after: [entry], .addDevices([story.device("phone")]))
        }

        mutating func revoke(
            _ device: String, by author: String, under grant: OperationID? = nil,
            after heads: [OperationID]
        ) -> OperationID {
            story.write(
                author, under: grant ?? entry, after: heads, .removeDevice(story.device(device)))
        }

        mutating func add(
            _ device: String, under grant: OperationID? = nil, after heads: [OperationID],
            takesPlace: Bool = true
        ) -> OperationID {
            story.write(
                "words", under: grant ?? entry, after: heads,
                .addDevices([story.device(device)]), takesPlace: takesPlace)
        }

        /// Adds another phrase, and the final end of the old one that knows it.
        mutating func replace(
            by new: String, under grant: OperationID? = nil, after heads: [OperationID]? = nil
        ) -> (added: OperationID, end: OperationID) {
            let added = add(new, under: grant, after: heads ?? start)
            return (added, revoke("words", by: "words", under: grant, after: [added]))
        }

        mutating func confirm(
            _ end: OperationID, by admin: String, under grant: OperationID? = nil
        ) -> OperationID {
            story.write(admin, under: grant, after: [end], .confirm([end]))
        }

        mutating func give(
            _ role: Role, to devices: [String], after heads: [OperationID], replacing: Bool = false
        ) -> OperationID {
            let words = RoleGrant(
                member: story.member("bob"), devices: devices.map { story.device($0) }, role: role,
                replaces: replacing)
            return story.write("root", after: heads, .grant(words))
        }

        /// The grants by which each of these is in, the same in every order of arrival.
        func grants(_ names: [String]) throws -> [OperationID?] {
            var found: Set<[OperationID?]> = []
            try story.inEveryOrder { evaluator in
                found.insert(names.map { evaluator.bestGrant(of: story.device($0)) })
                #expect(Set(evaluator.validOperations) == definition().validOperations())
            }
            try #require(found.count == 1)
            return found.first ?? []
        }

        func definition(without missing: AuthRule...) -> AuthDefinition {
            var generator = SeededGenerator(seed: 1)
            var rules = AuthRuleSet.current
            rules.missing = Set(missing)
            return AuthDefinition(story.history, rules: rules, visitingWith: &generator)
        }

        func valid(without missing: AuthRule) -> Set<OperationID> {
            definition(without: missing).validOperations()
        }
    }

    @Test func `leave the one that the strongest member confirmed`() throws {
        for isOwn in [true, false] {
            var scene = Scene()
            let (added, end) = scene.replace(by: "new")
            let (other, another) = scene.replace(by: "evil")
            _ = scene.confirm(end, by: isOwn ? "ann" : "ben")
            _ = scene.confirm(another, by: isOwn ? "ben" : "ann")
            let wanted = [nil, isOwn ? added : nil, isOwn ? nil : other, scene.phone]
            #expect(try scene.grants(["words", "new", "evil", "phone"]) == wanted)
            let (stays, goes) = isOwn ? (end, another) : (another, end)
            #expect(scene.definition().validOperations().contains(stays))
            #expect(!scene.definition().validOperations().contains(goes))
            // Without the rule each is taken by the confirmation of the other, and the old phrase
            // is in.
            #expect(scene.valid(without: .answeredBefore).isDisjoint(with: [end, another]))
        }
    }

    @Test func `leave it in any order of arrival, however often it is confirmed`() throws {
        var scene = Scene(admins: ["ann", "ben", "cid"])
        let (added, end) = scene.replace(by: "new")
        let (_, another) = scene.replace(by: "evil")
        let first = scene.confirm(another, by: "ben")
        _ = scene.confirm(end, by: "cid")
        #expect(try scene.grants(["words", "new"]) == [nil, nil])
        let last = scene.confirm(end, by: "ann")
        #expect(try scene.grants(["words", "new"]) == [nil, added])
        // If the strongest confirmation turns out to have no effect, the next one decides.
        _ = scene.story.write(
            "root", after: scene.start, .remove(member: scene.story.member("ann")))
        #expect(try scene.grants(["words", "new"]) == [nil, nil])
        #expect(scene.definition().validOperations().isSuperset(of: [first, another]))
        #expect(!scene.definition().validOperations().contains(last))
    }

    @Test func `leave one of two departures, and of two ends of a device`() throws {
        for isDeparture in [true, false] {
            var scene = Scene()
            let action =
                isDeparture ? AuthAction.leave : .removeDevice(scene.story.device("phone"))
            let ends = (0..<2).map { _ in
                scene.story.write("phone", under: scene.phone, after: scene.start, action)
            }
            _ = scene.confirm(ends[0], by: "ben")
            _ = scene.confirm(ends[1], by: "ann")
            #expect(try scene.grants(["phone"]) == [nil])
            let valid = scene.definition().validOperations()
            #expect(valid.contains(ends[1]) && !valid.contains(ends[0]))
            #expect(scene.valid(without: .answeredBefore).isDisjoint(with: ends))
        }
    }

    // MARK: Who may be given a role

    /// An admin's old phrase itself confirms another end, without effect, and is stronger than the
    /// admin who confirmed the first end. A member cites that.
    @Test func `keep no new phrase out of a role if the old phrase confirms one`() throws {
        var scene = Scene(members: ["eve"])
        let admin = scene.give(.admin, to: ["words", "bob"], after: scene.start)
        let weaker = scene.story.promote("ben", to: .admin)
        let (added, end) = scene.replace(by: "new", under: admin, after: [admin])
        _ = scene.story.write("ben", under: weaker, after: [weaker, end], .confirm([end]))
        let (_, another) = scene.replace(by: "evil", under: admin, after: [weaker])
        _ = scene.confirm(another, by: "words", under: admin)
        _ = scene.story.write("eve", after: scene.story.heads, .createDocument)
        let given = scene.give(
            .member, to: ["new", "bob"], after: scene.story.heads, replacing: true)
        #expect(try scene.grants(["words", "evil", "new"]) == [nil, nil, given])
        #expect(scene.definition().refusals[given] == nil && added != given)
        #expect(scene.definition(without: .countsOthers).refusals[given] == .fault("A-19"))
    }

    @Test func `keep none out of a role if a removed admin confirmed one`() throws {
        var scene = Scene(admins: ["ben", "ann"], members: ["eve"])
        let removal = scene.story.write(
            "root", after: scene.start, .remove(member: scene.story.member("ben")))
        let (_, end) = scene.replace(by: "new", after: [removal])
        _ = scene.confirm(end, by: "ann")
        let (_, another) = scene.replace(by: "evil")
        _ = scene.confirm(another, by: "ben")
        _ = scene.story.write("eve", after: scene.story.heads, .createDocument)
        let given = scene.give(.member, to: ["new", "bob"], after: scene.story.heads)
        #expect(try scene.grants(["words", "evil"]) == [nil, nil])
        #expect(scene.definition().refusals[given] == nil)
        #expect(scene.definition(without: .countsOthers).refusals[given] == .fault("A-19"))
    }

    /// How Ben has lost the role of an admin.
    enum Past: CaseIterable { case demoted, left, linked, letIn }

    /// Ben confirms as if before that; or a device does that Ben's revoked phone has linked, or a
    /// friend whom Ben admits on an open invite.
    @Test(arguments: Past.allCases)
    func `keep none out of a role if a former admin confirmed one`(past: Past)
        throws
    {
        var scene = Scene(admins: ["ben", "ann"], members: ["eve"])
        var (author, grant) = ("ben", scene.story.grant("ben"))
        var heads: [OperationID] = []
        let invite = scene.story.write(
            "root", after: scene.start, .invite(InviteTerms(role: .admin)))
        let phone = scene.story.write(
            "ben", after: [invite], .addDevices([scene.story.device("pocket")]))
        let start = [phone]
        var known = start
        switch past {
        case .demoted:
            let words = RoleGrant(
                member: scene.story.member("ben"), devices: [scene.story.device("ben")],
                role: .member, replaces: true)
            heads = [scene.story.write("root", after: start, .grant(words))]
        case .left:
            heads = [scene.story.write("ben", after: start, .leave)]
        case .linked:
            heads = [
                scene.story.write(
                    "ben", after: start, .removeDevice(scene.story.device("pocket")))
            ]
            grant = scene.story.write(
                "pocket", under: phone, after: start, .addDevices([scene.story.device("worse")]))
            (author, known) = ("worse", [grant])
        case .letIn:
            heads = [
                scene.story.write(
                    "root", after: start, .remove(member: scene.story.member("ben")))
            ]
            grant = scene.story.admit("fay", on: invite, by: "ben", after: start)
            (author, known) = ("fay", [grant])
        }
        // Weaker than each of them.
        let open = scene.story.write("root", after: heads, .invite(InviteTerms(role: .admin)))
        let young = scene.story.admit("kim", on: open, by: "root", after: [open])
        let (_, end) = scene.replace(by: "new", after: [young])
        _ = scene.confirm(end, by: "kim", under: young)
        let (_, another) = scene.replace(by: "evil")
        _ = scene.story.write(
            author, under: grant, after: [another] + known, .confirm([another]))
        _ = scene.story.write("eve", after: scene.story.heads, .createDocument)
        let given = scene.give(.member, to: ["new", "bob"], after: scene.story.heads)
        let stolen = scene.give(.member, to: ["evil", "bob"], after: scene.story.heads)
        #expect(try scene.grants(["words", "evil"]) == [nil, nil])
        #expect(scene.definition().refusals[given] == nil)
        #expect(scene.definition().refusals[stolen] == .fault("A-19"))
        #expect(scene.definition(without: .countsUnended).refusals[given] == .fault("A-19"))
    }

    @Test func `let a role admit only the phrase that the strongest member confirmed`() throws {
        var scene = Scene()
        let (_, end) = scene.replace(by: "new")
        let (_, another) = scene.replace(by: "evil")
        _ = scene.confirm(another, by: "ben")
        _ = scene.confirm(end, by: "ann")
        let heads = scene.story.heads
        let new = scene.give(.member, to: ["new"], after: heads)
        let evil = scene.give(.member, to: ["evil"], after: heads)
        #expect(try scene.grants(["words", "evil"]) == [nil, nil])
        #expect(scene.definition().refusals[new] == nil)
        #expect(scene.definition().refusals[evil] == .fault("A-19"))
    }

    // MARK: What old words revoke

    /// The adddev that the new phrase has signed is public: the old phrase adds it once more, as an
    /// everyday device.
    @Test func `undo what the old phrase revoked, although an admin confirmed it`()
        throws
    {
        for victim in ["new", "phone", "bob"] {
            var scene = Scene()
            let (added, end) = scene.replace(by: "new")
            _ = scene.confirm(end, by: "ann")
            let again = scene.add("new", after: scene.start, takesPlace: false)
            let kick = scene.revoke(victim, by: "words", after: [again])
            _ = scene.confirm(kick, by: "ben")
            let wanted = [nil, added, scene.phone, scene.entry]
            #expect(try scene.grants(["words", "new", "phone", "bob"]) == wanted)
            #expect(!scene.definition().validOperations().contains(kick))
            #expect(scene.valid(without: .v6Final).contains(kick))
        }
    }

    /// The same for revocations by a device that the old phrase has added, or one that this device
    /// has linked.
    @Test func `undo what devices of the old phrase revoked, although that is confirmed`()
        throws
    {
        for (takesPlace, isChain) in [(true, false), (true, true), (false, false), (false, true)] {
            var scene = Scene()
            // Stronger than a device that was linked later.
            var link = scene.add("evil", after: [scene.entry], takesPlace: takesPlace)
            var known = [link]
            var author = "evil"
            if isChain {
                link = scene.story.write(
                    author, under: link, after: [link], .addDevices([scene.story.device("worse")]))
                (author, known) = ("worse", [link])
            }
            var heads = scene.start
            for name in ["one", "two", "tablet"] {
                heads = [scene.add(name, after: heads, takesPlace: false)]
            }
            let kick = scene.revoke("tablet", by: author, under: link, after: heads + known)
            #expect(try scene.grants(["tablet"]) == [nil])
            _ = scene.confirm(kick, by: "ben")
            #expect(try scene.grants(["tablet"]) == [nil])
            let (added, end) = scene.replace(by: "new", after: heads)
            let wanted = [nil, added, heads[0], nil]
            #expect(try scene.grants(["words", "new", "tablet", author]) == wanted)
            _ = scene.confirm(end, by: "ann")
            #expect(try scene.grants(["words", "new", "tablet", author]) == wanted)
            #expect(!scene.definition().validOperations().contains(kick))
            #expect(scene.valid(without: .v6Displaced).contains(kick))
        }
    }

    /// The old phrase gave itself up and got a role again before it was replaced. So what it had
    /// let in is given up already when the final end comes, and has to be judged more strictly.
    @Test func `undo what devices of the old phrase revoked, although that one was given up`()
        throws
    {
        for takesPlace in [true, false] {
            var scene = Scene()
            let link = scene.add("evil", after: [scene.entry], takesPlace: takesPlace)
            let tablet = scene.add("tablet", after: scene.start, takesPlace: false)
            let kick = scene.revoke("tablet", by: "evil", under: link, after: [tablet, link])
            _ = scene.confirm(kick, by: "ben")
            let gone = scene.revoke("words", by: "words", after: [tablet])
            // An end that knows of no other phrase takes nothing that somebody has confirmed.
            #expect(try scene.grants(["words", "evil", "tablet"]) == [nil, nil, nil])
            #expect(scene.definition().validOperations().contains(kick))
            let given = scene.give(.admin, to: ["words", "bob"], after: [gone])
            let (added, _) = scene.replace(by: "new", under: given, after: [given])
            let wanted = [nil, added, tablet, nil]
            #expect(try scene.grants(["words", "new", "tablet", "evil"]) == wanted)
            #expect(!scene.definition().validOperations().contains(kick))
            #expect(scene.valid(without: .v6Displaced).contains(kick))
        }
    }

    // MARK: Who follows

    /// The thief had added a phrase before. Replacing the old phrase revokes that one too.
    @Test func `name no successor that the old phrase revoked`() throws {
        var scene = Scene()
        let other = scene.add("evil", after: scene.start)
        let gone = scene.revoke("evil", by: "words", after: [other])
        let (added, end) = scene.replace(by: "new", after: [gone])
        _ = scene.confirm(end, by: "ann")
        _ = scene.revoke("bob", by: "new", under: added, after: [end])
        let given = scene.give(.admin, to: ["words", "bob", "phone"], after: scene.start)
        let kick = scene.revoke("phone", by: "evil", under: other, after: [other])
        let wanted = [nil, nil, given, added, nil]
        #expect(try scene.grants(["words", "bob", "phone", "new", "evil"]) == wanted)
        #expect(!scene.definition().validOperations().contains(kick))
        #expect(scene.valid(without: .v12Gone).contains(kick))
    }

    @Test func `name no successor if the old phrase revoked all, and still end it`() throws {
        var scene = Scene()
        let other = scene.add("evil", after: scene.start)
        let gone = scene.revoke("evil", by: "words", after: [other])
        let end = scene.revoke("words", by: "words", after: [gone])
        let given = scene.give(.admin, to: ["words", "phone"], after: scene.start)
        let kick = scene.revoke("phone", by: "evil", under: other, after: [other])
        #expect(try scene.grants(["words", "phone", "evil"]) == [nil, given, nil])
        let valid = scene.definition().validOperations()
        #expect(valid.contains(end) && !valid.contains(kick))
        let late = scene.give(.admin, to: ["words"], after: scene.story.heads)
        #expect(scene.definition().refusals[late] == .fault("A-19"))
    }
}
