import Testing
import WorkspaceModel

@testable import PeerNode

/// The objects for linked accounts, byte for byte.
struct `Objects about accounts` {
    private static let joon = PersonObject(id: "u_1", name: "Joon")

    @Test func `have the fields of the interface`() {
        #expect(
            AccountProviderObject(name: "lab", issuer: "https://a.b", client: "c").json.text
                == """
                {"id":"lab","name":"lab","issuer":"https://a.b","client_id":"c","jwks":null,\
                "login_url":null,"token_url":null}
                """)
        var claim = AccountClaimObject(provider: "lab", state: "verified")
        claim.verifier = Self.joon
        #expect(
            claim.json.text == """
                {"id":"lab","provider":"lab","state":"verified","nonce":null,"issuer":null,\
                "client_id":null,"login_url":null,"token_url":null,\
                "verifier":{"id":"u_1","name":"Joon"},"expires_at":null}
                """)
    }

    @Test func `are in a profile where there are some`() {
        var profile = ProfileObject(id: "u_2", workspace: "w_1", name: "Mina")
        #expect(profile.json["accounts"] == nil)
        profile.accounts = [
            AccountMark(
                provider: "lab", name: nil, verified: VerifiedMark(by: Self.joon, at: 7))
        ]
        #expect(
            profile.json["accounts"]?.text == """
                [{"provider":"lab","name":null,"by":{"id":"u_1","name":"Joon"},"at":7}]
                """)
    }
}
