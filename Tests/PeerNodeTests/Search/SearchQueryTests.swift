import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `What is looked for` {
    /// The texts of the scripts in which words have no ends, and two in which they do.
    static let texts = [
        "오늘 회의록 공유합니다", "회의 는 세 시", "明天的会议记录", "项目会议", "会議の議事録です",
        "カレンダーを見て", "build-42 is green", "the deploy of build 43",
    ]

    private func found(_ query: String) -> [Int] {
        guard let query = SearchQuery(query) else { return [] }
        return Self.texts.indices.filter { query.matches(in: SearchText(Self.texts[$0])) != nil }
    }

    @Test(
        arguments: [
            ("회의", [0, 1]), ("의록", [0]), ("会议", [2, 3]), ("会議", [4]), ("議事録", [4]),
            ("事録", [4]), ("レンダ", [5]), ("ｶﾚﾝﾀﾞｰ", [5]), ("42", [6]), ("build-42", [6]),
            ("BUILD", [6, 7]),
            ("dep", [7]), ("ploy", []), ("\"dep\"", []), ("\"build 43\"", [7]), ("43 build", [7]),
            ("\"43 build\"", []), ("議", [4]), ("세", [1]), ("会议 项目", [3]), ("회의 green", []),
            ("\"会議の議事録\"", [4]), ("green 42", [6]), ("gre 42", []),
        ] as [(String, [Int])])
    func `is found inside runs, and words by their beginning`(_ query: String, _ expected: [Int]) {
        #expect(found(query) == expected)
    }

    @Test(arguments: ["", " ", "\"\"", "!?-", "👍", "\"", "* OR NEAR(", "\u{301}"])
    func `is nothing where there is no letter`(_ text: String) {
        if text.contains("OR") {
            #expect(SearchQuery(text)?.phrases.count == 2)
        } else {
            #expect(SearchQuery(text) == nil)
        }
    }

    @Test func `is told apart from a text`() {
        #expect(SearchQuery((0..<32).map { "w\($0)" }.joined(separator: " ")) != nil)
        #expect(SearchQuery((0..<33).map { "w\($0)" }.joined(separator: " ")) == nil)
    }

    @Test(
        arguments: [
            ("회의", "다음 회의록과 회의", [3..<5, 8..<10]),
            ("cafe", "Un cafe\u{301} noir", [3..<8]),
            ("aa", "a aa aab", [2..<4, 5..<7]),
            ("ll \"l\"", "l ll", [0..<1, 2..<4]),
            ("\"red fish\"", "one RED — fish", [4..<14]),
            ("会議 議の", "会議の", [0..<3]),
        ] as [(String, String, [Range<Int>])])
    func `is shown where it stands, in scalars`(
        _ query: String, _ text: String, _ expected: [Range<Int>]
    ) throws {
        let query = try #require(SearchQuery(query))
        #expect(query.matches(in: SearchText(text)) == expected)
    }

    @Test func `is told at 64 places at most`() throws {
        let query = try #require(SearchQuery("가"))
        let text = SearchText(String(repeating: "가 ", count: 1_000))
        #expect(query.matches(in: text)?.count == 64)
    }

    @Test(arguments: [
        ("hello", "text : \"hello\" *"), ("\"hello\"", "text : \"hello\""),
        ("회의록", "pairs : \"회의 의록\""), ("회", "pairs : \"회\" *"),
        ("a-b 회의", "text : \"a b\" AND pairs : \"회의\""),
        ("a회b", "text : \"a\" AND pairs : \"회\" * AND text : \"b\" *"),
    ])
    func `is asked of the index in its own words`(_ query: String, _ expected: String) throws {
        #expect(try #require(SearchQuery(query)).expression(tags: []) == expected)
    }

    @Test func `is narrowed down by tags`() throws {
        let query = try #require(SearchQuery("\"x\""))
        #expect(
            query.expression(tags: [["d1", "d2"], ["link"]])
                == "text : \"x\" AND tags : (\"d1\" OR \"d2\") AND tags : (\"link\")")
    }

    // MARK: Where a list goes on

    @Test(arguments: [
        SearchCursor.heads(0), .heads(17), .messages(before: .init(time: 1, arrival: 2)),
        .messages(before: .init(time: SearchPosition.timeMax, arrival: .max)),
    ])
    func `goes on where its cursor says`(_ cursor: SearchCursor) {
        #expect(SearchCursor(cursor.text) == cursor)
    }

    @Test(arguments: ["", "n", "n-1", "nx", "s_", "s_0000", "x12", "n99999999999999999999"])
    func `goes on nowhere for any other text`(_ text: String) {
        #expect(SearchCursor(text) == nil)
    }

    // MARK: What is left to do

    @Test func `is looked at again after a crash`() {
        var todo = SearchTodo()
        #expect(SearchTodo(stored: todo.bytes) == todo)
        todo.again = [.init(time: 5, arrival: 6), .init(time: 0, arrival: 1)]
        todo.erased = [9]
        todo.from = 3
        todo.isAll = true
        #expect(SearchTodo(stored: todo.bytes) == todo)
        #expect(SearchTodo(stored: nil).isEmpty)
        #expect(SearchTodo(stored: [1, 2, 3]).isEmpty)
    }
}
