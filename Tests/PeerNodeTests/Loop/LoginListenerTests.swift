import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The port on which a browser comes back from a login, with `curl` in the place of the browser.
@Suite(.serialized) struct `The port for a browser` {
    private static func claim(tokenURL: String?) -> JSONValue {
        [
            "login_url": "http://127.0.0.1:1/login", "client_id": "wsx", "nonce": "N-0",
            "token_url": JSONValue(orNull: tokenURL),
        ]
    }

    private func browser(_ curl: String, _ arguments: String...) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: curl)
        process.arguments = ["-s", "-q"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test func `takes the first request that brings what was asked for`() throws {
        guard let curl = Tool.path("curl", to: "come back from a login") else { return }
        let listener = try LoginListener(port: 0)
        let request = try #require(listener.request(Self.claim(tokenURL: "http://127.0.0.1:1/")))
        #expect(request.redirect == "http://127.0.0.1:\(listener.port)/")
        #expect(request.state.utf8.count == 32 && request.verifier.utf8.count == 43)
        #expect(try #require(listener.request(Self.claim(tokenURL: nil))).state != request.state)
        // One after the other, so that none overtakes.
        let script =
            "\(curl) -s -q \(request.redirect)favicon.ico; "
            + "\(curl) -s -q '\(request.redirect)?code=no&state=x'; "
            + "\(curl) -s -q '\(request.redirect)?code=c1&state=\(request.state)'"
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script]
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        #expect(listener.wait(for: request, milliseconds: 60_000) == .code("c1"))
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
    }

    @Test func `tells a browser what it has brought`() throws {
        guard let curl = Tool.path("curl", to: "come back from a login") else { return }
        try withTemporaryFolder { root in
            let listener = try LoginListener(port: 0)
            let request = try #require(
                listener.request(Self.claim(tokenURL: "http://127.0.0.1:1/")))
            for (fields, arrival, words) in [
                ("error=access_denied", LoginRequest.Arrival.refusal("access_denied"), "refused"),
                ("code=c1", .code("c1"), "has what it needs"),
            ] {
                let process = try browser(
                    curl, "-o", root + "/page",
                    "\(request.redirect)?\(fields)&state=\(request.state)")
                #expect(listener.wait(for: request, milliseconds: 60_000) == arrival)
                process.waitUntilExit()
                let page = try String(contentsOfFile: root + "/page", encoding: .utf8)
                #expect(page.contains(words))
                #expect(page.contains("refused") != page.contains("what it needs"))
            }
        }
    }

    /// - Returns: a connection to the port that says nothing.
    private func visitor(_ port: UInt16) throws -> FileDescriptor {
        let visitor = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(visitor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected)
        return visitor
    }

    @Test func `is held up by nobody who says nothing`() throws {
        guard let curl = Tool.path("curl", to: "come back from a login") else { return }
        let listener = try LoginListener(port: 0)
        let request = try #require(listener.request(Self.claim(tokenURL: "http://127.0.0.1:1/")))
        let silent = try (0..<2).map { _ in try visitor(listener.port) }
        let process = try browser(curl, "\(request.redirect)?code=c1&state=\(request.state)")
        let begin = MonotonicClock.milliseconds()
        #expect(
            listener.wait(for: request, milliseconds: 60_000, patience: 300) == .code("c1"))
        #expect(MonotonicClock.milliseconds() >= begin + 600)
        process.waitUntilExit()
        withExtendedLifetime(silent) {}
        #expect(Limits.loginVisitorMilliseconds == 5_000)
    }

    @Test func `takes no more of a visitor than a login needs`() throws {
        guard let curl = Tool.path("curl", to: "come back from a login") else { return }
        let listener = try LoginListener(port: 0)
        let request = try #require(listener.request(Self.claim(tokenURL: "http://127.0.0.1:1/")))
        func address(_ code: String) -> String {
            "\(request.redirect)?code=\(code)&state=\(request.state)"
        }
        // It brings what was asked for, in a head that is too long.
        let filling = String(repeating: "a", count: Limits.loginBytesMax + 32 * 1024)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c",
            "\(curl) -s -q -H 'X: \(filling)' '\(address("c1"))'; "
                + "\(curl) -s -q '\(address("c2"))'",
        ]
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        #expect(listener.wait(for: request, milliseconds: 60_000) == .code("c2"))
        shell.waitUntilExit()
    }

    @Test func `takes a token that is posted`() throws {
        guard let curl = Tool.path("curl", to: "come back from a login") else { return }
        let listener = try LoginListener(port: 0)
        let request = try #require(listener.request(Self.claim(tokenURL: nil)))
        let token = String(repeating: "a", count: 12_000) + ".b.c"
        let process = try browser(
            curl, "-d", "id_token=\(token)&state=\(request.state)", request.redirect)
        #expect(listener.wait(for: request, milliseconds: 60_000) == .token(token))
        process.waitUntilExit()
    }

    @Test func `waits no longer than it should, and is one that is free`() throws {
        let listener = try LoginListener(port: 0)
        let request = try #require(listener.request(Self.claim(tokenURL: nil)))
        #expect(listener.wait(for: request, milliseconds: 50) == nil)
        #expect(throws: SystemError.self) { try LoginListener(port: listener.port) }
        #expect(listener.request(["client_id": "wsx", "nonce": "n"]) == nil)
    }

    @Test func `exchanges a code at a token endpoint, with nothing secret in an argument`() throws {
        guard let python = Tool.path("python3", to: "be a token endpoint"),
            Tool.path("curl", to: "exchange a code") != nil
        else { return }
        try withTemporaryFolder { root in
            let endpoint = try TokenEndpoint(python, in: root, answering: #"{"id_token":"a.b.c"}"#)
            defer { endpoint.end() }
            let listener = try LoginListener(port: 0)
            let request = try #require(listener.request(Self.claim(tokenURL: endpoint.address)))
            let code = "c/that-no-argument-has-5b1e"
            #expect(LoginListener.exchange(code, for: request) == .token("a.b.c"))
            let asked = try endpoint.asked()
            #expect(asked.contains("code=c%2Fthat-no-argument-has-5b1e&"))
            #expect(asked.contains(request.verifier))
            let seen = try endpoint.seen()
            #expect(seen.clients > 0, "curl was looked at while it waited")
            #expect(seen.secrets == 0)
            // More than a token endpoint has to say is nothing.
            let filling = String(repeating: "a", count: Limits.loginBytesMax)
            try endpoint.answer(#"{"id_token":"\#(filling)"}"#)
            #expect(LoginListener.exchange(code, for: request) == nil)
            #expect(asked.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A\(listener.port)%2F"))
        }
        let listener = try LoginListener(port: 0)
        let nowhere = try #require(
            listener.request(Self.claim(tokenURL: "http://127.0.0.1:1/token")))
        #expect(LoginListener.exchange("c1", for: nowhere) == nil)
    }
}

