import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The process that checks tokens, as a real one: the program under its hidden word, or something else in
/// its place.
@Suite(.serialized) struct `The process that checks tokens` {
    /// A runner with its driver, stepped by the test.
    private final class World {
        let driver: NodeDriver
        let runner: TokenRunner
        /// What was printed, by number; `nil` for nothing that counts.
        var answers: [UInt64: [UInt8]?] = [:]

        init(_ program: String?) throws {
            driver = try NodeDriver()
            runner = TokenRunner(driver: driver, program: program)
        }

        deinit { runner.close() }

        func take() {
            for case .tokenChecked(let number, let verdict) in runner.takeInputs() {
                answers[number] = .some(verdict)
            }
        }

        /// Waits for processes until so many have answered.
        func run(until count: Int) throws {
            let end = MonotonicClock.milliseconds() + patienceMilliseconds
            take()
            while answers.count < count {
                try #require(MonotonicClock.milliseconds() < end, "not within the time")
                driver.timers.set(.next, deadline: MonotonicClock.milliseconds() + 1_000)
                for ready in try driver.gather().ready { _ = runner.handle(ready, now: 0) }
                take()
            }
        }

        func text(_ number: UInt64) -> String? {
            (answers[number] ?? nil).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private func vectors() throws -> TokenVectors { try TokenVectors.all.get() }

    @Test func `takes what is good, and refuses by name what is forged`() throws {
        try withTemporaryFolder { root in
            let file = root + "/keys.json"
            let vectors = try vectors()
            try Data(vectors.keyFile()).write(to: URL(fileURLWithPath: file))
            let tokens =
                TokenVectors.tokens("good").prefix(3)
                + TokenVectors.tokens("bad").filter {
                    [.algorithm, .duplicate, .deep, .signature].contains($0.fault)
                }
            let world = try World(TemporaryNode.program)
            for (number, token) in tokens.enumerated() {
                let question = TokenQuestion(token.text, vectors.wanted, keys: file)
                world.runner.check(UInt64(number), question.line, now: 0)
                try world.run(until: number + 1)
            }
            for (number, token) in tokens.enumerated() {
                let verdict = TokenVerdict(line: world.answers[UInt64(number)] ?? nil)
                switch (token.fault, verdict) {
                case (nil, .account): break
                case (let fault?, .failure(.refused(let found))):
                    #expect(fault == found, "\(token.name)")
                default: Issue.record("\(token.name): \(verdict)")
                }
            }
        }
    }

    @Test func `reads regular files of keys alone`() throws {
        try withTemporaryFolder { root in
            let pipe = root + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let large = root + "/large"
            try Data(repeating: 0x20, count: Limits.tokenKeySetBytesMax + 1)
                .write(to: URL(fileURLWithPath: large))
            let world = try World(TemporaryNode.program)
            let paths = [pipe, large, root, "/dev/zero", root + "/none", "keys.json", ""]
            for (number, path) in paths.enumerated() {
                let question = TokenQuestion("a.b.c", try vectors().wanted, keys: path)
                world.runner.check(UInt64(number), question.line, now: 0)
                try world.run(until: number + 1)
                #expect(world.text(UInt64(number)) == "{\"unchecked\":\"no_keys\"}\n", "\(path)")
            }
        }
    }

    @Test func `has neither descriptors nor variables of the node`() throws {
        try withTemporaryFolder { root in
            // To env this path would be a variable.
            let script = root + "/a=b c/check"
            try FileManager.default.createDirectory(
                atPath: root + "/a=b c", withIntermediateDirectories: false)
            try """
            #!/bin/sh
            printf '%s ' "$#" "$1" "$HOME" "$WSX_PROGRAM" "$PATH_OF_TESTS"
            for file in /proc/$$/fd/*; do printf '%s ' "${file##*/}"; done
            wc -c
            """.write(toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: script)
            setenv("PATH_OF_TESTS", "canary", 1)
            let world = try World(script)
            world.runner.check(7, Array("secret token".utf8), now: 0)
            try world.run(until: 1)
            let words = try #require(world.text(7)).split(whereSeparator: \.isWhitespace)
            // One argument, the hidden word. No variable. A shell holds its script, and the folder it looks at.
            #expect(words.prefix(2).map(String.init) == ["1", TokenChild.word])
            #expect(words.last == "12")
            #expect(
                Set(words.dropFirst(2).dropLast().map(String.init)).isSubset(of: [
                    "0", "1", "2", "3", "10", "255",
                ]))
            #expect(world.text(7)?.contains("secret") == false)
        }
    }

