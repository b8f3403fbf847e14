/// A verifier's statement that a member has proved an address, or an account elsewhere. Content of
/// the profile document (PROTOCOL.md, 3.9).
///
/// Each kind and each account provider is a separate register per member. An attestation grants no
/// right and no key.
public struct Attestation: Hashable, Sendable {
    /// What was proved. The numbers are signed.
    public enum Kind: UInt64, CaseIterable, Sendable {
        /// That mail to an address reaches them.
        case email = 1
        /// That they can log in somewhere else.
        case account = 2
    }

    /// How it was proved. The numbers are signed.
    public enum Way: UInt64, Sendable {
        /// A code mailed to the address.
        case letter = 1
        /// A token signed by the account's provider.
        case token = 2
    }

    /// The content of a proof.
    public struct Proof: Hashable, Sendable {
        /// An address as `ProfileText` keeps it, or 64 hexadecimal digits that stand for the account.
        public let value: String
        /// How it was proved.
        public let way: Way
        /// The account's display name, 1 to `Limits.attestedNameBytesMax` bytes without NUL.
        public let name: String?
        /// When it expires, milliseconds since 1970; `nil` for never.
        public let until: UInt64?

        /// A proof with the given fields.
        public init(_ value: String, by way: Way, name: String? = nil, until: UInt64? = nil) {
            (self.value, self.way, self.name, self.until) = (value, way, name, until)
        }
    }

    /// The member.
    public let member: MemberID
    /// What was proved.
    public let kind: Kind
    /// The provider's name in this workspace, 1 to `Limits.attestedProviderBytesMax` bytes without
    /// NUL. Addresses have none.
    public let provider: String?
    /// The proof; `nil` withdraws it.
    public let proof: Proof?

    /// States that `member` has proved something, or withdraws that.
    public init(_ member: MemberID, _ kind: Kind, provider: String? = nil, _ proof: Proof?) {
        (self.member, self.kind, self.provider, self.proof) = (member, kind, provider, proof)
    }
}

extension Attestation {
    /// The type of content.
    static let type: UInt64 = 19

    var encoded: [UInt8] {
        var fields = FieldWriter(type: Self.type)
        fields.field(1) { $0.byteString(member) }
        fields.field(2) { $0.uint(kind.rawValue) }
        fields.optional(3, provider) { $0.text($1) }
        if let proof {
            fields.field(4) { $0.text(proof.value) }
            fields.field(5) { $0.uint(proof.way.rawValue) }
            fields.optional(6, proof.name) { $0.text($1) }
            fields.optional(7, proof.until) { $0.uint($1) }
        }
        return fields.bytes
    }

    init(_ fields: inout FieldReader) throws(Malformed) {
        let start = fields.decoder.position
        let member: MemberID = try fields.required(1) { (d) throws(Malformed) in
            try d.identifier16()
        }
        let number = try fields.required(2) { (d) throws(Malformed) in try d.uint() }
        let provider = try Self.text(3, Limits.attestedProviderBytesMax, &fields)
        guard let kind = Kind(rawValue: number), (provider == nil) == (kind == .email) else {
            throw Malformed(.outOfRange, at: start)
        }
        let value = try Self.text(4, Limits.attestedValueBytesMax, &fields)
        let way = try fields.optional(5) { (d) throws(Malformed) in try d.uint() }
        let name = try Self.text(6, Limits.attestedNameBytesMax, &fields)
        let until = try fields.optional(7) { (d) throws(Malformed) in try d.uint() }
        guard let value, let way else {
            // A withdrawal has no other fields.
            guard value == nil, way == nil, name == nil, until == nil else {
                throw Malformed(.wrongKeys, at: start)
            }
            self.init(member, kind, provider: provider, nil)
            return
        }
        guard let way = Way(rawValue: way), Self.isValue(value, of: kind),
            name == nil || kind == .account
        else { throw Malformed(.outOfRange, at: start) }
        self.init(
            member, kind, provider: provider, Proof(value, by: way, name: name, until: until))
    }

    /// Whether a value is in canonical form, so that equal values are equal bytes.
    private static func isValue(_ value: String, of kind: Kind) -> Bool {
        switch kind {
        case .email:
            do throws(ProfileText.InvalidForm) {
                return try ProfileText.checked(value, for: .email) == value
            } catch { return false }
        case .account:
            return value.utf8.count == 64
                && value.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
                }
        }
    }

    private static func text(
        _ key: UInt64, _ maxBytes: Int, _ fields: inout FieldReader
    ) throws(Malformed) -> String? {
        let start = fields.decoder.position
        let text = try fields.optional(key) { (d) throws(Malformed) in
            try d.text(maxBytes: maxBytes)
        }
        guard text?.isEmpty != true, text?.hasNUL != true else {
            throw Malformed(.badText, at: start)
        }
        return text
    }
}
