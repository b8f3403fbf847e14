import CRDTStore
import WorkspaceModel

/// Attestations as people and scripts see them.
extension Queries {
    /// An attestation by a verifier, with the given state.
    func object(
        of word: AttestationBook.Assertion, state: String, in workspace: Workspace
    ) -> AttestationObject {
        var object = AttestationObject(
            id: PublicID.operation(word.id),
            member: core.membership.person(word.said.member, in: workspace),
            kind: Self.word(for: word.said.kind),
            by: core.membership.person(word.author, in: workspace),
            at: Int64(clamping: word.timestamp.milliseconds), state: state)
        object.provider = word.said.provider
        object.value = word.said.proof?.name ?? word.said.proof?.value
        object.until = word.said.proof?.until.map { Int64(clamping: $0) }
        return object
    }

    /// The attestation that an event is about, as it was then.
    ///
    /// - Parameter reference: as in `AttestationReference`.
    /// - Returns: no value and nobody who said it, where that was erased.
    func attestation(
        _ reference: [UInt8]?, arrival: Int64?, in workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let reference = reference.flatMap(AttestationReference.init) else { return .null }
        let stored = try arrival.flatMap { (arrival) throws(StorageError) in
            try store.operations.operation(arrival)
        }
        if let stored, workspace.ownRole ?? .guest <= .member,
            case .attestation(let said)? = try core.keys.content(of: stored, in: workspace),
            let author = workspace.judged.subject(ofGrant: stored.entry.grant)
        {
            let word = AttestationBook.Assertion(said, stored, by: author, isValid: true)
            return object(of: word, state: reference.state, in: workspace).json
        }
        let place = reference.place
        return [
            "id": JSONValue(orNull: stored.map { PublicID.operation($0.place.link.id) }),
            "member": core.membership.person(place.member, in: workspace).json,
            "kind": .string(Self.word(for: place.kind)),
            "provider": JSONValue(orNull: place.provider), "value": .null, "by": .null,
            "at": JSONValue(
                orNull: stored.map { Int64(clamping: $0.entry.timestamp.milliseconds) }),
            "until": .null, "state": .string(reference.state),
        ]
    }

    private static func word(for kind: Attestation.Kind) -> String {
        kind == .email ? "email" : "account"
    }
}