    @Test func `opens, starts and takes nothing more once it is confined`() async {
        await #expect(processExitsWith: .success) {
            typealias Fork = @convention(c) () -> Int32
            let fork = dlsym(nil, "fork").map { unsafeBitCast($0, to: Fork.self) }
            func maps(_ count: Int) -> Bool {
                let start = mmap(
                    nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                guard UInt(bitPattern: start) != .max else { return false }
                munmap(start, count)
                return true
            }
            // It could before: what follows is no want of the machine.
            guard let fork, open("/dev/null", O_RDONLY) >= 0, maps(1 << 30) else { _exit(10) }
            // Root is held to no number of processes.
            if geteuid() == 0 { _ = setuid(65_534) }
            guard TokenChild.confine() else { _exit(11) }
            guard open("/dev/null", O_RDONLY) == -1, errno == EMFILE else { _exit(12) }
            guard socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) == -1, errno == EMFILE else {
                _exit(13)
            }
            guard !maps(1 << 30), errno == ENOMEM else { _exit(14) }
            if geteuid() != 0 {
                let process = fork()
                if process == 0 { _exit(0) }
                guard process == -1, errno == EAGAIN else { _exit(15) }
            }
            _exit(0)
        }
    }

    @Test func `is killed when its time is over, and says nothing then`() throws {
        try withTemporaryFolder { root in
            let script = root + "/check"
            try "#!/bin/sh\nsleep 1000\n".write(
                toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: script)
            let world = try World(script)
            world.runner.check(1, [], now: 0)
            #expect(world.runner.nextDeadline == Limits.receiptCheckMilliseconds)
            world.runner.passTime(now: Limits.receiptCheckMilliseconds)
            try world.run(until: 1)
            #expect(world.text(1) == nil)
        }
    }

    @Test func `is killed by a lock, and so are the tokens that wait for one`() throws {
        try withTemporaryFolder { root in
            let script = root + "/check"
            try "#!/bin/sh\nread number\necho $$ > \(root)/$number\nsleep 1000\n".write(
                toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: script)
            func process(_ number: UInt64) -> Int32? {
                let text = try? String(contentsOfFile: "\(root)/\(number)", encoding: .utf8)
                return text.flatMap { Int32($0.filter(\.isNumber)) }
            }
            let world = try World(script)
            let count = UInt64(Limits.receiptProcessesMax) + 2
            for number in 1...count {
                world.runner.check(number, Array("\(number)\n".utf8), now: 0)
            }
            let held = 1...UInt64(Limits.receiptProcessesMax)
            #expect(eventually { held.allSatisfy { process($0) != nil } })
            world.runner.forget()
            // Of each the core hears once, since it waits for them where the keys stay.
            try world.run(until: Int(count))
            #expect((1...count).allSatisfy { world.text($0) == nil })
            #expect(held.compactMap(process).allSatisfy { kill($0, 0) != 0 })
            #expect(process(count) == nil && process(count - 1) == nil)
            #expect(world.runner.nextDeadline == nil && !world.runner.hasInputs)
            // An unlocked node checks again.
            world.runner.check(count + 1, Array("\(count + 1)\n".utf8), now: 0)
            #expect(eventually { process(count + 1) != nil })
        }
    }

    @Test func `is missed where there is no program`() throws {
        let world = try World(nil)
        world.runner.check(1, [], now: 0)
        #expect(world.runner.hasInputs)
        try world.run(until: 1)
        #expect(world.text(1) == nil)
        let gone = try World("/nowhere/wsx-node")
        gone.runner.check(1, [], now: 0)
        try gone.run(until: 1)
        #expect(gone.text(1) == nil)
    }

    @Test func `is this program`() throws {
        let program = try #require(TokenChild.program)
        #expect(FileManager.default.isExecutableFile(atPath: program))
    }
}
