private import Glibc

/// The service manager that started this process and expects its status: systemd, by sd_notify(3).
///
/// One datagram per message, to the Unix socket that `NOTIFY_SOCKET` names. A missing listener is
/// not an error, and neither is a lost message.
struct ServiceManager {
    private let socket: FileDescriptor
    private let address: RawSocketAddress

    /// The messages for `say`.
    enum Word: String {
        /// The control socket takes calls.
        case ready = "READY=1"
        /// The process is on its way out.
        case stopping = "STOPPING=1"
    }

    /// - Parameter name: the value of `NOTIFY_SOCKET`: an absolute path, or `@` and an abstract
    ///   name. `nil` for any other, and without one.
    init?(named name: String?) {
        guard var bytes = name.map({ [UInt8]($0.utf8) }), let first = bytes.first,
            bytes.count <= UnixListener.pathByteCountMax,
            let socket = try? FileDescriptor.socket(AF_UNIX, SOCK_DGRAM)
        else { return nil }
        let isAbstract = first == UInt8(ascii: "@")
        guard isAbstract || first == UInt8(ascii: "/") else { return nil }
        // A name in no folder begins with NUL, and ends where the address does (unix(7)).
        if isAbstract { bytes[0] = 0 }
        var address = RawSocketAddress(unixPath: bytes)
        if isAbstract {
            let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            address.length = socklen_t(start + bytes.count)
        }
        self.socket = socket
        self.address = address
    }

    /// Says one word.
    func say(_ word: Word) {
        let bytes = [UInt8](word.rawValue.utf8)
        _ = address.withPointer { pointer, length in
            uninterrupted {
                sendto(
                    socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}
