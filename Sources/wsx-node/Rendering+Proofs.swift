import PeerNode
import WorkspaceModel

/// Addresses that people prove, as people read them.
extension Rendering {
    /// Whether anybody has an address, and that nobody knows that of everybody.
    func emailCheck(_ check: JSONValue) -> String {
        let email = shown(check["email"])
        switch check["state"] {
        case "taken_here": return "\(email) is used by \(person(check["member"]))\n"
        case "unknown": return "this node cannot say who uses \(email): you are in no workspace\n"
        default:
            guard check["member"]?.isNull != false else { return "\(email) is yours\n" }
            return "nobody here shows \(email)\n  addresses that nobody shows here are not known\n"
        }
    }

    /// How far the proof of an address has come, and what to do next.
    func emailClaim(_ claim: JSONValue) -> String {
        let email = shown(claim["email"])
        switch claim["state"] {
        case "verified":
            return "\(email) is verified by \(person(claim["verifier"]))\n"
        case "sent":
            let end = momentInSentence(claim["expires_at"])
            return "\(person(claim["verifier"])) sent a code to \(email); it works until \(end)\n"
                + hints.text("  next: wsx-node identity email confirm CODE\n")
        default: return "waiting for a verifier to send a code to \(email)\n"
        }
    }

    /// What stands behind an address in a profile.
    func verified(_ person: JSONValue) -> String {
        guard let mark = person["email_verified"], !mark.isNull else { return "" }
        let day = momentInSentence(mark["at"]).split(separator: " ").dropLast()
            .joined(separator: " ")
        return "  (verified by \(self.person(mark["by"])), \(day))"
    }

    /// Where the link of an invite went.
    func delivery(_ invite: JSONValue) -> String {
        guard let email = invite["email"]?.stringValue else { return "" }
        switch invite["delivery"] {
        case "message": return "  sent to \(sanitised(email)) as a direct message\n"
        case "mail": return "  mailed to \(sanitised(email))\n"
        default:
            return "  nobody you know has verified \(sanitised(email)), and no letter was sent: "
                + "give them the link yourself\n"
        }
    }

    /// Why a verification counts, or does not.
    func attestationWords(_ attestation: JSONValue) -> String {
        switch attestation["state"] {
        case "valid": "yes"
        case "withdrawn": "withdrawn"
        case "verifier_gone": "no: \(person(attestation["by"])) may not verify any more"
        case "taken": "no: someone else had it first"
        case "expired": "expired"
        default: shown(attestation["state"])
        }
    }
}
