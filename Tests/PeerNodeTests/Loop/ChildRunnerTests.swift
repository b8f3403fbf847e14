import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Commands that are run for notices, as real processes.
@Suite(.serialized) struct `The command for a notice` {
    /// A runner with its driver, stepped by the test.
    private final class World {
        let driver: NodeDriver
        let runner: ChildRunner
        var outcomes: [NoticeOutcome] = []
        var inputs: [NodeInput] = []

        init() throws {
            driver = try NodeDriver()
            runner = ChildRunner(driver: driver)
        }

        deinit { runner.close() }

        func show(_ command: String, _ text: String = "", now: UInt64 = 0) {
            runner.show(
                Notice(
                    command: command, input: Array("\(text)\n".utf8),
                    variables: [.init(name: "WSX_TEXT", value: text)]), now: now)
        }

        func take() {
            for input in runner.takeInputs() {
                inputs.append(input)
                if case .noticed(let outcome) = input { outcomes.append(outcome) }
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
    }

    private func read(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    @Test func `finds the message on its input and in its environment, and evaluates none of it`()
        throws
    {
        try withTemporaryFolder { root in
            let world = try World()
            let text = "$(touch \(root)/never) `exit 9`; \"quoted\" 'too'"
            world.show("cat > \(root)/in; printf %s \"$WSX_TEXT\" > \(root)/env", text)
            try world.run { world.outcomes.count == 1 }
            #expect(world.outcomes == [.ended(status: 0)])
            #expect(read(root + "/in") == text + "\n" && read(root + "/env") == text)
            #expect(!FileManager.default.fileExists(atPath: root + "/never"))
        }
    }

    @Test func `tells how it ended`() throws {
        let world = try World()
        for command in ["exit 3", "kill -9 $$", "exit 0", "no-such-command"] { world.show(command) }
        try world.run { world.outcomes.count == 4 }
        #expect(world.outcomes == [3, 137, 0, 127].map { .ended(status: $0) })
    }

    @Test func `runs alone, the others in order behind it`() throws {
        try withTemporaryFolder { root in
            let world = try World()
            for number in 1...5 {
                // Two at a time would find the folder there.
                world.show(
                    "mkdir \(root)/one || exit 9; echo \(number) >> \(root)/log; rmdir \(root)/one")
            }
            #expect(world.runner.waitingCount == 4)
            try world.run { world.outcomes.count == 5 }
            #expect(world.outcomes.allSatisfy { $0 == .ended(status: 0) })
            #expect(read(root + "/log") == "1\n2\n3\n4\n5\n")
        }
    }

    @Test func `that hangs lets so many wait, drops the oldest, and is killed with all it started`()
        throws
    {
        try withTemporaryFolder { root in
            let world = try World()
            world.show("sleep 1000 & echo $! > \(root)/child; wait", now: 5)
            let process = try #require(world.runner.process)
            try world.run { !read(root + "/child").isEmpty }
            for number in 0..<Limits.noticesWaitingMax + 3 { world.show("exit \(number % 100)") }
            world.take()
            #expect(world.outcomes == [.dropped, .dropped, .dropped])
            #expect(world.runner.waitingCount == Limits.noticesWaitingMax)
            #expect(world.runner.nextDeadline == 5 + Limits.noticeMilliseconds)
            world.runner.passTime(now: 4 + Limits.noticeMilliseconds)
            #expect(kill(process, 0) == 0)
            world.runner.passTime(now: 5 + Limits.noticeMilliseconds)
            #expect(world.runner.nextDeadline == nil)
            try world.run { world.outcomes.count == 4 + Limits.noticesWaitingMax }
            #expect(world.outcomes[3] == .ended(status: 137))
            // The first three were dropped.
            #expect(world.outcomes[4] == .ended(status: 3))
            // It was waited for, so the number is nobody's, or at least no child's of ours.
            #expect(waitpid(process, nil, WNOHANG) == -1)
            let child = try #require(Int32(read(root + "/child").filter(\.isNumber)))
            #expect(eventuallyGone(child))
        }
    }

    /// A process whose parent is gone is reaped by the first process, when that gets to it.
    private func eventuallyGone(_ process: Int32) -> Bool {
        eventually {
            let state = read("/proc/\(process)/stat").split(separator: ")").last?
                .first { $0 != " " }
            return state == nil || state == "Z"
        }
    }

    @Test func `is killed at the end, and nothing starts any more`() throws {
        let world = try World()
        world.show("sleep 1000")
        world.show("exit 0")
        let process = try #require(world.runner.process)
        world.runner.close()
        #expect(waitpid(process, nil, WNOHANG) == -1)
        world.show("exit 0")
        #expect(world.runner.process == nil && world.runner.waitingCount == 0)
        #expect(world.runner.nextDeadline == nil && !world.runner.hasInputs)
    }

    @Test func `has no descriptor of ours, writes nowhere, and leads a group of its own`() throws {
        try withTemporaryFolder { root in
            let leaky = try makePipe()
            let world = try World()
            world.show(
                """
                ls -l /proc/$$/fd > \(root)/fds
                cut -d' ' -f5,6 /proc/$$/stat > \(root)/group; echo $$ > \(root)/pid
                """)
            try world.run { world.outcomes.count == 1 }
            // Where each leads. The shell keeps what it wrote to before in a descriptor above 9.
            var targets: Set<String> = []
            for line in read(root + "/fds").split(separator: "\n") {
                let words: [Substring] = line.split(separator: " ")
                guard let arrow = words.firstIndex(of: "->") else { continue }
                targets.insert(words[(arrow + 1)...].joined(separator: " "))
            }
            let input = "/memfd:wsx-input (deleted)"
            #expect(targets == [input, "/dev/null", root + "/fds"])
            let pid = read(root + "/pid").filter(\.isNumber)
            #expect(read(root + "/group") == "\(pid) \(pid)\n")
            withExtendedLifetime(leaky) {}
        }
    }

    @Test func `forgets those that wait`() throws {
        let world = try World()
        world.show("exit 0")
        for _ in 0..<3 { world.show("exit 1") }
        world.runner.forgetWaiting()
        try world.run { world.runner.process == nil }
        #expect(world.outcomes == [.ended(status: 0)])
    }

    @Test func `is begun and reaped by the loop, which then sleeps`() throws {
        try withTemporaryFolder { root in
            let world = try TestLoop(root)
            world.host.onInput = { input in
                guard case .call(let call, _, _, _) = input else { return [] }
                return [
                    .notify(Notice(command: "exit 4", input: [], variables: [])),
                    .answer(call, .success([:])),
                ]
            }
            let client = try world.client()
            client.send(#"{"jsonrpc":"2.0","id":1,"method":"node.status"}"# + "\n")
            try world.run {
                world.host.inputs.contains {
                    if case .noticed(.ended(status: 4)) = $0 { true } else { false }
                }
            }
        }
    }

    // MARK: Letters

    private func letter(_ number: UInt64, _ command: String, _ text: String = "") -> Letter {
        Letter(
            number: number, command: command, input: Array(text.utf8),
            variables: [.init(name: "WSX_MAIL_TO", value: "bob@example.org")])
    }

    @Test func `sends a letter by its input alone, with no descriptor of ours`() throws {
        try withTemporaryFolder { root in
            let world = try World()
            // The command's arguments, its descriptors and its input.
            let command =
                "tr '\\0' ' ' < /proc/$$/cmdline > \(root)/words; "
                + "ls /proc/$$/fd > \(root)/fds; cat > \(root)/letter; "
                + "printf %s \"$WSX_MAIL_TO\" > \(root)/to"
            world.runner.send(letter(7, command, "code 123456\n"), now: 0)
            try world.run { !world.inputs.isEmpty }
            guard case .mailed(7, status: 0)? = world.inputs.first else {
                Issue.record("\(world.inputs)")
                return
            }
            #expect(read(root + "/letter") == "code 123456\n")
            #expect(read(root + "/to") == "bob@example.org")
            #expect(!read(root + "/words").contains("123456"))
            let numbers = read(root + "/fds").split(separator: "\n").compactMap { Int($0) }
            #expect(numbers.allSatisfy { $0 < 3 || $0 == 255 || $0 == 10 }, "\(numbers)")
        }
    }

    @Test func `lets so many letters wait for one that is slow, and gives up the oldest`() throws {
        try withTemporaryFolder { root in
            let world = try TestLoop(root)
            let surplus = UInt64(2)
            let total = 1 + UInt64(Limits.mailsWaitingMax) + surplus
            let slow = "until [ -e \(root)/go ]; do sleep 0.05; done"
            world.host.onInput = { [self] input in
                guard case .call(let call, _, _, _) = input else { return [] }
                let letters = (0..<total).map { letter($0, $0 == 0 ? slow : "exit 3") }
                return letters.map { .mail($0) } + [.answer(call, .success([:]))]
            }
            func mailed() -> [UInt64: Int32?] {
                var found: [UInt64: Int32?] = [:]
                for case .mailed(let number, let status) in world.host.inputs {
                    found[number] = .some(status)
                }
                return found
            }
            let client = try world.client()
            client.call("node.status")
            try world.run { mailed().count == Int(surplus) }
            #expect(mailed() == [1: nil, 2: nil])
            #expect(FileManager.default.createFile(atPath: root + "/go", contents: nil))
            try world.run { mailed().count == Int(total) }
            for number in 0..<total {
                let wanted: Int32? = number == 0 ? 0 : number <= surplus ? nil : 3
                #expect(mailed()[number] == .some(wanted), "\(number)")
            }
        }
    }

    @Test func `gives a mail server a minute, and no more`() throws {
        let world = try World()
        world.runner.send(letter(8, "sleep 1000"), now: 0)
        #expect(world.runner.nextDeadline == Limits.mailMilliseconds)
        world.runner.passTime(now: Limits.mailMilliseconds)
        try world.run { !world.inputs.isEmpty }
        guard case .mailed(8, status: 137)? = world.inputs.first else {
            Issue.record("\(world.inputs)")
            return
        }
    }
}
