import Testing
import WorkspaceModel

@testable import PeerNode

struct `A range of a file over HTTP` {
    /// What a field asks for: where it begins and how much it is; -1 for all up to the end.
    static let ranges: [(String, Int64, Int64)] = [
        ("bytes=0-0", 0, 1), ("bytes=0-", 0, -1), ("bytes=5-9", 5, 5), ("bytes=-7", -7, -1),
        (" Bytes = 5-9 ", 5, 5), ("bytes=0005-0009", 5, 5),
        // More than any file has is all there is of it.
        ("bytes=3-99999999999999999999999", 3, Limits.filePositionMax - 2),
        ("bytes=0-99999999999999999999999", 0, Limits.filePositionMax),
        ("bytes=99999999999999999999999-", Limits.filePositionMax, -1),
        ("bytes=-99999999999999999999999", -Limits.filePositionMax, -1),
        // The last 0 bytes: no file has them.
        ("bytes=-0", Limits.filePositionMax, -1),
    ]

    @Test(arguments: ranges)
    func `is read as it is meant`(field: String, offset: Int64, length: Int64) throws {
        let range = try #require(HTTPRange(field), "\(field)")
        #expect(range.offset == offset)
        #expect((range.length ?? -1) == length)
    }

    /// Who asks for what is no range, or for several, gets the whole file.
    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=5", "bytes=9-5", "bytes=a-b", "bytes=1-2,4-5",
        "bytes=0-0,-1", "items=0-1", "bytes 0-1", "bytes=+1-2", "bytes=1--2", "bytes=1 -2",
        "bytes=0x1-2", "bytes=１-２",
    ])
    func `is none where it makes no sense`(field: String) {
        #expect(HTTPRange(field) == nil)
    }

    /// The range in a file of this many bytes; `nil` if the file has none of it.
    static let places: [(Int64, Int64?, UInt64, Range<UInt64>?)] = [
        (0, nil, 10, 0..<10), (0, nil, 0, 0..<0), (0, 1, 0, nil), (9, nil, 10, 9..<10),
        (10, nil, 10, nil), (11, 5, 10, nil), (4, 100, 10, 4..<10), (4, 2, 10, 4..<6),
        (-3, nil, 10, 7..<10), (-30, nil, 10, 0..<10), (-3, 2, 10, 7..<9), (-1, nil, 0, nil),
        (Limits.filePositionMax, nil, 1 << 60, 9_007_199_254_740_991..<(1 << 60)),
        (0, Limits.filePositionMax, 10, 0..<10), (0, 0, 10, nil),
        (Int64.min, Int64.max, 10, 0..<10),
    ]

    @Test(arguments: places)
    func `lies in the file, or nowhere`(
        offset: Int64, length: Int64?, size: UInt64, expected: Range<UInt64>?
    ) {
        let request = ReadRequest(file: "b_a", offset: offset, length: length)
        #expect(request.range(of: size) == expected)
    }

    @Test func `is asked for under a name that never means other bytes`() {
        let tag = HTTPEntityTag(id: "b_a")
        #expect(tag.text == "\"b_a\"")
        for field in ["\"b_a\"", "*", "\"x\", \"b_a\"", "W/\"b_a\"", "\"x\",\"b_a\" "] {
            #expect(tag.isNamed(in: field), "\(field)")
        }
        for field in ["", "b_a", "\"b_ab\"", "\"b_\"", "W/*a"] {
            #expect(!tag.isNamed(in: field), "\(field)")
        }
    }

    static let names: [(String, String)] = [
        ("plan.pdf", "attachment; filename=\"plan.pdf\"; filename*=UTF-8''plan.pdf"),
        ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
        ("é.txt", "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%A9.txt"),
        ("a\"b\\c%", "attachment; filename=\"a_b_c_\"; filename*=UTF-8''a%22b%5Cc%25"),
        ("a\r\nX: y", "attachment; filename=\"a__X: y\"; filename*=UTF-8''a%0D%0AX%3A%20y"),
        ("../x", "attachment; filename=\".._x\"; filename*=UTF-8''..%2Fx"),
    ]

    @Test(arguments: names)
    func `has a name that cannot end its line`(name: String, field: String) {
        #expect(HTTPFileReply.disposition(name) == field)
    }
}
