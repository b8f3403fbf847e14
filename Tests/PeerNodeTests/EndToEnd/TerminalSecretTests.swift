import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    struct `A passphrase on a terminal` {
        /// A pair of terminal ends: ours, and the one that the program gets.
        private func terminal() throws -> (ours: FileHandle, theirs: FileHandle) {
            // TIOCSPTLCK and TIOCGPTN, which the Glibc module lacks as it lacks posix_openpt.
            let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
            let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (isLocked, number): (Int32, UInt32) = (0, 0)
            let isReady =
                ioctl(master, unlock, &isLocked) == 0
                && ioctl(master, getNumber, &number) == 0
            try #require(master >= 0 && isReady)
            let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            try #require(slave >= 0)
            return (
                FileHandle(fileDescriptor: master, closeOnDealloc: true),
                FileHandle(fileDescriptor: slave, closeOnDealloc: true)
            )
        }

        /// Reads until `words` were shown so often, or nothing comes for a while.
        private func read(
            _ terminal: FileHandle, until words: String, times: Int = 1, into shown: inout String
        ) -> Bool {
            while shown.components(separatedBy: words).count <= times {
                var waiting = pollfd(
                    fd: terminal.fileDescriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, LongestWait.milliseconds) > 0 else { return false }
                let part = terminal.availableData
                guard !part.isEmpty else { return false }
                shown += String(decoding: part, as: UTF8.self)
            }
            return true
        }

        /// The program, as somebody starts it at a terminal.
        private func start(
            _ words: [String], of node: TemporaryNode, on terminal: FileHandle
        ) throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: TemporaryNode.program)
            process.arguments = ["--home", node.home] + words
            process.environment = ["HOME": node.home, "PATH": "/usr/bin:/bin", "TERM": "dumb"]
            process.standardInput = terminal
            process.standardOutput = terminal
            process.standardError = terminal
            try process.run()
            return process
        }

        @Test func `is asked for, is never shown, and leaves the echo as it was`() throws {
            let (node, _) = try EndToEnd.`A home with a passphrase`.sealed()
            node.run("session", "lock")
            let (ours, theirs) = try terminal()
            let process = try start(["session", "unlock"], of: node, on: theirs)
            var shown = ""
            #expect(read(ours, until: "Passphrase: ", into: &shown), "\(shown)")
            var flags = termios()
            tcgetattr(theirs.fileDescriptor, &flags)
            #expect(flags.c_lflag & tcflag_t(ECHO) == 0)
            let typed = EndToEnd.`A home with a passphrase`.passphrase + "\n"
            try ours.write(contentsOf: Data(typed.utf8))
            #expect(read(ours, until: "open", into: &shown), "\(shown)")
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(!shown.contains(EndToEnd.`A home with a passphrase`.passphrase))
            tcgetattr(theirs.fileDescriptor, &flags)
            #expect(flags.c_lflag & tcflag_t(ECHO) != 0)
            #expect(node.run("session", "status", "--json").object["state"] == "open")
        }

        /// Who has a sealed backup before them has its passphrase in the head.
        @Test func `is asked for a sealed backup, before it is looked at or restored`() throws {
            let mina = TemporaryNode()
            #expect(mina.up(name: "Mina", workspace: "acme").status == 0)
            let file = mina.home + "-sealed.bak"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let made = mina.run(
                "backup", "create", "-o", file, "--passphrase", "-", input: "correct horse\n")
            try #require(made.status == 0, "\(made.errors)")
            let fresh = TemporaryNode()
            for (words, node, answer, status) in [
                ("verify", mina, "correct horse\n", 0), ("verify", mina, "wrong\n", 4),
                ("restore", fresh, "correct horse\n", 0),
            ] {
                let (ours, theirs) = try terminal()
                let process = try start(["backup", words, file], of: node, on: theirs)
                var shown = ""
                #expect(read(ours, until: "Passphrase of the backup: ", into: &shown), "\(shown)")
                try ours.write(contentsOf: Data(answer.utf8))
                process.waitUntilExit()
                #expect(process.terminationStatus == Int32(status), "\(words) \(answer)")
            }
        }
    }
}
