import Foundation
import Glibc
import Testing
import WorkspaceTestKit

/// `scripts/test`, which `make test` runs, sets the time limit of every suite in one place, so that
/// no suite has to.
struct `The run of all tests` {
    /// What `scripts/test` makes of a program that plays `swift test`.
    private func run(_ program: String, limit: Int = 600) throws -> TemporaryNode.Outcome {
        let folder = try #require(mkdtemp(strdup("/tmp/wsx-XXXXXX")).map { String(cString: $0) })
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let swift = folder + "/swift"
        try "#!/bin/sh\n\(program)".write(toFile: swift, atomically: true, encoding: .utf8)
        chmod(swift, 0o755)
        let process = Process()
        process.executableURL = SourceTree.root.appendingPathComponent("scripts/test")
        process.environment = [
            "PATH": "/usr/bin:/bin", "TMPDIR": folder, "SWIFT": swift,
            "WSX_TEST_LIMIT": "\(limit)", "FOLDER": folder,
        ]
        let outcome = TemporaryNode.finish(process)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(left.sorted().filter { $0 != "swift" && $0 != "pid" } == [])
        return outcome
    }

    private static let begun = """
        echo '◇ Test first() started.'
        echo '✔ Test first() passed after 0.1 seconds.'
        echo '◇ Test "the second (N02)" started.'
        echo '◇ Test "a third" started.'
        echo '◇ Test case passing 1 argument seed → 1 (Swift.UInt64) to "a third" started.'
        echo '✔ Test "a third" with 20 test cases passed after 0.3 seconds.'
        echo '◇ Test `a fourth`() started.'
        echo '✘ Test `a fourth`() failed after 0.3 seconds with 1 issue.'

        """

    /// Without this the whole run would stand still for as long as one test does.
    @Test func `ends when nothing ends any more, names what hangs, and leaves no process`() throws {
        let outcome = try run(
            Self.begun + "echo \"pid $$.\"\nexec tail -f /dev/null", limit: 1)
        #expect(outcome.status == 124)
        let told = outcome.output.components(separatedBy: "=== nothing was said for 1 s")
        #expect(told.count == 2)
        let lines = told.last?.components(separatedBy: "\n").dropFirst().filter { !$0.isEmpty }
        #expect(lines == ["Test \"the second (N02)\""])
        let pid = try #require(outcome.output.firstMatch(of: /pid (\d+)\./))
        let number = try #require(Int32(pid.1))
        #expect(eventually { kill(number, 0) != 0 })
    }

    @Test func `ends as what it runs does`() throws {
        let good = try run(Self.begun + "echo '━ Test run with 4 tests in 1 suite passed'")
        #expect(good.status == 0)
        #expect(!good.output.contains("==="))
        let bad = try run("echo '✘ Test first() recorded an issue at A.swift: no'\nexit 3")
        #expect(bad.status == 3)
        #expect(bad.output.components(separatedBy: "recorded an issue").count == 4)
    }

    /// A build alone must pass, too: the test runner may have found no tests.
    @Test(arguments: ["", "echo '━ Test run with 0 tests in 0 suites passed'"])
    func `fails where no test was run`(said: String) throws {
        let outcome = try run("echo 'Build complete!'\n" + said)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("=== no test was run"))
    }
}
