import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A passphrase` {
    let bench = CoreBench()

    @Test(arguments: [
        ("correct horse battery", nil), ("fifteen letters", nil), ("Aa1!aaaa", nil),
        ("Aa1!aaa", "too_short"), ("aaaaaaaa", "weak"), ("Aaaaaaaa1", "weak"),
        ("fourteen chars", "weak"), ("AAAAAAA1!", "weak"),
        ("ÄÖÜäöü1-", nil), (String(repeating: "x", count: 1_025), "too_long"),
        ("nul\u{0}nul\u{0}nul\u{0}nul\u{0}", "form"),
    ])
    func `is long, or short and mixed`(_ text: String, _ problem: String?) {
        #expect(PassphraseRule.problem(of: text) == problem)
    }

    @Test func `that is bad is told together with a bad name`() throws {
        let node = try bench.bareNode("Mina")
        let error = try node.refused(
            "identity.create", ["name": " ", "passphrase": "short"])
        #expect(error.kind == .badRequest)
        #expect(error.fields.map(\.name) == ["name", "passphrase"])
        #expect(error.json["data"]?["fields"]?.arrayValue?.count == 2)
        #expect(node.files.identity == nil)
    }

    /// Also an empty name, which no other check sees first.
    @Test(arguments: ["", " "])
    func `and an address and a number that are bad are told in one answer`(name: String) throws {
        let node = try bench.bareNode("Mina")
        let error = try node.refused(
            "identity.create",
            [
                "name": .string(name), "email": "bad@", "phone": "12", "passphrase": "short",
            ])
        #expect(Set(error.fields.map(\.name)) == ["name", "email", "phone", "passphrase"])
        for word in ["'name'", "'email'", "'phone'", "'passphrase'"] {
            #expect(error.message.contains(word), "\(error.message)")
        }
    }

    @Test func `has to be waited for no time that is none`() throws {
        let node = try bench.sealedNode("Mina")
        try node.restart()
        var hints: [String] = []
        for _ in 0..<6 {
            let error = try node.refused("session.unlock", ["passphrase": "not this one, sorry"])
            hints.append("\(error.message) \(error.hint ?? "")")
            bench.advance(700)
        }
        #expect(hints.allSatisfy { !$0.contains(" 0 s") }, "\(hints)")
    }

    @Test func `seals the identity file from its first moment`() throws {
        let node = try bench.sealedNode("Minasealed")
        let bytes = try #require(node.files.identity)
        #expect(node.files.identityWriteCount == 1)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("wsxlock1"))
        #expect(!text.contains("Minasealed"))
        guard case .sealed(let sealed) = try IdentityFile(fileBytes: bytes) else {
            Issue.record("not sealed")
            return
        }
        let home = try #require(node.host?.core.session.home)
        #expect(sealed.device == home.device)
        for secret in [
            home.signing.exposedSeed(), home.box.exposedSecret(), home.homeKey.exposedCopy(),
        ] {
            #expect(!contains(bytes, secret))
        }
    }

    @Test func `is changed, and only the new one opens`() throws {
        let node = try bench.sealedNode("Mina")
        let next = "another fine passphrase"
        let wrong = try node.refused(
            "identity.passphrase.change", ["current": "not this one, sorry", "new": .string(next)])
        #expect(wrong.kind == .wrongSecret)
        try node.ok(
            "identity.passphrase.change",
            ["current": .string(goodPassphrase), "new": .string(next)])
        try node.restart()
        #expect(
            try node.refused("session.unlock", ["passphrase": .string(goodPassphrase)]).kind
                == .wrongSecret)
        try node.ok("session.unlock", ["passphrase": .string(next)])
        #expect(try node.ok("identity.show")["name"] == "Mina")
    }

    @Test func `is added to a home and taken away again`() throws {
        let node = try bench.node("Mina")
        let device = try node.ok("identity.show")["id"]
        let shown = try node.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        #expect(shown["passphrase"] == true)
        try node.restart()
        #expect(node.session["state"] == "closed")
        #expect(try node.ok("identity.show")["id"] == device)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        let open = try node.ok(
            "identity.passphrase.change", ["current": .string(goodPassphrase), "remove": true])
        #expect(open["passphrase"] == false)
        try node.restart()
        #expect(node.session["state"] == "open")
        #expect(try node.texts().isEmpty)
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let isSealed: Bool
        let parameters: JSONValue
        let fields: [String]
        var testDescription: String { "sealed \(isSealed) \(parameters.text)" }
    }

    @Test(arguments: [
        Refused(isSealed: false, parameters: [:], fields: ["new"]),
        Refused(isSealed: false, parameters: ["remove": true], fields: ["remove"]),
        Refused(isSealed: false, parameters: ["new": "short"], fields: ["new"]),
        Refused(isSealed: true, parameters: [:], fields: ["current", "new"]),
        Refused(isSealed: true, parameters: ["new": "short"], fields: ["current", "new"]),
        Refused(isSealed: true, parameters: ["remove": true], fields: ["current"]),
        Refused(
            isSealed: true,
            parameters: [
                "current": .string(goodPassphrase), "new": "a good long passphrase", "remove": true,
            ], fields: ["remove"]),
    ])
    func `change names every field that is wrong`(_ refused: Refused) throws {
        let node = refused.isSealed ? try bench.sealedNode("Mina") : try bench.node("Mina")
        let before = node.files.identity
        let error = try node.refused("identity.passphrase.change", refused.parameters)
        #expect(error.kind == .badRequest)
        #expect(error.fields.map(\.name) == refused.fields)
        #expect(node.files.identity == before)
    }

    /// The file is one or the other at any moment, and nothing else depends on the passphrase.
    @Test func `opens by the old or the new one wherever a change is cut short`() throws {
        let next = "another fine passphrase"
        for moment in ["before the file", "after the file", "after the answer"] {
            let bench = CoreBench()
            let node = try bench.sealedNode("Mina")
            try node.ok("message.send", ["channel": "general", "text": "kept"])
            if moment == "before the file" { node.files.identityFailure = HomeFileError("planted") }
            // The COMMIT that takes back the count of tries.
            if moment == "after the file" { bench.failsNextDerivation = node }
            _ = node.call(
                "identity.passphrase.change",
                ["current": .string(goodPassphrase), "new": .string(next)])
            node.files.identityFailure = nil
            try node.restart()
            bench.advance(3_600_000)
            let opens = [goodPassphrase, next].filter {
                (try? node.ok("session.unlock", ["passphrase": .string($0)])) != nil
            }
            #expect(!opens.isEmpty, "\(moment)")
            #expect(try node.texts() == ["kept"], "\(moment)")
        }
    }

    /// A home that is locked while its passphrase goes would have nothing left that opens it.
    @Test(arguments: [["remove": true], ["new": "another fine passphrase"]] as [JSONValue])
    func `is not changed by who is locked out meanwhile`(_ change: JSONValue) throws {
        let node = try bench.sealedNode("Mina")
        try node.ok("message.send", ["channel": "general", "text": "kept"])
        let before = node.files.identity
        var arguments = change.objectValue ?? JSONObject()
        arguments["current"] = .string(goodPassphrase)
        let call = CallID(connection: 7, number: 1)
        bench.give(
            .call(call, method: "identity.passphrase.change", arguments: arguments), to: node)
        bench.give(
            .call(
                CallID(connection: 7, number: 2), method: "lock.now", arguments: JSONObject()),
            to: node)
        bench.settle()
        guard case .failure(let error)? = node.answer(to: call) else {
            Issue.record("changed")
            return
        }
        #expect(error.kind == .locked)
        #expect(node.session["state"] == "locked")
        #expect(node.files.identity == before)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try node.texts() == ["kept"])
    }

    @Test func `is not tried by two at a time`() throws {
        let node = try bench.sealedNode("Mina")
        try node.ok("lock.now")
        let host = try #require(node.host)
        func call(_ number: UInt64) -> NodeInput {
            .call(
                CallID(connection: 9, number: number), method: "session.unlock",
                arguments: ["passphrase": .string(goodPassphrase)])
        }
        let effects = host.turn([call(1), call(2)], at: node.time)
        let jobs = effects.filter { if case .deriveKeys = $0 { true } else { false } }
        #expect(jobs.count == 1)
        let refused = effects.contains { effect in
            if case .answer(_, .failure(let error)) = effect { error.kind == .busy } else { false }
        }
        #expect(refused)
        node.carryOut(effects)
        #expect(node.session["state"] == "open")
    }
}

struct `Wrong passphrases` {
    @Test(
        arguments: [
            (0, 0), (1, 0), (3, 0), (4, 1_000), (5, 2_000), (6, 4_000), (13, 512_000),
            (14, 900_000), (400, 900_000), (UInt32.max, 900_000),
        ] as [(UInt32, UInt64)])
    func `wait longer and longer, but not endlessly`(_ count: UInt32, _ wait: UInt64) {
        #expect(UnlockTries.wait(after: count) == wait)
    }

    @Test func `are slowed down, over restarts and whatever the clock says`() throws {
        let bench = CoreBench()
        let node = try bench.sealedNode("Mina")
        try node.ok("lock.now")
        for _ in 1...4 {
            #expect(
                try node.refused("session.unlock", ["passphrase": "a wrong passphrase"]).kind
                    == .wrongSecret)
        }
        let begun = node.derivationCount
        let slow = try node.refused("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(slow.kind == .rateLimited)
        #expect(slow.details["retry_ms"]?.integerValue ?? 0 > 0)
        #expect(node.derivationCount == begun)
        // Neither a year ahead, nor a restart, nor a year back makes it shorter or longer.
        bench.wall += 365 * 86_400_000
        try node.restart()
        #expect(
            try node.refused("session.unlock", ["passphrase": .string(goodPassphrase)]).kind
                == .rateLimited)
        bench.wall -= 2 * 365 * 86_400_000
        bench.advance(1_001)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(node.session["retry_ms"] == 0)
    }

    /// A supervisor starts it every second, with the right one in a file.
    @Test func `are over when their time has passed, however often the node is started`() throws {
        let bench = CoreBench()
        let node = try bench.sealedNode("Mina")
        try node.ok("lock.now")
        for count in 1...7 {
            #expect(
                try node.refused("session.unlock", ["passphrase": "a wrong passphrase"]).kind
                    == .wrongSecret)
            bench.advance(UnlockTries.wait(after: UInt32(count)))
        }
        #expect(
            try node.refused("session.unlock", ["passphrase": "a wrong passphrase"]).kind
                == .wrongSecret)
        let wait = UnlockTries.wait(after: 8)
        for _ in stride(from: UInt64(1_000), to: wait, by: 1_000) {
            bench.advance(1_000)
            try node.restart()
            #expect(
                try node.refused("session.unlock", ["passphrase": .string(goodPassphrase)]).kind
                    == .rateLimited)
        }
        bench.advance(1_000)
        try node.restart()
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
    }

    @Test func `are counted before they are tried`() throws {
        let bench = CoreBench()
        let node = try bench.sealedNode("Mina")
        try node.restart()
        let host = try #require(node.host)
        // The process dies while the passphrase is worked on, again and again.
        for number in 1...4 {
            _ = host.turn(
                [
                    .call(
                        CallID(connection: 1, number: UInt64(number)), method: "session.unlock",
                        arguments: ["passphrase": "a wrong passphrase"])
                ], at: node.time)
            if number < 4 { host.core.session.pendingDerivation = nil }
        }
        try node.restart()
        #expect(
            try node.refused("session.unlock", ["passphrase": .string(goodPassphrase)]).kind
                == .rateLimited)
    }

    @Test func `a thousand of them never change the file (P04)`() throws {
        let bench = CoreBench()
        let node = try bench.sealedNode("Mina")
        let before = node.files.identity
        try node.ok("lock.now")
        for number in 1...1_000 {
            bench.advance(900_001)
            #expect(
                try node.refused(
                    "session.unlock", ["passphrase": .string("wrong passphrase \(number)")]
                ).kind == .wrongSecret)
        }
        #expect(node.files.identity == before)
        bench.advance(900_001)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
    }
}

/// Whether `part` stands somewhere in `whole`.
func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first, whole.count >= part.count else { return false }
    return whole.indices.dropLast(part.count - 1).contains { start in
        whole[start] == first && whole[start..<start + part.count].elementsEqual(part)
    }
}
