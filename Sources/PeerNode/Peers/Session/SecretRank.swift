public import WorkspaceModel

/// Who can know a link secret. Each rank has its own places and key agreements: sending correct
/// first messages costs only hashes, and a former holder of an invite must not use up what members
/// need.
public enum SecretRank: Int, CaseIterable, Sendable {
    /// Members: the secrets created since the last member left or was removed.
    case newest
    /// Also former members, guests, and members who were offline: the secrets created before.
    case older
    /// Holders of an open invite.
    case invite
    /// Holders of an invite that was used up, was revoked or has expired.
    case endedInvite
    /// Anyone who saw the code by which a person links a device.
    case deviceLink

    /// Whether it is a secret of an invite, of which there may be very many.
    var isOfInvite: Bool { self == .invite || self == .endedInvite }

    /// The number of running handshakes with a known hint.
    var placesMax: Int {
        switch self {
        case .newest: Limits.knownHandshakesMax
        case .older, .invite: Limits.knownHandshakesMax / 4
        case .endedInvite, .deviceLink: Limits.knownHandshakesMax / 16
        }
    }

    /// Key agreements a second.
    var agreementsPerSecond: UInt64 {
        let most = UInt64(Limits.strangerAgreementsPerSecondMax)
        return switch self {
        case .newest: most
        case .older, .invite: most / 2
        case .endedInvite, .deviceLink: most / 8
        }
    }
}

/// Whose places and key agreements a first message uses: those of one rank in one workspace.
/// Knowing a secret of one workspace does not take anything from members of another.
public struct SecretShare: Hashable, Sendable {
    /// Who can know the secret.
    public let rank: SecretRank
    /// The workspace; `nil` of what belongs to none.
    public let workspace: WorkspaceID?

    /// The share of `rank` in `workspace`.
    public init(_ rank: SecretRank, in workspace: WorkspaceID? = nil) {
        self.rank = rank
        self.workspace = workspace
    }
}
