import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Reads answers in tests; a missing field fails the test.
extension JSONValue {
    func text(_ key: String, _ location: SourceLocation = #_sourceLocation) throws -> String {
        try #require(self[key]?.stringValue, "no text '\(key)'", sourceLocation: location)
    }

    func number(_ key: String, _ location: SourceLocation = #_sourceLocation) throws -> Int64 {
        try #require(self[key]?.integerValue, "no number '\(key)'", sourceLocation: location)
    }

    /// The elements of a list answer.
    var items: [JSONValue] { self["items"]?.arrayValue ?? [] }

    /// One text of every element of a list answer.
    func texts(_ key: String = "text") -> [String] { items.compactMap { $0[key]?.stringValue } }

    /// The names of an object's members.
    var fieldNames: Set<String> { Set(objectValue?.members.map(\.key) ?? []) }
}

extension BenchNode {
    @discardableResult
    func send(
        _ text: String, to channel: String = "general", thread: String? = nil
    ) throws(NodeError) -> JSONValue {
        var parameters: JSONObject = ["channel": .string(channel), "text": .string(text)]
        if let thread { parameters.append("thread", .string(thread)) }
        return try ok("message.send", .object(parameters))
    }

    /// The texts of a channel, oldest first.
    func log(of channel: String = "general") throws -> [String] {
        try ok("message.history", ["channel": .string(channel), "limit": 100]).texts()
    }

    func events(since: String = "all", types: [String] = []) throws -> [JSONValue] {
        try ok(
            "events.wait",
            ["since": .string(since), "types": JSONValue(texts: types), "limit": 1_000]
        ).items
    }

    /// The types of the events since a cursor.
    func eventTypes(since: String = "all") throws -> [String] {
        try events(since: since).compactMap { $0["type"]?.stringValue }
    }

    /// Where the events are now.
    func cursor() throws -> String { try ok("events.wait", ["since": "latest"]).text("next") }

    /// The digest of the selected workspace.
    func digest() throws -> String { try ok("workspace.get").text("digest") }

    /// An invite's link, lower case.
    func link(_ parameters: JSONValue = [:]) throws -> String {
        try ok("invite.create", parameters).text("link")
    }

    @discardableResult
    func join(_ link: String) throws(NodeError) -> JSONValue {
        try ok("workspace.join", ["link": .string(link), "name": .string(name)])
    }

    /// How many rows a table of node.db has.
    func rowCount(_ table: String) throws -> Int64 {
        try connection?.statement("SELECT count(*) FROM \(table)").integer() ?? 0
    }
}
