import Foundation
import FuzzTargets
import Testing

/// The ordinary tests run each file of a fuzzer's corpus once.
struct `The corpus of a fuzzer` {
    private static let folder = SourceTree.root.appendingPathComponent("Tests/corpora")

    private static func files(of name: String) throws -> [URL] {
        let folder = folder.appendingPathComponent(name)
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.fileSizeKey], options: .skipsHiddenFiles
        ).sorted { $0.path < $1.path }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `ends no process and breaks no property`(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        for file in try Self.files(of: name) {
            let bytes = [UInt8](try Data(contentsOf: file))
            do { try target.run(bytes) } catch {
                Issue.record("\(name)/\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test func `is there for each target, and make knows them`() throws {
        let names = FuzzTarget.all.map(\.name)
        #expect(Set(names).count == names.count)
        let makefile = try SourceTree.text("Makefile").replacing("\\\n", with: " ")
        let row = makefile.split(separator: "\n").first { $0.hasPrefix("FUZZERS = ") } ?? ""
        #expect(row.split(separator: " ").dropFirst(2).map(String.init) == names)
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(folders.sorted() == names.sorted())
        for target in FuzzTarget.all {
            #expect(try !Self.files(of: target.name).isEmpty, "\(target.name) has none")
            #expect(target.bytesMax <= 16_384 && target.secondsMax <= 30 && !target.summary.isEmpty)
        }
    }

    @Test func `stays small`() throws {
        var byteCount = 0
        for target in FuzzTarget.all {
            for file in try Self.files(of: target.name) {
                byteCount += try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            }
        }
        #expect(byteCount < 1_000_000, "all corpora together")
    }
}
