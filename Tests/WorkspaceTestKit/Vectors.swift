public import Foundation
public import Testing

/// Published test vectors and other data that are stored beside the package, not in it.
///
/// They are searched in the folder `WSX_SHARED`, else in `../shared` beside the package. A test
/// that needs them has the trait `.vectors("cbor/x.json")`: without the file it is skipped, and the
/// skip names the file.
public enum Vectors {
    /// The folder of shared data.
    public static let shared: URL = {
        if let named = ProcessInfo.processInfo.environment["WSX_SHARED"] {
            return URL(fileURLWithPath: named, isDirectory: true)
        }
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return package.deletingLastPathComponent().appendingPathComponent("shared")
    }()

    /// Where a file of the vectors would be: `Vectors.url("cbor/rfc8949-appendix-a.json")`.
    public static func url(_ path: String) -> URL {
        shared.appendingPathComponent("data/vectors").appendingPathComponent(path)
    }

    /// Whether that file is there.
    public static func has(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: url(path).path)
    }

    /// The contents of a file of the vectors.
    public static func data(_ path: String) throws -> Data {
        try Data(contentsOf: url(path))
    }

    /// A real editing history, which a test names by `editingTrace(name)` in its trait.
    public static func editingTrace(named name: String) throws -> [String: Any] {
        let unpacking = Process()
        unpacking.executableURL = URL(fileURLWithPath: "/bin/gzip")
        unpacking.arguments = ["-dc", url(editingTrace(name)).path]
        let output = Pipe()
        unpacking.standardOutput = output
        try unpacking.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        unpacking.waitUntilExit()
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// Where it is, from the folder of vectors.
    public static func editingTrace(_ name: String) -> String {
        "../editing-traces/\(name).json.gz"
    }

    /// A JSON file of the vectors as the given type.
    public static func json<Value: Decodable>(_ path: String, as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: data(path))
    }

    /// The bytes that an even number of hexadecimal digits spells; `nil` for anything else.
    public static func bytes(hex: String) -> [UInt8]? {
        let digits = hex.utf8.map { UInt8(ascii: "0") <= $0 ? Character(Unicode.Scalar($0)) : "?" }
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test unless all of `paths` are among the vectors.
    public static func vectors(_ paths: String...) -> Self {
        let missing = paths.filter { !Vectors.has($0) }
        return .enabled(
            if: missing.isEmpty,
            "SKIPPED: no \(missing.joined(separator: ", ")) under \(Vectors.url("").path); set WSX_SHARED"
        )
    }
}
