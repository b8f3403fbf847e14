import Foundation
import Glibc

/// A real mail server on a port of the loopback interface, which stores accepted mail as files:
/// Debian's python3-aiosmtpd, with msmtp as the sender.
public final class MailServer {
    /// What hands it letters that stand on standard input, for `/bin/sh -c`.
    public let command: String
    private let process: Process
    private let folder: String

    /// A server that answers, or `nil` where this machine has not what it takes; the output says so.
    ///
    /// - Parameter folder: where it keeps letters.
    public init?(in folder: String) {
        guard let python = Tool.path("python3", to: "run a mail server"),
            let msmtp = Tool.path("msmtp", to: "hand letters to a mail server")
        else { return nil }
        let probe = Process()
        probe.executableURL = URL(fileURLWithPath: python)
        probe.arguments = ["-c", "import aiosmtpd"]
        guard TemporaryNode.finish(probe).status == 0 else {
            print("SKIPPED: python3-aiosmtpd is not here to run a mail server")
            return nil
        }
        let port = UInt16.random(in: 20_000..<29_000)
        self.folder = folder + "/mail"
        command =
            "\(msmtp) --host=127.0.0.1 --port=\(port) --auth=off --tls=off "
            + "--from=node@localhost --file=/dev/null -t"
        process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [
            "-m", "aiosmtpd", "-n", "-l", "127.0.0.1:\(port)", "-c",
            "aiosmtpd.handlers.Mailbox", self.folder,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        guard eventually({ Self.answers(on: port) }) else {
            print("SKIPPED: the mail server does not answer")
            return nil
        }
    }

    deinit { end() }

    /// Ends it.
    public func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The letters that it took, in any order.
    public var letters: [String] {
        let new = folder + "/new"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: new)) ?? []
        return names.compactMap { try? String(contentsOfFile: new + "/" + $0, encoding: .utf8) }
    }

    private static func answers(on port: UInt16) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
