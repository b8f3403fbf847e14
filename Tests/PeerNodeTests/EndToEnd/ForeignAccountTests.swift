import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension AttackedEndToEnd {
    /// K10, where the folder's permissions do not help: only the kernel's word for who connects.
    struct `Another account` {
        /// Becomes user 65534, connects, asks, and prints what comes back.
        private static let script = #"""
            use Socket;
            $( = 65534; $) = "65534 65534"; $< = 65534; $> = 65534;
            die "still root" if $< == 0 || $> == 0;
            socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
            if (!connect($s, pack_sockaddr_un($ARGV[0]))) { print "refused: $!"; exit 0 }
            $SIG{PIPE} = "IGNORE";
            syswrite($s, $ARGV[1] . "\n");
            my $all = ""; while (sysread($s, my $part, 4096)) { $all .= $part }
            print "connected, then ", length($all), " bytes: $all";
            """#

        private static let perl = "/usr/bin/perl"
        static let canChange =
            geteuid() == 0 && FileManager.default.isExecutableFile(atPath: perl)

        private func run(_ program: String, _ arguments: [String]) -> TemporaryNode.Outcome {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.currentDirectoryURL = URL(fileURLWithPath: "/")
            return TemporaryNode.finish(process)
        }

        private func ask(_ node: TemporaryNode) throws -> String {
            let request = ControlSocket.request("node.stop", [:], id: 1).text
            let outcome = run(Self.perl, ["-e", Self.script, node.socket, request])
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome.output
        }

        @Test(
            .enabled(
                if: canChange, "needs root and perl, to act as another account: K10 is not tried"))
        func `is refused even where the file system would let it in`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let folder = (node.home as NSString).deletingLastPathComponent
            chmod(folder, 0o755)
            #expect(try ask(node) == "refused: Permission denied")
            chmod(node.home, 0o777)
            #expect(try ask(node) == "refused: Permission denied")
            chmod(node.socket, 0o666)
            for _ in 0..<20 { #expect(try ask(node) == "connected, then 0 bytes: ") }
            let log = try String(contentsOfFile: node.home + "/daemon.log", encoding: .utf8)
            #expect(log.contains("control.refused uid=65534"))

            // The program itself says what is wrong instead of asking a node that hangs up.
            let outcome = run(
                "/usr/bin/setpriv",
                [
                    "--reuid=65534", "--regid=65534", "--clear-groups", TemporaryNode.program,
                    "--socket", node.socket, "--home", node.home, "status", "--json",
                ])
            if outcome.status != 127, outcome.status != 126 {
                #expect(outcome.status == 4, "\(outcome.errors)")
                #expect(outcome.error.kind == "forbidden", "\(outcome.errors)")
            }

            // It is still there, for its own account, and unharmed.
            #expect(node.run("send", "general", "still here").status == 0)
            #expect(node.texts() == ["still here"])
            node.run("down")
            // Loosened while it ran; a start refuses such a folder.
            let refused = node.up()
            #expect(refused.status == 78)
            #expect(refused.errors.contains("chmod 700 '\(node.home)'"))
            chmod(node.home, 0o700)
            #expect(node.up().status == 0)
        }

        /// A core file holds the keys, and so does what a runtime prints of a crash.
        @Test func `gets no core file of a node that crashes, and no report`() throws {
            let node = TemporaryNode()
            let process = try node.startForeground(environment: ["SWIFT_BACKTRACE": "enable=yes"])
            func lines(_ file: String) throws -> [String] {
                try String(contentsOfFile: "/proc/\(file)", encoding: .utf8)
                    .components(separatedBy: "\n")
            }
            let pid = process.processIdentifier
            func limit(_ process: String) throws -> [Substring] {
                try #require(
                    try lines("\(process)/limits").first { $0.hasPrefix("Max core file size") }
                ).split(separator: " ")[4...].prefix(2).map { $0 }
            }
            if try limit("self").last == "0" {
                print("SKIPPED: nothing here may write core files: the limit tells nothing")
            }
            #expect(try limit("\(pid)") == ["0", "0"])
            let status = try lines("\(pid)/status").first { $0.hasPrefix("SigCgt:") }
            let caught = try #require(
                status?.split(separator: "\t").last.flatMap {
                    UInt64($0, radix: 16)
                })
            for signal in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
                #expect(caught >> UInt64(signal - 1) & 1 == 0, "signal \(signal)")
            }
        }
    }
}
