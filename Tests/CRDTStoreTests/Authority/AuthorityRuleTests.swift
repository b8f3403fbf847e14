import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Single rules that need no concurrent operations.
struct `Authority follows its table of rules` {
    @Test(arguments: [
        (AuthAction.rekey, Role.admin), (.setWorkspace(mayInvite: .members), .admin),
        (.feature(isKnown: true), .owner), (.deleteWorkspace, .owner), (.createDocument, .member),
        (.setDocument, .member), (.deleteDocument, .member), (.cutPart, .guest), (.leave, .guest),
        (.invite(InviteTerms(role: .guest)), .admin),
    ])
    func `each kind has a least role`(action: AuthAction, least: Role) throws {
        for role in Role.allCases {
            var story = Story(admins: ["ann"])
            let grant = story.promote("ann", to: role, replacing: true)
            let operation = story.write("ann", under: grant, after: story.heads, action)
            let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
            // An owner hands over before leaving.
            if case .leave = action, role == .owner {
                #expect(!evaluator.contains(operation))
                continue
            }
            #expect(evaluator.isValid(operation) == (role <= least), "\(role)")
            #expect(evaluator.contains(operation) == (role <= least), "\(role)")
        }
    }

    @Test func `an unknown kind is closed, and so is what is not well bound`() throws {
        var story = Story(admins: ["ann"])
        let unknown = story.write("root", after: story.heads, .unknown)
        let unbound = story.write(
            "root", after: story.heads, .addDevices([story.device("new")]), isWellBound: false)
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(!evaluator.contains(unknown) && story.brokenRule(of: unknown) == "A-7")
        #expect(!evaluator.contains(unbound))
        #expect(evaluator.heads == story.start.sorted())
        #expect(evaluator.frontier == story.start.sorted())
    }

    @Test func `an invite ends at its time, and with approval the request decides`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let plain = story.write(
            "ann", after: story.heads, .invite(InviteTerms(role: .member, uses: 9, expires: 10)))
        let asked = story.write(
            "ann", after: [plain],
            .invite(InviteTerms(role: .member, uses: 9, expires: 10, needsApproval: true)))
        let inTime = story.admit("dan", on: plain, by: "bob", after: [asked], timestamp: 10)
        let late = story.admit("eve", on: plain, by: "bob", after: [asked], timestamp: 11)
        let request = story.write(
            "bob", after: [asked],
            .request(
                invite: asked, member: story.member("fay"), devices: [story.device("fay")],
                answering: nil),
            timestamp: 9)
        let byMember = story.admit(
            "fay", on: asked, by: "bob", after: [request], timestamp: 9, request: request)
        let byAdmin = story.admit(
            "fay", on: asked, by: "ann", after: [request], timestamp: 99, request: request)
        let another = story.admit(
            "gus", on: asked, by: "ann", after: [request], timestamp: 9, request: request)
        let unasked = story.admit("gus", on: asked, by: "ann", after: [request], timestamp: 9)
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(evaluator.isValid(inTime) && evaluator.isValid(byAdmin))
        for (id, rule) in [
            (late, "A-16"), (byMember, "A-15"), (unasked, "A-15"), (another, "A-14"),
        ] { #expect(!evaluator.contains(id) && story.brokenRule(of: id) == rule) }
    }

    @Test func `a member invites members only under a policy that is valid`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let start = story.heads
        let policy = story.write("ann", after: start, .setWorkspace(mayInvite: .members))
        var terms = InviteTerms(role: .member)
        let bare = story.write("bob", after: [policy], .invite(terms))
        terms.policy = policy
        let invite = story.write("bob", after: [policy], .invite(terms))
        let admitted = story.admit("dan", on: invite, by: "bob", after: [invite])
        var evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(!evaluator.contains(bare) && story.brokenRule(of: bare) == "A-8")
        #expect(evaluator.isValid(admitted))
        let removal = story.write("root", after: start, .remove(member: story.member("ann")))
        let change = try evaluator.add(try #require(story.history[removal]))
        #expect(change.becameValid == [removal])
        #expect(change.becameInvalid == [policy, invite, admitted].sorted())
    }

