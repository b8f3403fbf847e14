import WorkspaceModel

/// The current values of the attestation registers.
struct AttestationFindings {
    let found: [AttestationBook.Place: AttestationBook.Finding]
    /// The members that values belong to.
    private let holders: [AttestationBook.Claim: MemberID]

    static let none = AttestationFindings([:])

    init(_ found: [AttestationBook.Place: AttestationBook.Finding]) {
        self.found = found
        var holders: [AttestationBook.Claim: MemberID] = [:]
        for finding in found.values where finding.state == .valid {
            guard let claim = AttestationBook.Claim(of: finding.assertion.said) else { continue }
            holders[claim] = finding.assertion.said.member
        }
        self.holders = holders
    }

    /// The member that an address is attested for.
    func holder(ofEmail address: String) -> MemberID? {
        holder(of: .init(kind: .email, provider: nil, value: address))
    }

    /// For whom an address is attested, and that is not over at a time, milliseconds since 1970.
    func verifiedHolder(ofEmail address: String, at wall: UInt64) -> MemberID? {
        guard let holder = holder(ofEmail: address), let assertion = valid(.init(holder, .email)),
            assertion.said.proof?.until.map({ $0 > wall }) ?? true
        else { return nil }
        return holder
    }

    /// Whether the assertion of somebody's register says an address, also where it does not count
    /// now.
    func says(_ address: String, of member: MemberID) -> Bool {
        guard let finding = found[.init(member, .email)], !finding.heads.isEmpty else {
            return false
        }
        return finding.assertion.said.proof?.value == address
    }

    /// The member that something is attested for.
    func holder(of claim: AttestationBook.Claim) -> MemberID? { holders[claim] }

    /// The assertion that counts in a register.
    func valid(_ place: AttestationBook.Place) -> AttestationBook.Assertion? {
        found[place].flatMap { $0.state == .valid ? $0.assertion : nil }
    }
}

extension AttestationBook.Finding {
    /// The assertion of the interface for what it says at a time, milliseconds since 1970.
    func state(at wall: UInt64) -> String {
        switch state {
        case .valid: assertion.said.proof?.until.map { $0 <= wall } ?? false ? "expired" : "valid"
        case .withdrawn: "withdrawn"
        case .verifierGone: "verifier_gone"
        case .taken: "taken"
        }
    }
}
