import Foundation
import Glibc
import Testing

/// Waits until a condition is true, for as long as a slow machine may need: checks it, and checks
/// again whenever a daemon of the same test has written to its home, its log included, or has exited.
///
/// Events without a trace in a home, such as a closed connection, wake nobody. So it also checks a
/// few times a second; no test depends on how often.
///
/// - Returns: whether the condition became true.
public func eventually(
    within seconds: Double = Double(LongestWait.seconds), _ condition: () -> Bool
) -> Bool {
    let deadline = Date().addingTimeInterval(seconds)
    while true {
        // Before the condition is looked at, so that no change falls between the two.
        let signs = DaemonSigns(of: LiveHomes.ofThisTest)
        if condition() { return true }
        let left = deadline.timeIntervalSinceNow
        guard left > 0 else { return false }
        signs.wait(milliseconds: Int32(min(left * 1_000 + 1, 200)))
    }
}

/// The folders of all homes in use by the tests of this process.
enum LiveHomes {
    private struct Home {
        let folder: String
        /// The test that made it, where one is known.
        let test: Test.ID?
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var homes: [Home] = []

    static func add(_ folder: String) {
        let home = Home(folder: folder, test: Test.current?.id)
        lock.withLock { homes.append(home) }
    }

    static func remove(_ folder: String) {
        lock.withLock { homes.removeAll { $0.folder == folder } }
    }

    /// Those in which something may happen that the running test waits for. Other tests run beside it,
    /// and to look again often means to start a process.
    static var ofThisTest: [String] {
        let test = Test.current?.id
        return lock.withLock {
            homes.filter { test == nil || $0.test == nil || $0.test == test }.map(\.folder)
        }
    }
}

/// Signs of daemons from outside: changes in their folders, and their exits.
public final class DaemonSigns {
    /// -1 where the system has none left; then only the clock wakes.
    private let changes: Int32
    private var ends: [Int32] = []

    /// - Parameter folders: each with a home in it, or none yet. What happens from now on is heard.
    public init(of folders: [String]) {
        changes = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let events = UInt32(IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO)
        for folder in folders {
            for path in [folder, folder + "/home"] {
                inotify_add_watch(changes, path, events)
            }
            if let end = Self.end(of: folder + "/home/lock") { ends.append(end) }
        }
    }

    deinit { for descriptor in ends + [changes] where descriptor >= 0 { close(descriptor) } }

    /// Returns when there is a sign, or when so much time has passed.
    ///
    /// - Returns: whether there is one.
    @discardableResult
    public func wait(milliseconds: Int32) -> Bool {
        var waiting = (ends + [changes]).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        return poll(&waiting, nfds_t(waiting.count), milliseconds) > 0
    }

    /// A descriptor that is readable when the process has ended whose number stands in a lock
    /// file; `nil` where it has ended already.
    private static func end(of lock: String) -> Int32? {
        guard let open = pidfdOpen, let pid = TemporaryNode.pid(inLock: lock) else { return nil }
        let descriptor = open(pid, 0)
        guard descriptor >= 0 else { return nil }
        var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&ended, 1, 0) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// In glibc since 2.36, and not in Swift's module of it.
    private static let pidfdOpen: (@convention(c) (Int32, UInt32) -> Int32)? =
        dlsym(nil, "pidfd_open").map {
            unsafeBitCast($0, to: (@convention(c) (Int32, UInt32) -> Int32).self)
        }
}

/// How long a slow machine may need for any awaited event. The waiting test wakes when it happens,
/// so no test takes longer because of it.
public enum LongestWait {
    /// As `eventually` takes it.
    public static let seconds = 240
    /// As `poll` takes it.
    public static let milliseconds = Int32(seconds) * 1_000
}
