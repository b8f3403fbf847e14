import PeerNode
import WorkspaceModel

/// Verified addresses and accounts, for people.
extension Rendering {
    /// Whether anybody has an address, and that not everybody's is known.
    func emailCheck(_ check: JSONValue) -> String {
        let email = shown(check["email"])
        switch check["state"] {
        case "taken_here": return "\(email) is used by \(person(check["member"]))\n"
        case "unknown": return "this node cannot say who uses \(email): you are in no workspace\n"
        default:
            guard check["member"]?.isNull != false else { return "\(email) is yours\n" }
            return "nobody in this workspace shows \(email)\n  others may still use it\n"
        }
    }

    /// The progress of an address's verification, and the next step.
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

    /// The progress of linking an account, and the next step.
    func accountClaim(_ claim: JSONValue) -> String {
        let provider = shown(claim["provider"])
        guard claim["state"] != "verified" else {
            return "your account at \(provider) is verified by \(person(claim["verifier"]))\n"
        }
        var text = lines([
            ("issuer", shown(claim["issuer"])), ("client id", shown(claim["client_id"])),
            ("nonce", shown(claim["nonce"])), ("until", moment(claim["expires_at"])),
        ])
        if claim["state"] == "pending" { text += "waiting for a verifier to check your token\n" }
        return text
            + hints.text(
                "  next: log in there for an ID token with this nonce, then\n"
                    + "        wsx-node account link \(provider) --token -\n")
    }

    /// The accounts in a profile, one per row.
    func accounts(_ person: JSONValue) -> [(String, String)] {
        (person["accounts"]?.arrayValue ?? []).map { account in
            let name = account["name"]?.stringValue.map { sanitised($0) + "  " } ?? ""
            return (
                shown(account["provider"]),
                "\(name)(verified by \(self.person(account["by"])), \(day(of: account["at"])))"
            )
        }
    }

    /// The remark behind an address in a profile.
    func verified(_ person: JSONValue) -> String {
        if let lost = person["email_unverified"] { return "  (not verified: \(reason(lost)))" }
        guard let mark = person["email_verified"], !mark.isNull else { return "" }
        return "  (verified by \(self.person(mark["by"])), \(day(of: mark["at"])))"
    }

    private func day(of moment: JSONValue?) -> String {
        momentInSentence(moment).split(separator: " ").dropLast().joined(separator: " ")
    }

    /// How an invite's link was delivered.
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
        case "verifier_gone", "taken": "no: \(reason(attestation))"
        default: shown(attestation["state"])
        }
    }

    /// Why an attestation does not count.
    private func reason(_ mark: JSONValue) -> String {
        switch mark["state"] {
        case "verifier_gone": "\(person(mark["by"])) is no verifier any more"
        case "taken": "someone else had it first"
        default: shown(mark["state"])
        }
    }
}
