private import Glibc
import WorkspaceCrypto
public import WorkspaceModel

/// Waits on a port of this machine for the browser that is redirected after a login.
///
/// It answers one request at a time, and accepts the first that carries the expected answer.
///
/// - Not thread-safe: the command line owns it, and does nothing else meanwhile.
public final class LoginListener {
    /// The port.
    public let port: UInt16
    private let listener: TCPListener

    /// - Parameter port: 0 for any that is free.
    public init(port: UInt16) throws(SystemError) {
        listener = try TCPListener(SocketAddress(host: .loopbackV4, port: port))
        self.port = listener.address.port
    }

    /// The login that `account.link` has begun, with a state and a verifier that were never used.
    ///
    /// - Returns: `nil` where the provider has no login page.
    public func request(_ claim: JSONValue) -> LoginRequest? {
        let random = SystemRandom()
        return LoginRequest(
            claim, port: port, state: Base64URL.encode(random.bytes(24)),
            verifier: Base64URL.encode(random.bytes(32)), sha256: HashFunction.sha256.hash)
    }

    /// Waits for a browser.
    ///
    /// - Parameter patience: how long a visitor is listened to, milliseconds.
    /// - Returns: what it brings; `nil` where none came within the time.
    public func wait(
        for request: LoginRequest, milliseconds: UInt64,
        patience: UInt64 = Limits.loginVisitorMilliseconds
    ) -> LoginRequest.Arrival? {
        let end = MonotonicClock.milliseconds() &+ milliseconds
        while Self.isReady(listener.descriptor.number, until: end) {
            let number = uninterrupted { accept(listener.descriptor.number, nil, nil) }
            guard number >= 0 else { continue }
            let visitor = FileDescriptor(owning: number)
            // A client that connects and sends nothing does not block others for long.
            let patienceEnd = min(end, MonotonicClock.milliseconds() &+ patience)
            let arrival =
                Self.read(visitor.number, until: patienceEnd).map(request.arrival) ?? .nothing
            Self.answer(visitor.number, arrival)
            if arrival != .nothing { return arrival }
        }
        return nil
    }

    private static func isReady(_ descriptor: Int32, until end: UInt64) -> Bool {
        while true {
            let now = MonotonicClock.milliseconds()
            guard now < end else { return false }
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&wanted, 1, Int32(clamping: end - now))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }

    private static func read(_ descriptor: Int32, until end: UInt64) -> [UInt8]? {
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while request.count <= Limits.loginBytesMax, isReady(descriptor, until: end) {
            let count = uninterrupted { recv(descriptor, &chunk, chunk.count, 0) }
            guard count > 0 else { return nil }
            request += chunk.prefix(count)
            if let length = LoginRequest.length(of: request), request.count >= length {
                return request
            }
        }
        return nil
    }

    private static func answer(_ descriptor: Int32, _ arrival: LoginRequest.Arrival) {
        let isWanted = arrival != .nothing
        let text =
            switch arrival {
            case .code, .token: "You can close this page. wsx-node has what it needs.\n"
            case .refusal: "Your login was refused. Your terminal says why.\n"
            case .nothing: "There is nothing here.\n"
            }
        let answer =
            "HTTP/1.1 \(isWanted ? "200 OK" : "404 Not Found")\r\nContent-Type: text/plain\r\n"
            + "Content-Length: \(text.utf8.count)\r\nCache-Control: no-store\r\n"
            + "Connection: close\r\n\r\n\(text)"
        let bytes = Array(answer.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: The exchange

    /// Exchanges a code for a token by `curl`, which reads everything on its standard input.
    ///
    /// - Returns: what the provider answers; `nil` where curl is not there or failed.
    public static func exchange(_ code: String, for request: LoginRequest) -> LoginRequest.Arrival?
    {
        guard let settings = request.curlSettings(for: code) else { return nil }
        let child: (process: Int32, output: FileDescriptor)
        do throws(SystemError) { child = try start(settings) } catch { return nil }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while answer.count <= Limits.loginBytesMax {
            let count = uninterrupted { Glibc.read(child.output.number, &chunk, chunk.count) }
            guard count > 0 else { break }
            answer += chunk.prefix(count)
        }
        if answer.count > Limits.loginBytesMax { kill(child.process, SIGKILL) }
        guard (try? DetachedProcess.wait(for: child.process)) == 0 else { return nil }
        return LoginRequest.token(ofAnswer: answer)
    }

    /// - Returns: the process, and what it prints. Its end of the pipe is its own alone.
    private static func start(
        _ settings: String
    ) throws(SystemError) -> (process: Int32, output: FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        let (first, second) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let reading = try first.duplicatedAboveStandard()
        let writing = try second.duplicatedAboveStandard()
        let process = try ShellProcess.start(
            "exec curl --disable --config -", input: Array(settings.utf8),
            output: writing.number, environment: ShellProcess.environment(with: []),
            as: .background)
        withExtendedLifetime(writing) {}
        return (process, reading)
    }
}
