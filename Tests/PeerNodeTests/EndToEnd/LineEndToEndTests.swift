import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import wsx_node

extension TerminalEndToEnd {
    struct `A person at the command line` {
        /// Runs a line of the shell, in which `$W` is the program with a node's home.
        private func shell(_ line: String, _ node: TemporaryNode) -> TemporaryNode.Outcome {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", line]
            process.environment = ["W": TemporaryNode.program, "H": node.home]
            return TemporaryNode.finish(process)
        }

        @Test func `writes no bytes that are no text`() {
            let node = TemporaryNode()
            #expect(node.up(name: "Mina", workspace: "acme").status == 0)
            let sent = shell(#""$W" --home "$H" send general "$(printf '\377')""#, node)
            #expect(sent.status == 2)
            #expect(sent.errors.contains("argument 5 is not UTF-8"), "\(sent.errors)")
            let made = shell(#""$W" --home "$H" channel create "$(printf 'caf\351')""#, node)
            #expect(made.status == 2)
            #expect(node.texts().isEmpty)
            #expect(node.run("channel", "list", "--json").objects.count == 1)
        }

        @Test func `is called as its machine, and members see it`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let host = HostName.device(HostName.own)
            func names(of member: String, at node: TemporaryNode) -> [String?] {
                node.run("device", "list", "--member", member, "--json").objects
                    .filter { $0["recovery"] == false }.map { $0["name"]?.stringValue }
            }
            if let host {
                #expect(names(of: "Mina", at: mina) == [host])
                #expect(eventually { names(of: "Mina", at: joon) == [host] })
                #expect(eventually { names(of: "Joon", at: mina) == [host] })
            } else {
                print("SKIPPED: this machine has no name that a device is called by")
            }
            // A name that somebody chose stands, and tells two machines of one host apart.
            let link = mina.run("device", "link", "--json").object["link"]?.stringValue ?? ""
            let phone = TemporaryNode()
            let linked = phone.run(
                ["device", "link", link, "--name", "phone", "--json"] + TemporaryNode.loopback)
            try #require(linked.status == 0, "\(linked.errors)")
            #expect(eventually { names(of: "Mina", at: joon).contains("phone") })
            #expect(
                eventually {
                    let peers = joon.run("peer", "list").output
                    return peers.contains("Mina (phone)") && !peers.contains("  Mina  ")
                })
        }

