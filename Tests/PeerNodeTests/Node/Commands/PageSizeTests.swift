import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Pages that would exceed the length of a line.
struct `A page of very long things` {
    /// Takes six bytes for each of its own in a line of JSON.
    private static let heavy = "x" + String(repeating: "\u{1}", count: 16 * 1024 - 16)

    private static func talk(_ count: Int) throws -> (CoreBench, BenchNode, ids: [String]) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        var ids: [String] = []
        for _ in 0..<count { ids.append(try mina.send(heavy).text("id")) }
        return (bench, mina, ids)
    }

    private static func fits(_ answer: JSONValue) -> Bool {
        answer.bytes.count < Limits.controlLineBytesMax - 512
    }

    @Test(arguments: [("before", "older"), ("after", "newer")])
    func `ends early, and the next one goes on where it ended`(
        _ direction: String, _ end: String
    ) throws {
        let (bench, mina, ids) = try Self.talk(40)
        var found: [String] = []
        var place: JSONValue = direction == "after" ? .string(ids[0]) : .null
        var pages = 0
        repeat {
            var given: JSONObject = ["channel": "general", "limit": 30]
            if place != .null { given[direction] = place }
            let page = try mina.ok("message.history", .object(given))
            #expect(Self.fits(page) && !page.items.isEmpty)
            let part = page.items.compactMap { $0["id"]?.stringValue }
            found = direction == "after" ? found + part : part + found
            place = page[end] ?? .null
            #expect(page["next"] == place)
            pages += 1
        } while place != .null && pages < 100
        #expect(found == (direction == "after" ? Array(ids.dropFirst()) : ids))
        #expect(pages >= 4)
        withExtendedLifetime(bench) {}
    }

    @Test(arguments: [0, 1, 20, 38, 39])
    func `keeps what it was asked for around`(_ place: Int) throws {
        let (bench, mina, ids) = try Self.talk(40)
        let page = try mina.ok(
            "message.history",
            ["channel": "general", "around": .string(ids[place]), "limit": 30])
        #expect(Self.fits(page))
        let part = page.items.compactMap { $0["id"]?.stringValue }
        #expect(part.contains(ids[place]) && part.count >= 5)
        let first = try #require(ids.firstIndex(of: part[0]))
        #expect(part == Array(ids[first..<first + part.count]))
        #expect((page["older"] == .null) == (first == 0))
        #expect((page["newer"] == .null) == (first + part.count == ids.count))
        withExtendedLifetime(bench) {}
    }

    @Test func `of a list goes on by its cursor`() throws {
        let (bench, mina, ids) = try Self.talk(25)
        func all(
            _ method: String, _ given: JSONObject, _ id: (JSONValue) -> JSONValue?
        ) throws -> [String] {
            var found: [String] = []
            var cursor: JSONValue = .null
            repeat {
                var given = given
                if cursor != .null { given["cursor"] = cursor }
                let page = try mina.ok(method, .object(given))
                #expect(Self.fits(page), "\(method)")
                found += page.items.compactMap { id($0)?.stringValue }
                cursor = page["next"] ?? .null
            } while cursor != .null && found.count < 1_000
            return found
        }
        let wanted = JSONValue(texts: ids.reversed())
        #expect(try all("message.get", ["ids": wanted]) { $0["id"] } == ids.reversed())
        #expect(
            try all("message.get", ["ids": wanted, "limit": 4]) { $0["id"] } == ids.reversed())
        let text = String(Self.heavy.prefix(1_024))
        for number in 0..<120 {
            try mina.ok(
                "channel.create",
                [
                    "name": .string("c\(number)"), "topic": .string(String(text.prefix(500))),
                    "description": .string(text),
                ])
        }
        let names = try all("channel.list", ["limit": 1_000]) { $0["name"] }
        #expect(names.count == 121 && Set(names).count == 121)
        let found = try all("search", ["query": "c", "kinds": ["channel"], "limit": 100]) {
            $0["id"]
        }
        #expect(Set(found).count == found.count)
        withExtendedLifetime(bench) {}
    }

    @Test func `of what was found ends early too`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for _ in 0..<20 { try mina.send("word " + Self.heavy.prefix(16_000)) }
        for order in ["newest", "best"] {
            var found: [JSONValue] = []
            var cursor: JSONValue = .null
            repeat {
                var given: JSONObject = [
                    "query": "word", "kinds": ["message"], "order": .string(order), "limit": 20,
                ]
                if cursor != .null { given["cursor"] = cursor }
                let page = try mina.ok("search", .object(given))
                #expect(Self.fits(page))
                found += page.items.compactMap { $0["id"] }
                cursor = page["next"] ?? .null
            } while cursor != .null && found.count < 100
            #expect(found.count == 20 && Set(found.map(\.text)).count == 20, "\(order)")
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `is there for every list`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let message = try mina.send("hello")
        bench.advance(2_000)
        let holders: JSONObject = ["message": message["id"] ?? .null]
        for (method, given) in [("message.holders", holders), ("rpc.methods", JSONObject())] {
            let all = try mina.ok(method, .object(given))
            #expect(all["next"] == .null && all.items.count > 1)
            var found: [String] = []
            var cursor: JSONValue = .null
            repeat {
                var part = given
                part["limit"] = .integer(Int64(all.items.count - 1))
                if cursor != .null { part["cursor"] = cursor }
                let page = try mina.ok(method, .object(part))
                found += page.items.map(\.text)
                cursor = page["next"] ?? .null
            } while cursor != .null && found.count < 1_000
            #expect(found == all.items.map(\.text), "\(method)")
            #expect(
                try mina.refused(method, .object(given.with("cursor", "x"))).reason == "bad_cursor")
        }
        try mina.ok("member.remove", ["member": "@Joon", "force": true])
        let status = try mina.ok("member.status", ["member": "@Joon", "limit": 1])
        #expect(status.items.count <= 1)
        withExtendedLifetime((bench, joon)) {}
    }

    @Test func `of what peers lack is that of one workspace, if one is named`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("workspace.create", ["name": "second"])
        try mina.join(try joon.link())
        bench.advance(2_000)
        func workspaces(_ given: JSONValue) throws -> [String] {
            try mina.ok("sync.status", given).items.compactMap { $0["workspace"]?.stringValue }
        }
        let second = try mina.ok("workspace.get", ["workspace": "second"]).text("id")
        #expect(try workspaces([:]).count == 2)
        #expect(try workspaces(["workspace": "second"]) == [second])
        #expect(try workspaces(["workspace": "second", "channel": "general"]) == [second])
        #expect(try mina.refused("sync.status", ["workspace": "nope"]).kind == .notFound)
        #expect(try mina.refused("sync.status", ["channel": "nope"]).kind == .notFound)
        withExtendedLifetime(bench) {}
    }

    @Test(arguments: ["", "a\"b\\c", "\u{1}\n\u{7F}", "회의 🎉"])
    func `is measured as it is written`(_ text: String) {
        #expect(AnswerRoom.bytes(of: text) >= JSONValue.string(text).bytes.count - 2)
    }
}

extension JSONObject {
    fileprivate func with(_ key: String, _ value: JSONValue) -> JSONObject {
        var object = self
        object[key] = value
        return object
    }
}
