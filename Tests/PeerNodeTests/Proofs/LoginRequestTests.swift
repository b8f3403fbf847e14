import Testing
import WorkspaceModel

@testable import PeerNode

/// The texts of a login in a browser: the address, the redirect, and the exchange of a code.
struct `A login in a browser` {
    private static func request(exchange: String? = "https://id.example.org/token") -> LoginRequest?
    {
        LoginRequest(
            [
                "login_url": "https://id.example.org/login", "client_id": "w s/x", "nonce": "N-0",
                "token_url": JSONValue(orNull: exchange),
            ], port: 8_976, state: "S1", verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            sha256: { _ in [0xff, 0xfe] })
    }

    private static func bytes(_ lines: String..., body: String = "") -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    @Test func `begins with an address that asks for a code, or for a token`() throws {
        let code = try #require(Self.request()).address
        #expect(
            code == "https://id.example.org/login?client_id=w%20s%2Fx"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2F&scope=openid%20profile%20email"
                + "&state=S1&nonce=N-0&response_type=code&code_challenge=__4"
                + "&code_challenge_method=S256")
        let token = try #require(Self.request(exchange: nil)).address
        #expect(token.hasSuffix("&response_type=id_token&response_mode=form_post"))
        #expect(!token.contains("challenge"))
        #expect(
            LoginRequest(["client_id": "x", "nonce": "n"], port: 1, state: "", verifier: "") { $0 }
                == nil)
    }

    @Test(arguments: [
        ("GET /?code=c%2B1&state=S1 HTTP/1.1", LoginRequest.Arrival.code("c+1")),
        ("GET /?state=S1&error=access_denied HTTP/1.1", .refusal("access_denied")),
        ("GET /?code=c1&state=S2 HTTP/1.1", .nothing), ("GET /?code=c1 HTTP/1.1", .nothing),
        ("GET /?code=c1&state=S1&state=S1 HTTP/1.1", .nothing),
        ("GET /?code=c1&code=c2&state=S1 HTTP/1.1", .nothing),
        ("GET /?code=%zz&state=S1 HTTP/1.1", .nothing), ("GET /favicon.ico HTTP/1.1", .nothing),
        ("GET /?code=%+f&state=S1 HTTP/1.1", .nothing),
        ("GET /?code=%4&state=S1 HTTP/1.1", .nothing),
        ("GET /?code=%4a%4A%41&state=S1 HTTP/1.1", .code("JJA")),
        ("GET /x?code=c1&state=S1 HTTP/1.1", .nothing), ("GET /", .nothing), ("", .nothing),
        ("HEAD /?code=c1&state=S1 HTTP/1.1", .nothing),
        ("GET /?id_token=a.b.c&state=S1 HTTP/1.1", .nothing),
    ])
    func `takes what it asked for, with its own state`(
        _ line: String, _ arrival: LoginRequest.Arrival
    ) throws {
        #expect(try #require(Self.request()).arrival(Self.bytes(line, "Host: x")) == arrival)
    }

    @Test func `takes a token that a page posts`() throws {
        let request = try #require(Self.request(exchange: nil))
        let post = Self.bytes(
            "POST / HTTP/1.1", "Content-Length: 27", body: "id_token=a.b.c&state=S1&x=y")
        #expect(request.arrival(post) == .token("a.b.c"))
        #expect(LoginRequest.length(of: post) == post.count)
        #expect(request.arrival(Self.bytes("GET /?code=c&state=S1 HTTP/1.1")) == .nothing)
        #expect(LoginRequest.length(of: Array("POST / HTTP/1.1\r\n".utf8)) == nil)
        #expect(LoginRequest.length(of: Self.bytes("GET / HTTP/1.1")) == 18)
        #expect(
            LoginRequest.length(of: Self.bytes("GET / HTTP/1.1", "content-length: 9999999999"))
                == 46)
    }

    @Test func `exchanges its code by settings for curl, which nobody sees`() throws {
        let settings = try #require(Self.request()?.curlSettings(for: "c\"\\\n1"))
        let lines = settings.split(separator: "\n").map(String.init)
        #expect(lines.first == #"url = "https://id.example.org/token""#)
        #expect(lines.contains(#"proto = "=https""#) && !settings.contains("noproxy"))
        let local = try #require(Self.request(exchange: "http://localhost/t"))
        let plain = try #require(local.curlSettings(for: "c"))
        #expect(plain.contains("proto = \"=http\"\nd") && plain.contains("noproxy = \"*\"\n"))
        let data = try #require(lines.first { $0.hasPrefix("data-raw") })
        #expect(
            data.contains("code=c%22%5C%0A1&") && data.contains("grant_type=authorization_code"))
        #expect(data.contains("code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\""))
        #expect(Self.request(exchange: nil)?.curlSettings(for: "c") == nil)
    }

    @Test(arguments: [
        (#"{"id_token":"a.b.c","access_token":"x"}"#, LoginRequest.Arrival.token("a.b.c")),
        (#"{"error":"invalid_grant"}"#, .refusal("invalid_grant")), ("{}", .nothing),
        ("<html>", .nothing), ("", .nothing), (#"{"id_token":1}"#, .nothing),
    ])
    func `reads the answer of a token endpoint`(
        _ answer: String, _ arrival: LoginRequest.Arrival
    ) {
        #expect(LoginRequest.token(ofAnswer: Array(answer.utf8)) == arrival)
    }
}
