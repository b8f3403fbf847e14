import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A channel of `bob`, a plain member; operations are named.
private struct Plans {
    var story = Story(admins: ["ann"], members: ["bob", "cat", "dan"])
    let creation: OperationID
    var claims: [ChannelClaim] = []

    init() { creation = story.write("bob", after: story.heads, .createDocument) }

    var channel: DocumentID { DocumentID(sameBytesAs: creation) }

    /// Writes a change, or a deletion for `nil`.
    mutating func claim(
        _ name: String, after heads: [OperationID], link: OperationID? = nil,
        _ change: ChannelChange?
    ) -> OperationID {
        let id = story.write(
            name, after: heads, change == nil ? .deleteDocument : .setDocument)
        claims.append(ChannelClaim(id: id, link: link, change: change))
        return id
    }

    mutating func transfer(
        _ name: String, to heir: String, after heads: [OperationID], link: OperationID? = nil
    ) -> OperationID {
        claim(name, after: heads, link: link, ChannelChange(owner: story.member(heir)))
    }

    /// The ruling in every order of delivery, of operations and of claims.
    func inEveryOrder(
        isDefault: Bool = false, _ check: (JudgedChannel, AuthEvaluator) throws -> Void
    ) throws {
        try story.inEveryOrder { evaluator in
            for claims in [claims, claims.reversed()] {
                let ruling = evaluator.ruling(
                    on: channel, claims: claims, isDefault: isDefault)
                try check(try #require(ruling), evaluator)
            }
        }
    }
}

struct `A channel is judged` {
    /// Seed 1927791344 of the rulings: a member who gave up a role is judged by the role that was
    /// kept.
    @Test func `who gave up a role has no more than what was left of it in channels`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let made = story.write("bob", after: story.heads, .createDocument)
        let early = story.write("root", after: [made], .setDocument)
        let given = story.write(
            "root", after: [early], story.transfer(to: "ann", keeping: ["root"]))
        let late = story.write("root", after: [given], .setDocument)
        let claims = [
            ChannelClaim(id: early, link: nil, change: ChannelChange(history: 1)),
            ChannelClaim(id: late, link: nil, change: ChannelChange(archived: true)),
        ]
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(early) && evaluator.isValid(given))
            let ruling = try #require(
                evaluator.ruling(
                    on: DocumentID(sameBytesAs: made), claims: claims, isDefault: false))
            #expect(ruling.counting == [early] && ruling.history == 1 && !ruling.isArchived)
        }
    }

    @Test func `of settings at one depth that of the former owner ranks as an admin's`() throws {
        var story = Story(admins: ["ann"])
        let made = story.write("root", after: story.heads, .createDocument)
        let given = story.write(
            "root", after: [made],
            story.transfer(to: "ann", keeping: ["root"]))
        let former = story.write("root", under: given, after: [given], .setDocument)
        let present = story.write("ann", under: given, after: [given], .setDocument)
        let claims = [
            ChannelClaim(id: present, link: nil, change: ChannelChange(history: 2)),
            ChannelClaim(id: former, link: nil, change: ChannelChange(history: 1)),
        ]
        try story.inEveryOrder { evaluator in
            let ruling = evaluator.ruling(
                on: DocumentID(sameBytesAs: made), claims: claims, isDefault: false)
            #expect(ruling?.counting == [present, former])
            #expect(ruling?.history == 1, "the largest rank, which is the weakest")
        }
    }

    @Test func `to belong to its creator, until it is transferred`() throws {
        var plans = Plans()
        let first = plans.transfer("bob", to: "cat", after: [plans.creation])
        let second = plans.transfer("cat", to: "dan", after: [first], link: first)
        try plans.inEveryOrder { ruling, _ in
            #expect(ruling.owner == plans.story.member("dan"))
            #expect(ruling.chain == [plans.creation, first, second])
            #expect(ruling.lastLink == second)
        }
    }

    @Test func `by what each right allows`() throws {
        var plans = Plans()
        let role = plans.claim(
            "bob", after: [plans.creation],
            ChannelChange(admins: [plans.story.member("cat"), plans.story.member("cat")]))
        let text = plans.claim("cat", after: [role], link: role, ChannelChange())
        let archived = plans.claim("cat", after: [text], link: role, ChannelChange(archived: true))
        let grab = plans.transfer("cat", to: "cat", after: [archived], link: role)
        let stranger = plans.claim("dan", after: [grab], link: role, ChannelChange())
        let deletion = plans.claim("cat", after: [stranger], link: role, nil)
        try plans.inEveryOrder { ruling, evaluator in
            #expect(evaluator.isValid(deletion) && evaluator.isValid(grab))
            #expect(ruling.counting == [role, text])
            #expect(ruling.admins == [plans.story.member("cat")])
            #expect(!ruling.isArchived && ruling.deletion == nil)
            let (bob, cat, dan) = (
                plans.story.member("bob"), plans.story.member("cat"), plans.story.member("dan")
            )
            #expect(ruling.ruling.allows(.manage, to: bob, of: .member))
            #expect(ruling.ruling.allows(.edit, to: cat, of: .member))
            #expect(!ruling.ruling.allows(.manage, to: cat, of: .member))
            #expect(!ruling.ruling.allows(.edit, to: dan, of: .member))
            #expect(ruling.ruling.allows(.manage, to: dan, of: .admin))
            #expect(!ruling.ruling.allows(.edit, to: bob, of: .guest))
        }
    }

    @Test func `without what its former owner wrote later, unless the new one knew it`() throws {
        var plans = Plans()
        let known = plans.claim("bob", after: [plans.creation], ChannelChange(archived: true))
        let transfer = plans.transfer("bob", to: "cat", after: [known])
        let late = plans.claim("bob", after: [known], ChannelChange(archived: false))
        let deletion = plans.claim("bob", after: [plans.creation], nil)
        let knowing = plans.claim(
            "bob", after: [transfer], link: transfer, ChannelChange(archived: false))
        try plans.inEveryOrder { ruling, evaluator in
            #expect(evaluator.isValid(late) && evaluator.isValid(knowing))
            #expect(evaluator.isValid(deletion))
            #expect(ruling.counting == [known, transfer])
            #expect(ruling.isArchived && ruling.deletion == nil)
        }
    }

    @Test func `by an admin of the workspace under any link, and first among siblings`() throws {
        var plans = Plans()
        let own = plans.transfer("bob", to: "cat", after: [plans.creation])
        let next = plans.transfer("cat", to: "bob", after: [own], link: own)
        let admins = plans.transfer("ann", to: "dan", after: [plans.creation])
        let text = plans.claim("ann", after: [plans.creation], ChannelChange(history: 1))
        try plans.inEveryOrder { ruling, evaluator in
            #expect(evaluator.isValid(next))
            #expect(ruling.chain == [plans.creation, admins])
            #expect(ruling.owner == plans.story.member("dan"))
            #expect(Set(ruling.counting) == [admins, text] && ruling.history == 1)
        }
    }

    @Test func `without people removed from the workspace`() throws {
        var plans = Plans()
        let removal = plans.story.write(
            "ann", after: [plans.creation], .remove(member: plans.story.member("bob")))
        let late = plans.transfer("bob", to: "cat", after: [plans.creation])
        let taken = plans.transfer("ann", to: "dan", after: [removal])
        try plans.inEveryOrder { ruling, evaluator in
            #expect(!evaluator.isValid(late))
            #expect(ruling.chain == [plans.creation, taken])
        }
    }

    @Test func `never to be deleted or archived where everybody is`() throws {
        var plans = Plans()
        let archived = plans.claim("bob", after: [plans.creation], ChannelChange(archived: true))
        let deletion = plans.claim("ann", after: [archived], nil)
        try plans.inEveryOrder(isDefault: true) { ruling, _ in
            #expect(ruling.deletion == nil && !ruling.isArchived)
        }
        try plans.inEveryOrder { ruling, _ in
            #expect(ruling.deletion == deletion && ruling.isArchived)
        }
    }

    @Test func `only where its creation is valid and its links are known`() throws {
        var plans = Plans()
        let foreign = plans.story.write("cat", after: [plans.creation], .setDocument)
        let unknown = plans.claim(
            "bob", after: [plans.creation], link: foreign, ChannelChange(archived: true))
        let never = plans.claim(
            "bob", after: [plans.creation], link: .zero, ChannelChange(archived: true))
        let early = plans.claim("ann", after: plans.story.start, ChannelChange(archived: true))
        try plans.inEveryOrder { ruling, evaluator in
            #expect([unknown, never, early].allSatisfy { evaluator.isValid($0) })
            #expect(ruling.counting.isEmpty)
            #expect(
                evaluator.ruling(
                    on: DocumentID(sameBytesAs: early), claims: [], isDefault: false) == nil)
            #expect(evaluator.defaultChannel(among: [early, plans.creation]) != nil)
        }
    }
}

