private import Glibc
import WorkspaceModel

/// The machine around the node, as its small files describe it: `/proc`, `/etc`, `/run`, `/var`.
///
/// It never blocks: files are read up to a limit, and one that cannot be read is reported and is
/// not an error.
public struct MachineSurroundings: Surroundings {
    /// A prefix for every path of the machine; empty except in tests.
    let root: String
    /// The control socket.
    let socket: String
    /// The number of this account.
    let user: UInt32

    /// - Parameter root: a folder with `proc`, `etc`, `run` and `var` in it; empty for `/`.
    public init(root: String = "", socket: String, user: UInt32 = FileSystem.currentUser) {
        self.root = root
        self.socket = socket
        self.user = user
    }

    /// What a file says.
    enum Content: Equatable {
        case text(String)
        case missing
        /// It is there, and not for us.
        case unreadable

        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    /// More than any of these files has on a machine that is not under attack.
    private static let bytesMax = 1024 * 1024

    /// All findings, in the order in which one goes about it.
    public func findings(_ facts: SurroundingsFacts) -> [FindingObject] {
        var findings = [socketFinding, limitFinding]
        if let lingering = lingerFinding { findings.append(lingering) }
        findings += networkFindings(facts)
        if let firewall = firewallFinding(facts) { findings.append(firewall) }
        return findings
    }

    /// The beginning of a file, at most 1 MiB. Opening and reading it never waits.
    func read(_ path: String) -> Content {
        let path = root + path
        do throws(SystemError) {
            let file = try FileSystem.openFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            var bytes: [UInt8] = []
            while bytes.count < Self.bytesMax {
                let chunk = try file.readSome(byteCountMax: 64 * 1024, path: path)
                if chunk.isEmpty { break }
                bytes += chunk
            }
            return .text(String(decoding: bytes, as: UTF8.self))
        } catch {
            return [ENOENT, ENOTDIR].contains(error.number) ? .missing : .unreadable
        }
    }

    /// Whether a regular file can be read at an absolute path. It never waits for a pipe or a
    /// device.
    public func canRead(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try FileSystem.openPlainFile(root + path)
            return true
        } catch { return false }
    }

    /// The lines of a file; none where it cannot be read.
    func lines(of path: String) -> [Substring] {
        (read(path).text ?? "").split(whereSeparator: \.isNewline)
    }

    /// Whether something exists at a path, as far as that may be seen.
    func exists(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try FileSystem.status(of: root + path)
            return true
        } catch { return false }
    }

    /// The names in a folder; nothing where it cannot be read.
    func names(in path: String) -> [String] { (try? FileSystem.names(in: root + path)) ?? [] }

    /// Where a link leads, at most 255 bytes of it.
    func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 255)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink(root + path, $0, bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    // MARK: The home

    private var socketFinding: FindingObject {
        let shown = NodeError.quotedPath(socket)
        func failure(_ message: String, _ hint: String) -> FindingObject {
            .init(id: "socket", state: "fail", message: message, hint: hint)
        }
        let restart = "wsx-node down; wsx-node up"
        guard let found = try? FileSystem.status(of: socket), found.kind == .socket else {
            return failure("there is no control socket at \(shown)", restart)
        }
        guard found.owner == user else {
            return failure("the control socket \(shown) belongs to someone else", restart)
        }
        guard !found.isOpenToOthers else {
            return failure("others can use the control socket \(shown)", "chmod 600 \(shown)")
        }
        return .init(
            id: "socket", state: "ok", message: "the control socket is yours alone: \(shown)")
    }

    // MARK: The process

    /// So many descriptors are few: a link, a client and a command take one each.
    private static let descriptorsMin: Int64 = 256

    private var limitFinding: FindingObject {
        let line = read("/proc/self/limits").text?.split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        let words = line?.split(separator: " ") ?? []
        guard words.count > 3 else {
            return .init(
                id: "limits", state: "ok", message: "the limit on open files cannot be read")
        }
        // A word instead of a number is 'unlimited'.
        guard let limit = Int64(words[3]), limit < Self.descriptorsMin else {
            return .init(id: "limits", state: "ok", message: "\(words[3]) open files are allowed")
        }
        return .init(
            id: "limits", state: "warn", message: "only \(limit) open files are allowed",
            hint: "ulimit -n 1024, then wsx-node down and wsx-node up")
    }

    /// Only for a service of the user's own manager, which ends with the last login otherwise.
    private var lingerFinding: FindingObject? {
        let groups = read("/proc/self/cgroup").text ?? ""
        guard user != 0, groups.holds("/user@\(user).service/"), let name = userName else {
            return nil
        }
        // A shell in a terminal is below the same manager, and not a service.
        guard groups.holds(".service\n") || groups.hasSuffix(".service") else { return nil }
        return exists("/var/lib/systemd/linger/\(name)")
            ? .init(id: "linger", state: "ok", message: "the service keeps running without a login")
            : .init(
                id: "linger", state: "warn",
                message: "the service stops when you log out, and starts when you log in",
                hint: "loginctl enable-linger")
    }

    private var userName: String? {
        for line in read("/etc/passwd").text?.split(separator: "\n") ?? [] {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 2, UInt32(fields[2]) == user, !fields[0].contains("/") else {
                continue
            }
            return String(fields[0])
        }
        return nil
    }
}