/// A test's token endpoint: it records requests, and answers with the content of a file. Before
/// that it checks that no process's arguments or environment contain the request's secrets.
final class TokenEndpoint {
    /// Where it is.
    let address: String
    private let process: Process
    private let folder: String

    private static let program = """
        import http.server, os, sys, urllib.parse
        folder = sys.argv[1]
        def look(body):
            fields = urllib.parse.parse_qs(body)
            words = [word for name in ('code', 'code_verifier') for word in fields.get(name, [])]
            words += [urllib.parse.quote(word, safe='') for word in words]
            clients = secrets = 0
            for process in filter(str.isdigit, os.listdir('/proc')):
                for name in ('cmdline', 'environ'):
                    try:
                        text = open('/proc/%s/%s' % (process, name), 'rb').read()
                    except OSError:
                        continue
                    clients += text == b'curl\\0--disable\\0--config\\0-\\0'
                    secrets += any(word.encode() in text for word in words)
            open(folder + '/seen', 'w').write('%d %d' % (clients, secrets))
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                open(folder + '/asked', 'wb').write(body)
                look(body.decode())
                answer = open(folder + '/answer', 'rb').read()
                self.send_response(200)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            def log_message(self, *words): pass
        server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
        open(folder + '/port.new', 'w').write(str(server.server_port))
        os.rename(folder + '/port.new', folder + '/port')
        server.serve_forever()
        """

    init(_ python: String, in folder: String, answering answer: String) throws {
        self.folder = folder
        process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", Self.program, folder]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try answer.write(toFile: folder + "/answer", atomically: true, encoding: .utf8)
        try process.run()
        var port: String?
        _ = eventually {
            port = try? String(contentsOfFile: folder + "/port", encoding: .utf8)
            return port != nil
        }
        address = "http://127.0.0.1:\(try #require(port))/token"
    }

    func answer(_ text: String) throws {
        try text.write(toFile: folder + "/answer", atomically: true, encoding: .utf8)
    }

    func asked() throws -> String {
        try String(contentsOfFile: folder + "/asked", encoding: .utf8)
    }

    /// How many processes were curl at the last exchange, and how many showed the code or the verifier.
    func seen() throws -> (clients: Int, secrets: Int) {
        let text = try String(contentsOfFile: folder + "/seen", encoding: .utf8)
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        return (try #require(numbers.first), try #require(numbers.dropFirst().first))
    }

    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