struct `A device is one member's` {
    @Test func `so a grant lists only what its past binds to its member`() throws {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        func grant(_ devices: [String]) -> AuthAction {
            .grant(
                RoleGrant(
                    member: story.member("bob"), devices: devices.map { story.device($0) },
                    role: .admin))
        }
        let start = story.heads
        let own = story.write("root", after: start, grant(["bob"]))
        let foreign = story.write("root", after: start, grant(["bob", "cat"]))
        let unseen = story.write("root", after: start, grant(["bob2"]))
        let added = story.write("bob", after: start, .addDevices([story.device("bob2")]))
        let unknowing = story.write("root", after: start, grant(["bob2"]))
        let knowing = story.write("root", after: [added], grant(["bob2", "bob"]))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(own) && evaluator.isValid(knowing))
            for id in [foreign, unseen, unknowing] { #expect(!evaluator.contains(id), "A-19") }
        }
    }

    @Test func `so nobody binds a device that the past binds to another`() throws {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let invite = story.write("ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let taken = story.write("cat", after: [invite], .addDevices([story.device("bob")]))
        let stolen = story.write(
            "ann", after: [invite],
            .admit(
                invite: invite, member: story.member("dan"),
                devices: [story.device("dan"), story.device("root")], request: nil))
        let again = story.write("bob", after: [invite], .addDevices([story.device("bob")]))
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.contains(taken), "A-17")
            #expect(!evaluator.contains(stolen), "A-13")
            #expect(evaluator.isValid(again))
        }
    }

    /// Both had its key. A thief would otherwise take it from its person, with what rests on it.
    @Test func `or of two who did not know of each other, each for its own`() throws {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let start = story.heads
        let (bob, cat, new) = (story.member("bob"), story.member("cat"), story.device("new"))
        let bobs = story.write("bob", after: start, .addDevices([new]))
        let cats = story.write("cat", after: start, .addDevices([new]))
        let forBob = story.write("new", under: bobs, after: [bobs], .createDocument)
        let forCat = story.write("new", under: cats, after: [cats], .createDocument)
        try story.inEveryOrder { evaluator in
            for id in [bobs, cats, forBob, forCat] { #expect(evaluator.isValid(id)) }
            #expect(evaluator.author(of: forBob) == bob && evaluator.author(of: forCat) == cat)
            #expect(evaluator.members(of: new) == [bob, cat])
            #expect(evaluator.isBound(new, to: bob) && evaluator.isBound(new, to: cat))
        }
        // Each ends it for themselves, and an admin for both.
        _ = story.write("bob", after: story.heads, .removeDevice(new))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.bestGrant(of: new, as: bob) == nil)
            #expect(evaluator.members(of: new) == [cat] && evaluator.isBound(new, to: bob))
            #expect(evaluator.isValid(forCat))
        }
        _ = story.write("ann", after: story.heads, .removeDevice(new))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.bestGrant(of: new) == nil)
            #expect(evaluator.members(of: new) == [bob, cat])
        }
    }

    @Test func `which a claim without a good possession signature does not change`() throws {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let forged = story.write(
            "ann", after: story.heads, .addDevices([story.device("new")]), isWellBound: false)
        let bobs = story.write("bob", after: story.start, .addDevices([story.device("new")]))
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.contains(forged))
            #expect(evaluator.isValid(bobs))
        }
    }
}
