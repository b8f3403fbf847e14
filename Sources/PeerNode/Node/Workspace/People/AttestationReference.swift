import WorkspaceModel

/// The part of an attestation that an event keeps beside the operation, which may be erased: whose
/// it is, about what, and its state then.
struct AttestationReference: Equatable {
    let place: AttestationBook.Place
    /// As in `AttestationObject`.
    let state: String

    init(_ place: AttestationBook.Place, state: String) {
        (self.place, self.state) = (place, state)
    }

    /// Member (16 bytes), kind (1), state, NUL, provider.
    var bytes: [UInt8] {
        place.member.bytes + [UInt8(truncatingIfNeeded: place.kind.rawValue)] + Array(state.utf8)
            + [0] + Array((place.provider ?? "").utf8)
    }

    /// - Returns: `nil` for anything else.
    init?(_ bytes: [UInt8]) {
        guard let member = MemberID(untrusted: Array(bytes.prefix(16))),
            let kind = bytes.dropFirst(16).first.flatMap({ Attestation.Kind(rawValue: UInt64($0)) })
        else { return nil }
        let parts = bytes.dropFirst(17).split(
            separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count == 2,
            let state = String(validating: first, as: UTF8.self),
            let provider = String(validating: last, as: UTF8.self)
        else { return nil }
        self.init(.init(member, kind, kind == .account ? provider : nil), state: state)
    }
}
