import Dispatch
import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension AttackedEndToEnd {
    struct `A stranger at the port for peers` {
        /// Connects, says `bytes`, and reads until the node hangs up; `nil` if it never does.
        private func answer(
            to bytes: [UInt8], at address: String, ends: Bool
        ) -> [UInt8]? {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = (UInt16(address.split(separator: ":").last ?? "") ?? 0).bigEndian
            place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafePointer(to: &place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, length)
                }
            }
            guard result == 0 else { return nil }
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if ends { shutdown(descriptor, Int32(SHUT_WR)) }
            var all: [UInt8] = []
            while true {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, LongestWait.milliseconds) == 1 else { return nil }
                var chunk = [UInt8](repeating: 0, count: 4_096)
                let count = recv(descriptor, &chunk, chunk.count, 0)
                guard count > 0 else { return all }
                all += chunk[..<count]
            }
        }

        /// N01 to N03: nothing that a stranger says gets an answer that tells what listens there.
        @Test func `is told nothing, and harms nobody`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let address = try #require(
                node.run("net", "status", "--json").object["listen"]?.arrayValue?.first?.stringValue
            )
            func framed(_ count: Int) -> [UInt8] {
                [UInt8(count >> 8), UInt8(count & 0xFF)]
                    + (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 197 &+ 13) }
            }
            let rows: [(what: String, bytes: [UInt8], ends: Bool)] = [
                ("nothing", [], true), ("one byte", [0], true), ("a cut frame", [0, 31, 1], true),
                ("an empty frame", [0, 0], false), ("a frame of 1", framed(1), false),
                ("a frame of 31", framed(31), false), ("a frame of 32", framed(32), false),
                ("a frame of 65,535", framed(65_535), false),
                ("another protocol", Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), true),
                ("a promise, then silence", [0xFF, 0xFF], false), ("silence", [], false),
            ]
            node.run("status")
            let before = node.descriptorCount
            // All at once: those that are silent are borne for 5 seconds.
            DispatchQueue.concurrentPerform(iterations: rows.count) { index in
                let row = rows[index]
                #expect(answer(to: row.bytes, at: address, ends: row.ends) == [], "\(row.what)")
            }
            #expect(eventually { node.descriptorCount <= before })
            #expect(node.run("peer", "list", "--json").objects.isEmpty)
            // Members are let in all the while.
            let joon = TemporaryNode()
            #expect(joon.join(node.invite(), name: "Joon").status == 0)
        }

        /// What is said is sealed from the first operation on, on the disk as well.
        @Test func `finds no word of anybody in the store`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Wilhelmina", workspace: "undercover")
            mina.run("channel", "create", "blueprints")
            mina.run("send", "general", "the eagle has landed")
            let joon = TemporaryNode()
            #expect(joon.join(mina.invite(), name: "Joachimsthal").status == 0)
            joon.run("send", "general", "and so has the falcon")
            #expect(eventually { mina.texts().count == 2 })
            let words = [
                "undercover", "blueprints", "eagle", "falcon", "Wilhelmina", "Joachimsthal",
            ]
            for node in [mina, joon] {
                #expect(node.texts() == ["the eagle has landed", "and so has the falcon"])
                for name in ["node.db", "node.db-wal", "node.guard", "daemon.log", "lock"] {
                    let path = URL(fileURLWithPath: node.home + "/" + name)
                    guard let bytes = try? Data(contentsOf: path) else { continue }
                    for word in words {
                        #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
                    }
                }
            }
        }
    }
}
