import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// Verified addresses in the output for people.
struct `An address that is proved, for people` {
    private static let joon: JSONValue = ["id": "u_2", "name": "Joon"]

    private func rendering(isPlain: Bool = false) -> Rendering {
        var globals = GlobalFlags()
        globals.plain = isPlain
        globals.color = "never"
        return Rendering(globals: globals, environment: [:], io: MemoryIO())
    }

    @Test(arguments: [
        ("ok", nil, "nobody in this workspace shows m@example.org\n"),
        ("ok", joon, "m@example.org is yours\n"),
        ("taken_here", joon, "m@example.org is used by Joon\n"),
        ("unknown", nil, "this node cannot say who uses m@example.org"),
    ])
    func `is somebody's or nobody's`(_ state: String, _ member: JSONValue?, _ words: String) {
        let check: JSONValue = [
            "email": "m@example.org", "state": .string(state), "member": member ?? .null,
        ]
        let text = rendering().text(check, of: "identity.email.check")
        #expect(text.hasPrefix(words), "\(text)")
    }

    @Test func `comes this far, with what to do next`() {
        var claim: JSONObject = [
            "email": "m@example.org", "state": "sent", "verifier": Self.joon,
            "expires_at": 1_795_190_000_000,
        ]
        let sent = rendering().text(.object(claim), of: "email.verify.send")
        #expect(sent.hasPrefix("Joon sent a code to m@example.org; it works until "))
        #expect(sent.hasSuffix("  next: wsx-node identity email confirm CODE\n"))
        claim["state"] = "verified"
        #expect(
            rendering().text(.object(claim), of: "email.verify.confirm")
                == "m@example.org is verified by Joon\n")
        claim["state"] = "pending"
        #expect(
            rendering().text(.object(claim), of: "email.verify.resend")
                == "waiting for a verifier to send a code to m@example.org\n")
    }

    @Test func `is marked in a profile with who says so`() {
        var profile: JSONObject = [
            "id": "u_1", "name": "Mina", "self": false, "email": "m@example.org", "visible": .null,
            "presence": .null, "email_verified": .null,
        ]
        let bare = rendering().text(.object(profile), of: "profile.of")
        #expect(bare.contains("m@example.org\n"))
        profile["email_verified"] = ["by": Self.joon, "at": 1_795_190_000_000]
        let marked = rendering().text(.object(profile), of: "profile.of")
        #expect(marked.contains("m@example.org  (verified by Joon, "), "\(marked)")
        profile["email_verified"] = .null
        for (state, words) in [
            ("verifier_gone", "Joon is no verifier any more"),
            ("taken", "someone else had it first"), ("expired", "expired"),
        ] {
            profile["email_unverified"] = [
                "state": .string(state), "by": Self.joon, "at": 1_795_190_000_000,
            ]
            let lost = rendering().text(.object(profile), of: "profile.of")
            #expect(lost.contains("m@example.org  (not verified: \(words))\n"), "\(lost)")
        }
    }

    @Test(arguments: [
        ("valid", "yes"), ("withdrawn", "withdrawn"),
        ("verifier_gone", "no: Joon is no verifier any more"),
        ("taken", "no: someone else had it first"), ("expired", "expired"),
    ])
    func `counts, or says why it does not`(_ state: String, _ words: String) {
        let list: JSONValue = [
            "items": [
                [
                    "id": "o_1", "member": ["id": "u_1", "name": "Mina"], "kind": "email",
                    "provider": .null, "value": "m@example.org", "by": Self.joon,
                    "at": 1_795_190_000_000, "until": .null, "state": .string(state),
                ]
            ], "next": .null,
        ]
        #expect(rendering().text(list, of: "attestation.list").contains(words))
        // Programs get the word of the interface.
        let plain = rendering(isPlain: true).text(list, of: "attestation.list")
        #expect(plain.contains("\t\(state)\t"), "\(plain)")
    }

    @Test(arguments: [
        ("message", "sent to m@example.org as a direct message"),
        ("mail", "mailed to m@example.org"),
        ("none", "give them the link yourself"),
    ])
    func `says where an invite went`(_ delivery: String, _ words: String) {
        let invite: JSONValue = [
            "id": "i_1", "link": "wsx://join/b4qx", "role": "member", "uses": 1,
            "expires_at": 1_795_190_000_000, "channels": [], "approve": false,
            "email": "m@example.org", "delivery": .string(delivery),
        ]
        let text = rendering().text(invite, of: "invite.create")
        #expect(text.contains(words) && text.contains("wsx://join/b4qx"), "\(text)")
    }
}