    @Test func `what cannot be placed is refused and changes nothing`() throws {
        var story = Story(admins: ["ann"])
        let last = story.write("root", after: story.heads, .cutPart)
        let operation = try #require(story.history[last])
        var evaluator = AuthEvaluator()
        #expect(throws: AuthError.self) { try evaluator.add(operation) }
        #expect(evaluator.count == 0)
        for known in story.history.operations { try evaluator.add(known) }
        #expect(try evaluator.add(operation).isEmpty)
        func variant(sequence: UInt64, previous: OperationID?, _ action: AuthAction)
            -> AuthOperation
        {
            AuthOperation(
                id: .zero, device: operation.device, incarnation: operation.incarnation,
                sequence: sequence, previous: previous, dependencies: [], grant: operation.grant,
                action: action)
        }
        let count = evaluator.count
        #expect(throws: AuthError.brokenChain) {
            try evaluator.add(variant(sequence: .max, previous: last, .cutPart))
        }
        #expect(throws: AuthError.brokenChain) {
            try evaluator.add(variant(sequence: 0, previous: last, .cutPart))
        }
        #expect(throws: AuthError.brokenChain) {
            try evaluator.add(variant(sequence: 1, previous: nil, .cutPart))
        }
        #expect(throws: AuthError.secondRoot) {
            try evaluator.add(
                variant(sequence: 0, previous: nil, .create(member: story.member("x"), devices: []))
            )
        }
        #expect(evaluator.count == count)
    }
}

/// The content that revocations leave valid.
struct `Content stays valid up to the cuts` {
    private func log(_ story: Story, _ name: String, _ document: UInt8 = 1) -> LogName {
        LogName(
            document: DocumentID([UInt8](repeating: document, count: 32)),
            device: story.device(name), incarnation: 7)
    }

    private func cut(_ log: LogName, at sequence: UInt64, branch: UInt8 = 1) -> CutEntry {
        CutEntry(
            log: log, sequence: sequence,
            id: Identifier16([UInt8](repeating: branch, count: 16)))
    }

