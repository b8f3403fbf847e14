import Foundation
import Testing

/// Published vectors, read from the shared data folder, and hex.
enum CryptoVectors {
    /// The folder named by `WSX_SHARED`, or `../shared` beside the package.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["WSX_SHARED"] {
            return URL(fileURLWithPath: path)
        }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("../shared")
    }()

    /// Whether the vectors are there. Says loudly if not.
    static let areThere: Bool = {
        let path = folder.appendingPathComponent("data/vectors").path
        if FileManager.default.fileExists(atPath: path) { return true }
        print("SKIPPED: no published crypto vectors in \(path); set WSX_SHARED to find them")
        return false
    }()

    /// A JSON file of the vectors folder.
    static func json(_ path: String) throws -> Any {
        let file = folder.appendingPathComponent("data/vectors").appendingPathComponent(path)
        return try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    }

    /// Every test of a Wycheproof file, each with its group.
    static func wycheproof(_ name: String) throws -> [(group: Object, test: Object)] {
        let file = Object(try json("wycheproof/\(name)_test.json"))
        return file.objects("testGroups").flatMap { group in
            group.objects("tests").map { (group, $0) }
        }
    }

    /// A JSON object whose text fields are often hex.
    struct Object {
        let fields: [String: Any]

        init(_ value: Any) { fields = value as? [String: Any] ?? [:] }

        func objects(_ name: String) -> [Object] {
            (fields[name] as? [Any] ?? []).map(Object.init)
        }

        func object(_ name: String) -> Object { Object(fields[name] ?? [:]) }
        func text(_ name: String) -> String { fields[name] as? String ?? "" }
        func number(_ name: String) -> Int { fields[name] as? Int ?? -1 }
        func bytes(_ name: String) -> [UInt8] { hex(text(name)) }
        func has(_ name: String) -> Bool { fields[name] != nil }
    }

    /// The bytes of a hex text, spaces ignored.
    static func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Prints how long one run of `body` takes on average. Asserts nothing.
    static func printTime(_ what: String, runs: Int, bytes: Int, _ body: () -> Void) {
        body()
        let elapsed = ContinuousClock().measure { for _ in 0..<runs { body() } }
        let seconds = elapsed / .seconds(1) / Double(runs)
        let speed = Double(bytes) / seconds / 1e6
        print(String(format: "TIME %@: %.3f µs, %.0f MB/s", what, seconds * 1e6, speed))
    }
}

extension [UInt8] {
    /// These bytes with one bit turned over.
    func flippingBit(_ bit: Int) -> [UInt8] {
        var bytes = self
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
    }
}
