import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The check of arguments` {
    private static let parameters = [
        Parameter.text("text", "What.", bytes: 1...5).definition,
        Parameter.integer("limit", "How many.", 1...9).optional().definition,
        Parameter.flag("follow", "On.").definition,
    ]

    private func check(_ given: JSONObject) throws(NodeError) -> JSONObject {
        try Arguments(checking: given, against: Self.parameters, of: "message.test").given
    }

    private func failure(_ given: JSONObject) -> NodeError? {
        do throws(NodeError) { _ = try check(given) } catch { return error }
        return nil
    }

    @Test func `passes what fits, in the order given and without null`() throws {
        let given: JSONObject = ["follow": true, "limit": .null, "text": "x"]
        #expect(try check(given) == ["follow": true, "text": "x"])
        #expect(try check(["text": "x"]) == ["text": "x"])
    }

    @Test func `names a missing parameter, also one that is null`() {
        for given: JSONObject in [[:], ["text": .null]] {
            let error = failure(given)
            #expect(error?.kind == .badRequest)
            #expect(error?.message == "'text' is missing")
            #expect(error?.reason == "control.bad_param")
            #expect(error?.fields == [.init(name: "text", reason: "missing")])
            #expect(error?.hint == "see 'wsx-node rpc --describe message.test'")
        }
    }

    @Test func `says what a value must be`() {
        #expect(
            failure(["text": "x", "limit": 10])?.message == "'limit' must be an integer, 1 to 9")
        #expect(failure(["text": ""])?.message == "'text' must be text, 1 to 5 bytes")
        #expect(failure(["text": "x", "follow": 1])?.message == "'follow' must be true or false")
    }

    @Test func `lists the failing ones in the table's order, unknown ones first as given`() {
        let error = failure(["zz": 1, "follow": 1, "yy": 1, "text": ""])
        #expect(error?.fields.map(\.name) == ["zz", "yy", "text", "follow"])
        #expect(error?.fields.map(\.reason) == ["unknown", "unknown", "empty", "type"])
        #expect(error?.reason == "unknown_parameter")
    }

    @Test func `does not call a misspelt parameter missing as well`() {
        let error = failure(["txt": "x"])
        #expect(error?.fields == [.init(name: "txt", reason: "unknown")])
        #expect(error?.hint == "did you mean 'text'?")
        let both = failure(["zz": 1])
        #expect(both?.fields.map(\.reason) == ["unknown", "missing"], "nothing is similar to zz")
        #expect(both?.hint == "see 'wsx-node rpc --describe message.test'")
    }

    @Test func `answers a thousand unknown names with a bounded line`() {
        var given = JSONObject()
        for number in 0..<1_000 { given.append("q\(number)", 1) }
        let error = failure(given)
        #expect(error?.fields.count == 17, "16 of them, and the missing one")
        let long = failure([String(repeating: "\u{301}", count: 100_000): 1, "text": "x"])
        #expect(long?.fields.first?.name.unicodeScalars.count == 64)
        #expect((long?.json.bytes.count ?? 0) < 1_000)
    }

    @Test func `keeps a name of 64 bytes whole`() {
        let name = String(repeating: "n", count: 64)
        #expect(failure([name: 1, "text": "x"])?.fields.first?.name == name)
        #expect(
            failure([name + "n": 1, "text": "x"])?.fields.first?.name == name, "and cuts 65")
    }

    @Test func `knows a parameter only by its very bytes`() throws {
        let accented = [Parameter.flag("caf\u{e9}", "Open.").definition]
        _ = try Arguments(checking: ["caf\u{e9}": true], against: accented, of: "x")
        #expect(throws: NodeError.self) {
            _ = try Arguments(checking: ["cafe\u{301}": 1], against: accented, of: "x")
        }
    }
}

struct `What somebody probably meant` {
    static let rows: [(String, String?)] = [
        ("channel", "channel"), ("chanel", "channel"), ("chnanel", "channel"),
        ("channels", "channel"), ("hcannel", "channel"), ("chan", nil), ("limt", "limit"),
        ("limmit", "limit"), ("imit", "limit"), ("on", "on"), ("no", "on"), ("xx", nil),
        ("", nil), ("xyz", nil), ("CHANNEL", nil), (String(repeating: "c", count: 41), nil),
    ]

    @Test(arguments: rows.indices)
    func `is the nearest name, if one is near`(_ index: Int) {
        let (typed, expected) = Self.rows[index]
        #expect(Similarity.nearest(to: typed, in: ["limit", "channel", "on"]) == expected)
    }

    @Test func `is the first of two that are equally near, and nothing of nothing`() {
        #expect(Similarity.nearest(to: "cat", in: ["car", "cap"]) == "car")
        #expect(Similarity.nearest(to: "cat", in: ["cap", "car"]) == "cap")
        #expect(Similarity.nearest(to: "cat", in: ["car", "cat"]) == "cat")
        #expect(Similarity.nearest(to: "cat", in: []) == nil)
        // The first words of one name alone.
        #expect(Similarity.nearest(to: "joon", in: ["Mina", "Joon Kim"]) == "Joon Kim")
        #expect(Similarity.nearest(to: "joon", in: ["Joon Kim", "Joon Park"]) == nil)
        #expect(Similarity.nearest(to: "joo", in: ["Mina", "Joon Kim"]) == nil)
    }

    static let distances: [(String, String, Int)] = [
        ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1),
        ("abc", "ab", 1), ("abc", "xabc", 1), ("abc", "axc", 1), ("kitten", "sitting", 3),
        ("ab", "ba", 1), ("abcd", "badc", 2), ("ca", "abc", 3),
    ]

    @Test(arguments: distances.indices)
    func `is measured in single typing errors`(_ index: Int) {
        let (left, right, distance) = Self.distances[index]
        #expect(Similarity.distance(Array(left.utf8), Array(right.utf8)) == distance)
    }

    /// The definition, by trying everything.
    private func naive(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Int {
        guard let last = left.last, let other = right.last else {
            return max(left.count, right.count)
        }
        var best = min(naive(left.dropLast(), right), naive(left, right.dropLast())) + 1
        best = min(best, naive(left.dropLast(), right.dropLast()) + (last == other ? 0 : 1))
        if left.count > 1, right.count > 1, left.dropLast().last == other,
            right.dropLast().last == last
        {
            best = min(best, naive(left.dropLast(2), right.dropLast(2)) + 1)
        }
        return best
    }

    @Test(arguments: Seeds.explore(10))
    func `is the same distance both ways, and the one of the definition`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            let left = (0..<random.below(6)).map { _ in UInt8(97 + random.below(3)) }
            let right = (0..<random.below(6)).map { _ in UInt8(97 + random.below(3)) }
            let distance = Similarity.distance(left, right)
            #expect(distance == naive(left[...], right[...]), "WSX_SEED=\(seed)")
            #expect(distance == Similarity.distance(right, left), "WSX_SEED=\(seed)")
            #expect((distance == 0) == (left == right), "WSX_SEED=\(seed)")
        }
    }

    @Test func `is found for every method with one letter left out`() {
        for command in Command.methods {
            let typed = String(command.name.dropLast())
            // Some of them are other methods' names, such as that of `coin.spends`.
            guard !Command.methods.contains(where: { $0.name == typed }) else { continue }
            let error = #expect(throws: NodeError.self) { try Command.method(typed) }
            let hint = error?.hint ?? ""
            #expect(hint.hasPrefix("did you mean '"), "\(typed)")
        }
    }
}
