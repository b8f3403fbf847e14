public import WorkspaceModel

/// Who can know a secret under which links are opened. Each rank has places and key agreements of its
/// own: to say first messages that are right costs nobody but hashes, and whoever ever held an invite
/// must not use up what members need.
public enum SecretRank: Int, CaseIterable, Sendable {
    /// Members: what was made since the last one left or was removed.
    case newest
    /// Also those who have left or were removed, guests, and who was away: what was made before.
    case older
    /// Whoever was given an invite that is open.
    case invite
    /// Whoever ever was given one that was used up, revoked or has expired.
    case endedInvite
    /// Whoever saw the code with which a person takes up a device.
    case deviceLink

    /// Whether it is a secret of an invite, of which there may be very many.
    var isOfInvite: Bool { self == .invite || self == .endedInvite }

    /// Handshakes under way of those whose hint is known.
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

/// Whose places and key agreements a first message takes: those of one rank in one workspace. What
/// somebody knows of one workspace takes nothing of what members of another have.
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
