import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Commands that answer questions, as real processes: a payment gateway of a few lines that tells the
/// truth, lies, hangs and floods.
@Suite(.serialized) struct `A command that is asked` {
    /// A runner with its driver, stepped by the test.
    private final class World {
        let driver: NodeDriver
        let runner: ChildRunner
        /// What was printed, by question; `nil` for nothing that counts.
        var answers: [UInt64: [UInt8]?] = [:]
        var shown = 0

        init() throws {
            driver = try NodeDriver()
            runner = ChildRunner(driver: driver)
        }

        deinit { runner.close() }

        func ask(_ question: UInt64, _ command: String, _ text: String = "", now: UInt64 = 0) {
            var notice = Notice(command: command, input: Array("\(text)\n".utf8), variables: [])
            notice.question = question
            runner.show(notice, now: now)
        }

        func take() {
            for case .noticed(let outcome) in runner.takeInputs() {
                switch outcome {
                case .answered(let question, let output): answers[question] = .some(output)
                case .ended, .dropped: shown += 1
                }
            }
        }

        /// Waits for processes until `isDone`.
        func run(until isDone: () -> Bool) throws {
            let end = MonotonicClock.milliseconds() + patienceMilliseconds
            take()
            while !isDone() {
                try #require(MonotonicClock.milliseconds() < end, "not within the time")
                driver.timers.set(.next, deadline: MonotonicClock.milliseconds() + 1_000)
                for ready in try driver.gather().ready { _ = runner.handle(ready, now: 0) }
                take()
            }
        }

        func text(_ question: UInt64) -> String? {
            (answers[question] ?? nil).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test func `reads the question and answers, and evaluates none of it`() throws {
        try withTemporaryFolder { root in
            let world = try World()
            let text = "$(touch \(root)/never) `exit 9` \"quoted\""
            world.ask(7, "cat", text)
            try world.run { world.answers.count == 1 }
            #expect(world.text(7) == text + "\n")
            #expect(!FileManager.default.fileExists(atPath: root + "/never"))
        }
    }

    @Test func `that fails, or is not there, has said nothing`() throws {
        let world = try World()
        let commands = ["echo paid; exit 1", "echo paid; kill -9 $$", "no-such-command", "exit 0"]
        for (number, command) in commands.enumerated() { world.ask(UInt64(number), command) }
        try world.run { world.answers.count == 4 }
        #expect((0..<3).map { world.text($0) } == [nil, nil, nil])
        #expect(world.text(3) == "")
    }

    @Test func `that hangs is killed with all that it started, and others do not wait for it`()
        throws
    {
        try withTemporaryFolder { root in
            let world = try World()
            world.ask(1, "sleep 1000 & echo $! > \(root)/child; echo paid; wait", now: 5)
            world.ask(2, "echo yes", now: 5)
            try world.run { world.answers[2] != nil }
            #expect(world.text(2) == "yes\n")
            func child() -> Int32? {
                Int32(
                    ((try? String(contentsOfFile: root + "/child", encoding: .utf8)) ?? "")
                        .filter(\.isNumber))
            }
            #expect(eventually { child() != nil })
            #expect(world.runner.nextDeadline == 5 + Limits.receiptCheckMilliseconds)
            world.runner.passTime(now: 5 + Limits.receiptCheckMilliseconds)
            try world.run { world.answers[1] != nil }
            #expect(world.text(1) == nil, "what it printed before it hung does not count")
            let process = try #require(child())
            #expect(eventually { kill(process, 0) != 0 || isDefunct(process) })
        }
    }

    private func isDefunct(_ process: Int32) -> Bool {
        let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return stat?.split(separator: ")").last?.first { $0 != " " } == "Z"
    }

    @Test func `that floods costs no memory, and has said nothing`() throws {
        let world = try World()
        world.ask(1, "head -c 5000 /dev/zero")
        world.ask(2, "yes", now: 0)
        try world.run { world.answers[1] != nil }
        #expect(world.text(1) == nil)
        // It waits for a reader until its time is over.
        world.runner.passTime(now: Limits.receiptCheckMilliseconds)
        try world.run { world.answers[2] != nil }
        #expect(world.text(2) == nil)
    }

    @Test func `is asked with few others at once, and the rest are in order`() throws {
        let world = try World()
        for number in 0..<UInt64(10) { world.ask(number, "printf \(number)") }
        try world.run { world.answers.count == 10 }
        #expect((0..<10).map { world.text($0) } == (0..<10).map { "\($0)" })
        // And a notice does not wait for any of them.
        world.ask(20, "sleep 1000")
        world.runner.show(Notice(command: "exit 0", input: [], variables: []), now: 0)
        try world.run { world.shown == 1 }
        world.runner.close()
        #expect(world.runner.nextDeadline == nil)
    }

    @Test func `waits with so many others, and is not asked behind more`() throws {
        try withTemporaryFolder { root in
            let world = try World()
            let total = UInt64(Limits.receiptProcessesMax + Limits.receiptChecksMax)
            let slow = "until [ -e \(root)/go ]; do sleep 0.05; done; echo yes"
            for number in 0..<total { world.ask(number, slow) }
            world.take()
            #expect(world.answers.isEmpty)
            world.ask(total, slow)
            world.take()
            #expect(world.answers == [total: nil])
            #expect(FileManager.default.createFile(atPath: root + "/go", contents: nil))
            try world.run { world.answers.count == Int(total) + 1 }
            for number in 0..<total { #expect(world.text(number) == "yes\n", "\(number)") }
        }
    }

    @Test func `has no descriptor of ours but its answer`() throws {
        let leaky = try makePipe()
        let world = try World()
        world.ask(1, "ls -l /proc/self/fd | grep -c 'pipe:'")
        try world.run { world.answers[1] != nil }
        // Its own standard output goes to grep here, and grep's is the answer.
        #expect(world.text(1) == "1\n")
        withExtendedLifetime(leaky) {}
    }
}