        @Test func `follows who talks where, by name`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            #expect(eventually { mina.run("member", "list", "--json").objects.count == 2 })
            let (process, lines) = try mina.start("tail")
            defer { process.terminate() }
            var seen: [String] = []
            func shows(_ part: String) -> Bool {
                while let line = lines.next() {
                    seen.append(line)
                    if line.contains(part) { return true }
                }
                return false
            }
            // Until the stream has begun, what is said is not in it.
            #expect(
                eventually {
                    mina.run("send", "general", "go on")
                    return lines.next(within: 2)?.contains("go on") == true
                })
            joon.run("send", "@Mina", "between us")
            #expect(shows("@Joon  Joon  between us"), "\(seen)")
            joon.run("channel", "create", "plans")
            #expect(
                eventually { mina.run("channel", "list", "--all", "--json").objects.count == 2 })
            // One that Mina is not in is shown to who wants all of them.
            let (whole, wholeLines) = try mina.start("tail", "--all")
            defer { whole.terminate() }
            #expect(
                eventually {
                    joon.run("send", "plans", "not for everybody")
                    return wholeLines.next(within: 2)?.contains("not for everybody") == true
                })
            mina.run("channel", "join", "plans")
            #expect(shows("#plans  ── Mina is now in the channel"), "\(seen)")
            #expect(!seen.contains { $0.contains("not for everybody") }, "\(seen)")
            joon.run("send", "plans", "for Mina")
            #expect(shows("#plans  Joon  for Mina"), "\(seen)")
            mina.run("workspace", "create", "duo")
            mina.run("-w", "duo", "send", "general", "elsewhere")
            mina.run("-w", "acme", "send", "general", "here")
            #expect(shows("duo #general  Mina  elsewhere"), "\(seen)")
            #expect(shows("  #general  Mina  here"), "\(seen)")
            // Making a workspace has selected it.
            #expect(
                eventually {
                    mina.run("-w", "acme", "search", "between").output.contains("@Joon  Joon")
                })
        }

        @Test func `reads threads with what they answer`() {
            let mina = TemporaryNode()
            #expect(mina.up(name: "Mina", workspace: "acme").status == 0)
            for number in 1...3 { mina.run("send", "general", "before \(number)") }
            let root =
                mina.run("send", "general", "shall we meet?", "--json").object["id"]?.stringValue
                ?? ""
            for number in 1...5 {
                mina.run("send", "general", "answer \(number)", "--thread", root)
            }
            let loose = mina.run("log", "general", "-n3").output.split(separator: "\n").dropFirst()
            #expect(loose.first?.hasSuffix("↳ in reply to Mina: shall we meet?") == true)
            #expect(loose.count == 4)
            let folded = mina.run("log", "general", "-n6").output
            #expect(folded.contains("shall we meet?\n             ↳ 5 replies\n"), "\(folded)")
            #expect(folded.contains("before 1") && !folded.contains("answer"))
            let alone = mina.run("message", "show", "last", "--in", "general").output
            #expect(alone.contains("↳ in reply to Mina: shall we meet?\n"), "\(alone)")
            let thread = mina.run("log", "general", "--thread", root).output
                .split(separator: "\n").dropFirst()
            #expect(thread.first?.hasSuffix("shall we meet?") == true)
            #expect(thread.last?.hasSuffix("↳ answer 5") == true)
            let programs = mina.run("log", "general", "-n3", "--json").objects
            // A reply as the argument means its thread.
            let answer = programs.last?["id"]?.stringValue ?? ""
            let same = mina.run("log", "general", "--thread", answer).output
            #expect(same.split(separator: "\n").dropFirst() == thread)
            #expect(programs.compactMap { $0["text"]?.stringValue }.last == "answer 5")
            #expect(programs.count == 3)
        }

        @Test func `names what is answered beside an answer to what one never had`() throws {
            let mina = TemporaryNode()
            #expect(mina.up(name: "Mina", workspace: "acme").status == 0)
            let made = mina.run("channel", "create", "board", "--private", "--history", "from-join")
            try #require(made.status == 0, "\(made)")
            func say(_ text: String, to thread: String? = nil) -> String {
                let more = thread.map { ["--thread", $0] } ?? []
                return mina.run(["send", "board", text, "--json"] + more).object["id"]?
                    .stringValue ?? ""
            }
            let old = say("before you")
            let joon = TemporaryNode()
            try #require(joon.join(mina.invite(), name: "Joon").status == 0)
            #expect(eventually { mina.run("channel", "add", "board", "@Joon").status == 0 })
            let new = say("with you")
            for number in 1...3 { _ = say("between \(number)") }
            _ = say("to the old one", to: old)
            _ = say("to the new one", to: new)
            #expect(
                eventually {
                    joon.run("log", "board", "-n2").output.contains("in reply to Mina: with you")
                }, "\(joon.run("log", "board", "-n2"))")
        }

        @Test func `reads in a workspace that one is out of`() throws {
            let mina = TemporaryNode()
            #expect(mina.up(name: "Mina", workspace: "acme").status == 0)
            mina.run("send", "general", "hello")
            let joon = TemporaryNode()
            try #require(joon.join(mina.invite(), name: "Joon").status == 0)
            #expect(eventually { mina.run("member", "list", "--json").objects.count == 2 })
            try #require(mina.run("member", "remove", "Joon", "--yes").status == 0)
            #expect(
                eventually {
                    joon.run("workspace", "show", "--json").object["state"] == "removed"
                })
            let screen = try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", joon.home], environment: [:], columns: 100,
                    rows: 50))
            #expect(screen.shows("you can still read here"), "\(screen.text)")
            #expect(screen.shows(" join LINK, with an invite"), "\(screen.text)")
            #expect(screen.shows("#general"), "\(screen.text)")
        }
    }
}
