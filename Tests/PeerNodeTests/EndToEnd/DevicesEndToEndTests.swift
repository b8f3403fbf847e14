import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `One person with two machines` {
        @Test func `links, loses one, and comes back by the phrase`() throws {
            let laptop = TemporaryNode()
            let up = laptop.up(name: "Mina", workspace: "acme")
            #expect(up.output.contains(" identity show --phrase' and write it down"))
            let joon = TemporaryNode()
            try #require(joon.join(laptop.invite(), name: "Joon").status == 0)
            let printed = laptop.run("identity", "show", "--phrase")
            #expect(printed.output.contains("recovery phrase of Mina"))
            #expect(printed.output.contains("24. "))
            #expect(laptop.run("identity", "show", "--phrase").status == 5)
            let phrase = printed.output.split(separator: "\n").filter { $0.hasPrefix("  ") }
                .joined(separator: "\n")

            let link = laptop.run("device", "link", "--json").object["link"]?.stringValue ?? ""
            let phone = TemporaryNode()
            let linked = phone.run(
                ["device", "link", link, "--name", "Mina", "--json"] + TemporaryNode.loopback)
            try #require(linked.status == 0, "\(linked.errors)")
            phone.run("send", "general", "from the phone")
            #expect(eventually { joon.texts() == ["from the phone"] })
            #expect(laptop.run("device", "list").output.contains("recovery phrase"))
            let devices = laptop.run("device", "list", "--json").objects
            #expect(devices.map { $0["self"] } == [false, true, false])

            // Both are stolen; the thief lets the laptop run.
            let lost = devices.compactMap { $0["id"]?.stringValue }.dropFirst()
            let invite = laptop.invite()
            #expect(eventually { joon.run("invite", "list", "--json").objects.count == 2 })
            phone.run("down")
            let fresh = TemporaryNode()
            let back = fresh.run(
                ["identity", "recover", invite, "--phrase", "-", "--name", "Mina", "--json"]
                    + TemporaryNode.loopback, input: phrase)
            try #require(back.status == 0, "\(back.errors)")
            #expect(back.object["role"] == "owner")
            #expect(fresh.texts() == ["from the phone"])
            for id in lost {
                let revoked = fresh.run(
                    ["device", "revoke", id, "--phrase", "-", "--json"], input: phrase)
                #expect(revoked.object["revoked"] == true, "\(revoked.errors)")
            }
            #expect(
                eventually {
                    laptop.run("send", "general", "still here", "--json").error.kind
                        == "device_revoked"
                })
            #expect(fresh.run("send", "general", "back").status == 0)
            #expect(eventually { joon.texts() == ["from the phone", "back"] })
            let names = joon.run("member", "list", "--json").objects.compactMap { $0["name"] }
            #expect(names == ["Mina", "Joon"])
        }

        @Test func `keeps the phrase of somebody who could not read it`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            for flags in ["", " --json"] {
                let process = Self.shell(
                    "exec wsx-node identity show --phrase\(flags) > /dev/full", node)
                let full = TemporaryNode.finish(process)
                #expect(full.status == 1, "\(full.errors)")
                // Nobody reads the other end.
                let unread = Self.shell("exec wsx-node identity show --phrase\(flags)", node)
                let output = Pipe()
                unread.standardOutput = output
                try output.fileHandleForReading.close()
                try unread.run()
                unread.waitUntilExit()
                #expect(unread.terminationStatus == 141)
                #expect(node.run("identity", "show", "--json").object["recovery"] == "unshown")
            }
            let shown = node.run("identity", "show", "--phrase", "--json").object
            #expect(shown["phrase"]?.stringValue?.split(separator: " ").count == 24)
            #expect(shown["recovery"] == "shown")
            #expect(node.run("identity", "show", "--json").object["recovery"] == "shown")
            #expect(node.run("identity", "show", "--phrase").status == 5)
        }

        private static func shell(_ line: String, _ node: TemporaryNode) -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", line]
            process.environment = node.scriptEnvironment
            process.standardInput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            return process
        }

        @Test func `may do without a phrase, and is reminded`() {
            let node = TemporaryNode()
            let up = node.run(
                ["up", "--name", "Mina", "--workspace", "acme", "--no-recovery", "--json"]
                    + TemporaryNode.loopback)
            #expect(up.object["phrase"] == nil)
            #expect(up.object["identity"]?["recovery"] == "none")
            let doctor = node.run("doctor", "--json").objects
            #expect(doctor.first { $0["id"] == "recovery" }?["state"] == "warn")
            #expect(node.run("identity", "show", "--phrase").status == 5)
            let other = TemporaryNode()
            let json = other.run(
                ["up", "--name", "Ana", "--workspace", "own", "--json"] + TemporaryNode.loopback)
            let words = json.object["phrase"]?.stringValue?.split(separator: " ")
            #expect(words?.count == 24)
            #expect(other.run("up", "--json").object["phrase"] == nil)
        }
    }
}
