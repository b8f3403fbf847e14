import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension AttackedEndToEnd {
    struct `A process in odd surroundings` {
        // MARK: P02

        private func sh(_ script: String, environment: [String: String] = [:]) throws -> Process {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", script]
            shell.environment = environment
            try shell.run()
            return shell
        }

        @Test(arguments: ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
        func `starts and serves without standard descriptors`(_ closing: String) throws {
            let node = TemporaryNode()
            let flags = TemporaryNode.loopback.joined(separator: " ")
            let program = "exec '\(TemporaryNode.program)' --home '\(node.home)'"
            let up = try sh("\(program) up --name Mina --workspace acme \(flags) \(closing)")
            up.waitUntilExit()
            #expect(up.terminationStatus == 0)
            #expect(node.run("send", "general", "one").status == 0)
            #expect(node.run("down").status == 0)

            let daemon = try sh("\(program) daemon run \(flags) \(closing)")
            #expect(eventually { node.run("status", "--check").status == 0 })
            #expect(node.run("send", "general", "two").status == 0)
            #expect(node.texts() == ["one", "two"])
            #expect(node.run("down").status == 0)
            daemon.waitUntilExit()
            #expect(daemon.terminationStatus == 0)
            #expect(node.run("up").status == 0)
            #expect(node.texts() == ["one", "two"], "nothing was written where a file was")
        }

        @Test func `outlives the reader of its log`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("down")
            let log = Pipe()
            let daemon = try node.startForeground(
                environment: ["WSX_NODE_LOG": "debug"], errors: log)
            // It comes line by line, and to its end only if the daemon ends.
            var first = ""
            while !first.contains("net.listening") {
                let part = log.fileHandleForReading.availableData
                try #require(!part.isEmpty, "\(first)")
                first += String(decoding: part, as: UTF8.self)
            }
            try log.fileHandleForReading.close()
            for number in 1...5 {
                #expect(node.run("net", "suspend").status == 0, "which it logs")
                #expect(node.run("net", "resume").status == 0)
                #expect(node.run("send", "general", "m\(number)").status == 0)
            }
            #expect(node.texts().count == 5)
            #expect(daemon.isRunning)
            #expect(node.run("down").status == 0)
            daemon.waitUntilExit()
            #expect(daemon.terminationReason == .exit && daemon.terminationStatus == 0)
        }

        /// What the node runs for its owner begins in another folder, and is told where the node is.
        @Test func `finds its home also from elsewhere`() throws {
            let node = TemporaryNode()
            let name = (node.home as NSString).lastPathComponent
            let flags = TemporaryNode.loopback.joined(separator: " ")
            let daemon = try sh(
                "cd '\(node.folder)' && exec '\(TemporaryNode.program)' --home '\(name)' "
                    + "daemon run \(flags)")
            defer {
                if daemon.isRunning { kill(daemon.processIdentifier, SIGKILL) }
                daemon.waitUntilExit()
            }
            try #require(eventually { node.run("status").status == 0 })
            let status = node.run("status", "--json").object
            #expect(status["home"] == .string(node.home))
            #expect(status["socket"] == .string(node.socket))
            #expect(node.run("down").status == 0)
        }

        // MARK: P03

        private static let places: [[String: String]] = [
            [:], ["HOME": ""], ["LANG": "C", "LC_ALL": "C"],
            ["LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"],
            ["LANG": "ko_KR.UTF-8", "TZ": "Pacific/Apia"], ["LANG": "xx_YY", "TZ": ":no/such"],
            ["LC_ALL": "de_DE.UTF-8", "TZ": "ABC-25:61:61"],
        ]

        @Test func `gives the same bytes in the same order in any locale and zone`() throws {
            let node = TemporaryNode()
            node.up(name: "Işık", workspace: "İstanbul")
            for name in ["izgara", "Äpfel", "apfel", "zebra", "çay"] {
                #expect(node.run("channel", "create", name).status == 0)
            }
            var sent: [String] = []
            for (number, place) in Self.places.enumerated() {
                // The daemon and every command are in that place.
                #expect(node.run("down", environment: place).status == 0)
                #expect(node.run("up", environment: place).status == 0, "\(place)")
                let text = "İ ı I i \(number)"
                #expect(node.run("send", "general", text, environment: place).status == 0)
                sent.append(text)
                // Letters fold in one way only, whatever Turkish says about i.
                let same = node.run("channel", "create", "IZGARA", "--json", environment: place)
                #expect(same.error.kind == "duplicate", "\(place)")
                #expect(node.run("workspace", "use", "İSTANBUL", environment: place).status == 0)
            }
            #expect(node.texts() == sent)
            let questions = [
                ["log", "general", "--json"], ["channel", "list", "--json"],
                ["workspace", "show", "--json"], ["member", "list", "--json"],
                ["rpc", "events.wait", "since=all"], ["help"], ["config", "list"],
            ]
            for words in questions {
                let answers = Self.places.map { node.run(words, environment: $0) }
                #expect(answers.allSatisfy { $0.status == 0 }, "\(words)")
                #expect(Set(answers.map(\.output)).count == 1, "\(words)")
            }
        }

        // MARK: P04

        struct Fault: Sendable, CustomTestStringConvertible {
            let what: String
            let hint: String
            /// What becomes of the key's bytes; `nil` leaves them.
            var bytes: (@Sendable (Data) -> Data)?
            var mode: mode_t = 0o600
            var testDescription: String { what }
        }

        private static let backup = "restore identity/device.key from a backup"
        static let faults = [
            Fault(what: "0644", hint: "chmod 600", mode: 0o644),
            Fault(what: "0640", hint: "chmod 600", mode: 0o640),
            Fault(what: "0602", hint: "chmod 600", mode: 0o602),
            Fault(what: "cut", hint: backup, bytes: { $0.prefix($0.count / 2) }),
            Fault(what: "cut by one", hint: backup, bytes: { $0.dropLast() }),
            Fault(what: "longer", hint: backup, bytes: { $0 + [0] }),
            Fault(what: "empty", hint: backup, bytes: { _ in Data() }),
            Fault(what: "zeros", hint: backup, bytes: { Data(count: $0.count) }),
            Fault(
                what: "one bit", hint: backup,
                bytes: { key in
                    var key = key
                    key[key.count / 2] ^= 1
                    return key
                }),
            Fault(what: "text", hint: backup, bytes: { _ in Data("my key\n".utf8) }),
            Fault(
                what: "huge", hint: "cannot read the identity", bytes: { _ in Data(count: 1 << 20) }
            ),
        ]

        @Test(arguments: faults)
        func `refuses a key that is not safe or not whole, and keeps it`(_ fault: Fault) throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "kept")
            let before = node.run("identity", "show", "--json").output
            node.run("down")
            let url = URL(fileURLWithPath: node.home + "/identity/device.key")
            let key = try Data(contentsOf: url)
            let broken = fault.bytes?(key) ?? key
            try broken.write(to: url)
            chmod(url.path, fault.mode)
            // A name does not make a new identity in its place either.
            for words in [["up"], ["up", "--name", "Other", "--workspace", "acme"]] {
                let refused = node.run(words + TemporaryNode.loopback)
                #expect(refused.status == 78, "\(refused.errors)")
                #expect(refused.errors.hasPrefix("wsx-node: "), "\(refused.errors)")
                #expect(refused.errors.contains(fault.hint), "\(refused.errors)")
                #expect(try Data(contentsOf: url) == broken)
                #expect(node.run("status").status == 3, "nothing runs")
            }
            try key.write(to: url)
            chmod(url.path, 0o600)
            #expect(node.up().status == 0)
            #expect(node.run("identity", "show", "--json").output == before)
            #expect(node.texts() == ["kept"])
        }

        @Test(arguments: [true, false])
        func `makes no new key beside a store, and uses no key of another home`(
            _ isMissing: Bool
        ) throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "kept")
            node.run("down")
            let path = node.home + "/identity/device.key"
            try FileManager.default.moveItem(atPath: path, toPath: node.home + "/kept.key")
            let other = TemporaryNode()
            other.up(name: "Other", workspace: "acme")
            if !isMissing {
                try FileManager.default.copyItem(
                    atPath: other.home + "/identity/device.key", toPath: path)
                chmod(path, 0o600)
            }
            for words in [["up"], ["up", "--name", "Other", "--workspace", "acme"]] {
                let refused = node.run(words + TemporaryNode.loopback)
                #expect(refused.status == 78, "\(refused.errors)")
                #expect(refused.errors.contains("identity file"), "\(refused.errors)")
                #expect(refused.errors.contains("hint: "), "\(refused.errors)")
                #expect(FileManager.default.fileExists(atPath: path) != isMissing)
            }
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: node.home + "/kept.key", toPath: path)
            #expect(node.up().status == 0)
            #expect(node.texts() == ["kept"])
        }

        @Test func `takes no link for a key`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("down")
            let path = node.home + "/identity/device.key"
            try FileManager.default.moveItem(atPath: path, toPath: node.home + "/moved.key")
            symlink(node.home + "/moved.key", path)
            let refused = node.up()
            #expect(refused.status == 78)
            #expect(refused.errors.contains("not a regular file"), "\(refused.errors)")
        }
    }
}
