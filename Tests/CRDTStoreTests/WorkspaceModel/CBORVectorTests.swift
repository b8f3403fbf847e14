import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `CBOR and the published vectors` {
    struct File: Decodable {
        struct Case: Decodable {
            let hex: String
            let diag: String?
            let why: String?
            let deterministic: Bool?
        }
        let cases: [Case]
    }

    static let accepted = "cbor/rfc8949-appendix-a.json"
    static let broken = "cbor/rfc8949-appendix-f-not-well-formed.json"
    static let strict = "cbor/strict-profile-reject.json"

    /// Whether RFC 8949's diagnostic notation names something that the profile has: no sign, no
    /// point, no exponent, no tag, no simple value, no key that is not a number.
    static func isInProfile(_ diagnostic: String) -> Bool {
        if diagnostic.hasPrefix("\"") || diagnostic.hasPrefix("h'") { return true }
        let tokens = diagnostic.split { "[]{}, ".contains($0) }
        return tokens.allSatisfy { token in
            if token.last == ":" { return UInt64(token.dropLast()) != nil }
            let isString = token.hasPrefix("\"") || token.hasPrefix("h'")
            return isString || UInt64(token) != nil || ["true", "false", "null"].contains(token)
        }
    }

    @Test(.vectors(accepted))
    func `takes what RFC 8949 shows of the profile, and writes the same bytes`() throws {
        var inside = 0
        var outside: [String] = []
        for item in try Vectors.json(Self.accepted, as: File.self).cases {
            let bytes = try #require(Vectors.bytes(hex: item.hex))
            let diagnostic = item.diag ?? ""
            if item.deterministic == true, Self.isInProfile(diagnostic) {
                inside += 1
                #expect(throws: Never.self, "\(diagnostic)") { try CBORValidation.check(bytes) }
                #expect(try CBORTree(bytes).bytes == bytes, "\(diagnostic)")
                Self.expectAllTruncationsRefused(bytes)
            } else {
                outside.append(diagnostic)
                #expect(throws: Malformed.self, "\(diagnostic)") { try CBORValidation.check(bytes) }
                #expect(throws: Malformed.self, "\(diagnostic)") { try CBORTree(bytes) }
            }
        }
        print("CBOR: \(inside) of RFC 8949's examples are in the profile, \(outside.count) are not")
        print("CBOR: outside: \(outside.joined(separator: " "))")
        #expect(inside == 29)
        #expect(inside + outside.count == 81)
    }

    static func expectAllTruncationsRefused(_ bytes: [UInt8]) {
        for count in 0..<bytes.count {
            let short = [UInt8](bytes[..<count])
            #expect(throws: Malformed.self) { try CBORValidation.check(short) }
            #expect(throws: Malformed.self) { try CBORTree(short) }
            // The same within a larger array: the bytes after the range must not be read.
            #expect(throws: Malformed.self) {
                var decoder = CBORDecoder(bytes, in: 0..<count)
                try decoder.skipItem()
                try decoder.finish()
            }
        }
    }

    @Test(.vectors(broken, strict), arguments: [(broken, 94), (strict, 98)])
    func `refuses every broken or ambiguous item`(path: String, count: Int) throws {
        let cases = try Vectors.json(path, as: File.self).cases
        #expect(cases.count == count)
        for item in cases {
            let bytes = try #require(Vectors.bytes(hex: item.hex))
            let why = "\(item.hex.prefix(60)): \(item.why ?? "")"
            #expect(throws: Malformed.self, "\(why)") { try CBORValidation.check(bytes) }
            #expect(throws: Malformed.self, "\(why)") { try CBORTree(bytes) }
        }
    }
}
