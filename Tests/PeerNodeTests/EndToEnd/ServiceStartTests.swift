import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `A start by a service manager` {
        /// Where a service manager hears of its services.
        private final class Manager {
            /// As `NOTIFY_SOCKET` spells it.
            let name: String
            private let descriptor: Int32

            init?(_ name: String) {
                self.name = name
                descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                var bytes = Array(name.utf8)
                if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
                let length = socklen_t(2 + bytes.count)
                let result = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, length)
                    }
                }
                if result != 0 { return nil }
            }

            deinit { close(descriptor) }

            func next(within milliseconds: Int32 = LongestWait.milliseconds) -> String? {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, milliseconds) == 1 else { return nil }
                var bytes = [UInt8](repeating: 0, count: 1_024)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            }
        }

        @Test(arguments: [true, false])
        func `is told when the socket answers, and when it ends`(_ isAbstract: Bool) throws {
            let node = TemporaryNode()
            let folder = (node.home as NSString).deletingLastPathComponent
            let name = isAbstract ? "@wsx-\(getpid())-\(node.home)" : folder + "/notify.sock"
            let manager = try #require(Manager(name))
            let daemon = try node.startForeground(environment: ["NOTIFY_SOCKET": name])
            #expect(manager.next() == "READY=1")
            let socket = try #require(ControlSocket(node.socket))
            #expect(socket.call("node.version")?["result"] != nil)
            #expect(manager.next(within: 0) == nil, "once")
            #expect(node.run("down").status == 0)
            #expect(manager.next() == "STOPPING=1")
            daemon.waitUntilExit()
            #expect(manager.next(within: 0) == nil)
        }

        @Test func `is told only of a start that went well`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let folder = (node.home as NSString).deletingLastPathComponent
            let manager = try #require(Manager(folder + "/notify.sock"))
            let environment = ["NOTIFY_SOCKET": manager.name]
            let second = node.run(
                ["daemon", "run"] + TemporaryNode.loopback, environment: environment)
            #expect(second.status == 6)
            // A detached daemon is not the service that the service manager waits for.
            node.run("down")
            #expect(node.run("up", environment: environment).status == 0)
            #expect(manager.next(within: 0) == nil)
        }

        @Test(arguments: ["", "/no/such/socket", "relative", "@", "@nobody-listens", "vsock:2:1"])
        func `does not depend on anybody who listens`(_ name: String) throws {
            let node = TemporaryNode()
            let daemon = try node.startForeground(environment: ["NOTIFY_SOCKET": name])
            #expect(node.run("status", "--check").status == 0)
            #expect(node.run("down").status == 0)
            daemon.waitUntilExit()
            #expect(daemon.terminationStatus == 0)
        }

        // MARK: What is kept for the next start

        private func network(_ node: TemporaryNode) -> JSONValue {
            node.run("net", "status", "--json").object
        }

        private func settings(_ node: TemporaryNode) -> [String] {
            node.run("config", "list").output.split(separator: "\n").map(String.init).sorted()
        }

        @Test func `needs no flags the second time`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let first = network(node)
            #expect(first["announce"] == false)
            #expect(settings(node) == ["net.announce\tfalse", "net.listen\t\"127.0.0.1:0\""])
            // Neither asking for the same again nor asking for nothing moves it elsewhere.
            for words in [["up"], ["up"] + TemporaryNode.loopback, ["up", "--announce", "off"]] {
                node.run("down")
                #expect(node.run(words).status == 0)
                #expect(network(node)["listen"] == first["listen"], "\(words)")
                #expect(network(node)["announce"] == false, "\(words)")
            }
            // What a refused start was told is not kept.
            let second = node.run("daemon", "run", "--listen", "127.0.0.1:1", "--announce", "on")
            #expect(second.status == 6)
            #expect(settings(node) == ["net.announce\tfalse", "net.listen\t\"127.0.0.1:0\""])
        }

        @Test func `keeps what stands in the settings beside it`() throws {
            let node = TemporaryNode()
            let path = node.home + "/config.toml"
            let mine = "# mine\nname = \"Mina\"\n\n[net]  # here\nannounce = false  # hush\n"
            try FileManager.default.createDirectory(
                atPath: node.home, withIntermediateDirectories: true)
            chmod(node.home, 0o700)
            try mine.write(toFile: path, atomically: true, encoding: .utf8)
            node.up(workspace: "acme")
            let kept = try String(contentsOfFile: path, encoding: .utf8)
            #expect(kept.hasPrefix("# mine\nname = \"Mina\"\n\n[net]  # here\n"))
            #expect(kept.contains("announce = false  # hush\n"))
            #expect(kept.contains("listen = \"127.0.0.1:0\"\n"))
        }

        @Test func `gives way where its port is taken by then`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let former = try #require(network(mina)["listen"]?.arrayValue?.first?.stringValue)
            mina.run("down")
            let other = TemporaryNode()
            let taken = other.run("up", "--listen", former, "--announce", "off")
            #expect(taken.status == 0, "\(taken.errors)")
            #expect(mina.up().status == 0)
            let now = try #require(network(mina)["listen"]?.arrayValue?.first?.stringValue)
            #expect(now != former)
            other.run("down")
            mina.run("down")
            #expect(mina.up().status == 0)
            #expect(network(mina)["listen"] == [.string(now)], "the last one counts")
        }
    }
}
