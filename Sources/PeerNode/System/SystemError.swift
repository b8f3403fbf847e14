private import CLinux
private import Glibc

/// A system call that failed: which, why, and on what.
///
/// It carries no user data, so it may be logged and displayed.
public struct SystemError: Error, Equatable, Sendable {
    /// The name of the call, as its manual page spells it.
    public let call: String
    /// The errno.
    public let number: Int32
    /// The file, socket path or address it was about, where there is one.
    public let path: String?

    /// - Parameter number: by default the errno the calling thread has just got, so that this must
    ///   be the first thing done after the call that failed.
    public init(_ call: String, path: String? = nil, number: Int32 = currentErrorNumber()) {
        self.call = call
        self.number = number
        self.path = path
    }

    /// Whether the process or the machine has no descriptor left. More will be free later.
    public var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }

    /// Whether there is no such file.
    public var isMissingFile: Bool { number == ENOENT }

    /// Whether the path exists already.
    public var isExistingFile: Bool { number == EEXIST }

    /// Whether somebody else has the address or port.
    public var isAddressTaken: Bool { number == EADDRINUSE }

    /// Whether the disk, or our share of it, is full.
    public var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT }
}

extension SystemError: CustomStringConvertible {
    /// One clause without a full stop, the same in every locale.
    public var description: String {
        let text = wsx_error_text(number).map { String(cString: $0) } ?? "error \(number)"
        return if let path { "\(call) \(path): \(text)" } else { "\(call): \(text)" }
    }
}

/// The errno of the calling thread.
@inline(never)
public func currentErrorNumber() -> Int32 { errno }

/// Repeats a call for as long as a signal interrupts it.
func uninterrupted<Count: SignedInteger>(_ call: () -> Count) -> Count {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension SystemError {
    /// Why nobody could be reached, in one word of `peer list`.
    var dialWord: String {
        switch number {
        case ECONNREFUSED: "refused"
        case ETIMEDOUT: "timeout"
        case ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, ENETDOWN, EAFNOSUPPORT: "no_route"
        case EACCES, EPERM: "not_permitted"
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: "no_descriptor"
        default: "failed"
        }
    }
}