    @Test func `a removal keeps what it lists, on the branch it lists, and nothing else`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let listed = log(story, "bob")
        let kept = cut(listed, at: 5)
        _ = story.write(
            "ann", after: story.heads, .remove(member: story.member("bob")), cuts: [kept])
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        let grant = story.grant("bob")
        let limit = evaluator.contentLimit(grant: grant, log: listed, leastRole: .member)
        #expect(limit == .cuts([[CutPlace(kept)]]) && limit.lastSequence == 5)
        #expect(limit.allows(sequence: 5) { $0 == CutPlace(kept) })
        #expect(!limit.allows(sequence: 6) { _ in true })
        #expect(!limit.allows(sequence: 5) { _ in false })
        let unlisted = log(story, "bob", 2)
        #expect(evaluator.contentLimit(grant: grant, log: unlisted, leastRole: .member) == .nothing)
        #expect(evaluator.contentGrant(of: story.device("bob"), leastRole: .guest) == nil)
    }

    @Test func `two removals keep what both keep, and a widening adds`() throws {
        var story = Story(admins: ["ann", "eve"], members: ["bob"])
        let start = story.heads
        let listed = log(story, "bob")
        let action = AuthAction.remove(member: story.member("bob"))
        let narrow = story.write("ann", after: start, action, cuts: [cut(listed, at: 3)])
        _ = story.write("eve", after: start, action, cuts: [cut(listed, at: 9)])
        var evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        func last() -> UInt64? {
            evaluator.contentLimit(grant: story.grant("bob"), log: listed, leastRole: .member)
                .lastSequence
        }
        #expect(last() == 3)
        let wider = [cut(listed, at: 6)]
        let heads = story.heads
        let weak = story.write("eve", after: heads, .recut(revocation: narrow), cuts: wider)
        #expect(throws: AuthError.faulty(.roleTooWeak), "A-25") {
            try evaluator.add(try #require(story.history[weak]))
        }
        #expect(last() == 3)
        let own = story.write("ann", after: heads, .recut(revocation: narrow), cuts: wider)
        try evaluator.add(try #require(story.history[own]))
        #expect(last() == 6)
    }

    /// a cut does not prove that somebody held it in time. So the author who widens an end
    /// may have invented it, and nobody may do that for their own leave: later content would count
    /// like earlier content.
    @Test(arguments: [
        (
            AuthorityEnd.leave,
            ["owner": true, "ann": true, "late": true, "bob": false, "eve": false, "phone": false]
        ),
        (
            .ownDevice,
            ["owner": true, "ann": true, "late": true, "bob": true, "eve": false, "tablet": false]
        ),
        (.adminLeave, ["owner": true, "ann": false, "pad": false, "late": true, "eve": false]),
        (.removal, ["owner": true, "ann": true, "late": false, "eve": false]),
    ])
    func `an end is widened by who could have made it`(
        end: AuthorityEnd, expected: [String: Bool]
    ) throws {
        for (author, isAllowed) in expected.sorted(by: { $0.key < $1.key }) {
            var story = Story(admins: ["ann"], members: ["eve", "bob"])
            let start = story.start
            let phone = story.write("bob", after: start, .addDevices([story.device("phone")]))
            let tablet = story.write("bob", after: [phone], .addDevices([story.device("tablet")]))
            let pad = story.write("ann", after: [tablet], .addDevices([story.device("pad")]))
            let invite = story.write("root", after: [pad], .invite(InviteTerms(role: .admin)))
            let late = story.admit("late", on: invite, by: "root", after: [invite])
            let grants = ["late": late, "phone": phone, "tablet": tablet, "pad": pad]
            let ending =
                switch end {
                case .leave: story.write("phone", under: phone, after: [late], .leave)
                case .adminLeave: story.write("pad", under: pad, after: [late], .leave)
                case .ownDevice:
                    story.write("bob", after: [late], .removeDevice(story.device("phone")))
                case .removal:
                    story.write("ann", after: [late], .remove(member: story.member("bob")))
                }
            let name = author == "owner" ? "root" : author
            let recut = story.write(
                name, under: grants[author], after: [ending], .recut(revocation: ending))
            let history = story.history.operations.filter { $0.id != recut }
            var evaluator = try AuthEvaluator.evaluateFromScratch(history)
            let operation = try #require(story.history[recut])
            var fault: AuthError?
            do throws(AuthError) { try evaluator.add(operation) } catch { fault = error }
            #expect((fault == nil) == isAllowed, "\(author) \(end): \(fault as Any)")
            var generator = SeededGenerator(seed: 1)
            let definition = AuthDefinition(story.history, visitingWith: &generator)
                .validOperations()
            #expect(definition.contains(recut) == isAllowed, "\(author) \(end), as defined")
        }
    }

    enum AuthorityEnd { case leave, ownDevice, adminLeave, removal }

    @Test(arguments: [(Role.member, true), (.guest, false)])
    func `a new role takes content only where it no longer allows it`(
        role: Role, isKept: Bool
    ) throws {
        var story = Story(admins: ["ann"])
        let demotion = story.promote("ann", to: role, replacing: true)
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        let limit = evaluator.contentLimit(
            grant: story.grant("ann"), log: log(story, "ann"), leastRole: .member)
        #expect(limit == (isKept ? .everything : .nothing))
        #expect(evaluator.grants(reachedBy: demotion) == [story.grant("ann")])
    }

    @Test func `content needs a valid grant that lists the device and allows the role`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let guest = story.promote("bob", to: .guest)
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        func limit(_ grant: OperationID, _ name: String, _ role: Role) -> ContentLimit {
            evaluator.contentLimit(grant: grant, log: log(story, name), leastRole: role)
        }
        #expect(limit(story.grant("bob"), "bob", .member) == .everything)
        #expect(limit(story.grant("bob"), "ann", .member) == .nothing)
        #expect(limit(guest, "bob", .member) == .nothing)
        #expect(limit(guest, "bob", .guest) == .everything)
        #expect(limit(.zero, "bob", .guest) == .nothing)
    }
}
