import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The identity file` {
    @Test func `is written once and read at every start`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let shown = try mina.ok("identity.show")
        let bytes = mina.files.identity
        try mina.restart()
        #expect(try mina.ok("identity.show") == shown)
        #expect(mina.files.identity == bytes)
        #expect(mina.files.identityWriteCount == 1)
    }

    @Test func `round-trips`() throws {
        let random = SeededRandom(seed: 4)
        let identity = HomeIdentity(name: "Mína 🌊", createdAt: 77, using: random)
        let read = try HomeIdentity(fileBytes: identity.fileBytes)
        #expect(read.device == identity.device)
        #expect(read.name == "Mína 🌊")
        #expect(read.createdAt == 77)
        #expect(read.fileBytes == identity.fileBytes)
        let sealed = identity.seal([1, 2, 3], name: [9], using: random)
        #expect(read.open(sealed, name: [9]) == [1, 2, 3])
        #expect(read.open(sealed, name: [8]) == nil)
    }

    /// P04: whatever is wrong with the file, it is told and the file stays as it is.
    @Test func `is refused when it is cut or changed anywhere`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let whole = try #require(mina.files.identity)
        mina.kill()
        var damaged: [[UInt8]] = stride(from: 0, to: whole.count, by: 7).map {
            [UInt8](whole.prefix($0))
        }
        damaged += whole.indices.map { place in
            var bytes = whole
            bytes[place] ^= 1
            return bytes
        }
        damaged += [whole + [0], [UInt8](whole.dropFirst())]
        for bytes in damaged {
            mina.files.identity = bytes
            do {
                try mina.boot()
                Issue.record("started with a damaged identity")
            } catch {
                guard case .identity(let problem) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(problem.hint != nil)
            }
            #expect(mina.files.identity == bytes)
        }
        #expect(mina.files.identityWriteCount == 1)
        mina.files.identity = whole
        try mina.boot()
        #expect(try mina.ok("workspace.get")["name"] == "acme")
    }

    @Test func `that others may read is refused in the words of the disk`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        mina.kill()
        let failure = HomeFileError("mode 644", hint: "chmod 600 'device.key'")
        mina.files.identityFailure = failure
        do {
            try mina.boot()
            Issue.record("started with an open key")
        } catch {
            guard case .identity(failure) = error else {
                Issue.record("\(error)")
                return
            }
        }
        mina.files.identityFailure = nil
        try mina.boot()
        #expect(try mina.ok("identity.show")["name"] == "Mina")
    }

    @Test func `that cannot be written is no identity`() throws {
        let bench = CoreBench()
        let node = try bench.bareNode("Mina")
        node.files.identityFailure = HomeFileError("the folder is read-only", hint: "chmod")
        let error = try node.refused("identity.create", ["name": "Mina"])
        #expect(error.kind == .storeFailed)
        #expect(error.message == "the folder is read-only")
        #expect(error.hint == "chmod")
        node.files.identityFailure = nil
        #expect(try node.refused("identity.show").kind == .notFound)
        try node.ok("identity.create", ["name": "Mina"])
    }

    @Test func `appears in no log and in no store`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let identity = try #require(mina.host?.core.session.home)
        let image = try mina.image
        for secret in [
            identity.signing.exposedSeed(), identity.box.exposedSecret(),
            identity.homeKey.exposedCopy(),
        ] { #expect(!image.contains(part: secret)) }
        for key in try mina.workspace().secrets.keys.opened {
            #expect(!image.contains(part: key.exposedCopy()))
        }
        #expect(mina.log.allSatisfy { !$0.contains("Mina") && !$0.contains("acme") })
    }
}

extension [UInt8] {
    fileprivate func contains(part: [UInt8]) -> Bool {
        guard let first = part.first, count >= part.count else { return false }
        return indices.dropLast(part.count - 1).contains {
            self[$0] == first && self[$0..<$0 + part.count].elementsEqual(part)
        }
    }
}

struct `A store that was put back` {
    struct Return: Sendable, CustomTestStringConvertible {
        let reason: RestoreGuard.Reason
        /// Changes the home while the process is away; is given the image of an hour ago.
        let change: @Sendable (BenchNode, [UInt8]) throws -> Void
        var testDescription: String { reason.rawValue }
    }

    static let returns = [
        Return(reason: .missing) { node, _ in node.files.guardBytes = nil },
        Return(reason: .unreadable) { node, _ in
            node.files.guardBytes = [UInt8](repeating: 7, count: 128)
        },
        Return(reason: .otherMachine) { node, _ in
            node.files.storeFacts = StoreFileFacts(
                machine: 9, device: 2, inode: 3, birthNanoseconds: 4)
        },
        Return(reason: .otherFile) { node, _ in
            node.files.storeFacts = StoreFileFacts(
                machine: 1, device: 2, inode: 30, birthNanoseconds: 40)
        },
        Return(reason: .storeIsOlder) { node, old in try node.replaceStore(old) },
        Return(reason: .otherStore) { node, _ in
            let other = RestoreGuard(
                storeID: StoreID([UInt8](repeating: 1, count: 16)),
                facts: node.files.storeFacts, commitCounter: 1)
            other.writeAnew(to: node.files)
        },
    ]

    @Test(arguments: returns)
    func `writes on in a new log and says so`(_ back: Return) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.send("one")
        let old = try mina.image
        let core = try #require(mina.host?.core)
        let former = try #require(core.session.storeIdentity)
        try mina.send("two")
        bench.advance(5_000)
        mina.kill()
        try back.change(mina, old)
        try mina.boot()
        let identity = try #require(mina.host?.core.session.storeIdentity)
        #expect(identity.store != former.store)
        #expect(identity.incarnation != former.incarnation)
        #expect(identity.epoch != former.epoch)
        #expect(identity.staticKey.publicKey != former.staticKey.publicKey)
        let event = try #require(try mina.events(types: ["store.restored"]).last)
        #expect(event["data"] == ["reason": .string(back.reason.rawValue)])
        #expect(event["workspace"] == .null)
        #expect(mina.log.contains { $0.hasPrefix("store.restored") })
        // A new log begins, so nothing of the old one is written twice.
        try mina.send("three")
        bench.advance(120_000)
        #expect(try mina.log() == ["one", "two", "three"])
        #expect(try joon.log() == ["one", "two", "three"])
        #expect(try mina.digest() == joon.digest())
        #expect(try joon.eventTypes().allSatisfy { $0 != "fork.found" })
        // It is noticed once.
        try mina.restart()
        #expect(try mina.events(types: ["store.restored"]).count == 1)
        #expect(mina.host?.core.session.storeIdentity?.store == identity.store)
    }

    @Test func `is not suspected after a kill`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for number in 0..<5 {
            try mina.send("\(number)")
            // The guard file may lack the last commit, but never more than that.
            let guardBytes = mina.files.guardBytes
            try mina.send("\(number)b")
            mina.kill()
            mina.files.guardBytes = guardBytes
            try mina.boot()
        }
        #expect(try mina.events(types: ["store.restored"]).isEmpty)
        #expect(try mina.log().count == 10)
    }

    /// Two homes of one device, both running: its log forks where both write, and nobody loses
    /// what either of them wrote.
    @Test func `twice is seen as a fork, and both branches are kept`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        // The whole machine is put back, so that no guard can notice.
        let image = try mina.image
        let guardBytes = mina.files.guardBytes
        bench.cut(mina, joon)
        try mina.send("first life")
        bench.heal(mina, joon)
        bench.advance(5_000)
        #expect(try joon.log() == ["first life"])
        bench.cut(mina, joon)
        mina.kill()
        try mina.replaceStore(image)
        mina.files.guardBytes = guardBytes
        try mina.boot()
        try mina.send("second life")
        bench.heal(mina, joon)
        bench.advance(120_000)
        #expect(Set(try joon.log()) == ["first life", "second life"])
        #expect(Set(try mina.log()) == ["first life", "second life"])
        #expect(try joon.digest() == mina.digest())
        #expect(try joon.eventTypes().contains("fork.found"))
        let warnings = try joon.ok("node.status")["warnings"]?.arrayValue ?? []
        #expect(warnings.contains { $0["kind"] == "fork.found" })
        let finding = try joon.ok("node.doctor").items.first { $0["id"] == "forks" }
        #expect(finding?["state"] == "warn")
    }
}

struct `A node that starts again` {
    @Test func `shows what it showed before`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans", "topic": "soon", "description": "all"])
        let root = try mina.send("root").text("id")
        try joon.send("reply", thread: root)
        try mina.ok("invite.create", ["uses": 4])
        bench.advance(60_000)
        let calls: [(String, JSONValue)] = [
            ("workspace.list", [:]), ("channel.list", ["scope": "all"]), ("member.list", [:]),
            ("invite.list", [:]), ("message.history", ["channel": "general"]),
            ("identity.show", [:]), ("events.wait", ["since": "all", "types": ["message.*"]]),
        ]
        for node in [mina, joon] {
            let before = try calls.map { try node.ok($0.0, $0.1) }
            try node.restart()
            for (call, answer) in zip(calls, before) {
                let again = try node.ok(call.0, call.1)
                // Links opened again are events of their own, so a cursor has gone on.
                #expect(again["items"] == answer["items"], "\(call.0)")
                if answer["items"] == nil { #expect(again == answer, "\(call.0)") }
            }
            #expect(
                try node.ok("node.doctor").items.first { $0["id"] == "store" }?["state"] == "ok")
        }
    }

    @Test func `starts at the last COMMIT after a kill within a turn`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.send("kept")
        let core = try #require(mina.host?.core)
        core.beginTurn(at: mina.time)
        _ = try core.handle(
            .call(
                CallID(connection: 3, number: 1), method: "message.send",
                arguments: ["channel": "general", "text": "not committed"]))
        mina.kill()
        try mina.boot()
        #expect(try mina.log() == ["kept"])
        try mina.send("next")
        #expect(try mina.log() == ["kept", "next"])
    }

    @Test func `refuses the store of a later version`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.connection?.setSchemaVersion(99)
        mina.kill()
        do {
            try mina.boot()
            Issue.record("started on a newer store")
        } catch {
            guard case .store(let problem) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(problem.kind == .newerSchema)
        }
    }
}
