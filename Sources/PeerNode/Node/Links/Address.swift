import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The address of a workspace: an invite that is valid as long as the policy `join` allows it, and
/// that every member can show (PROTOCOL.md, 5.6).
extension Links {
    /// The link of the address, or `nil` while the policy is closed or the address used up.
    func address(of workspace: Workspace) -> String? {
        openAddresses(of: workspace).last.flatMap {
            core.membership.link(ofInvite: $0, in: workspace)
        }
    }

    /// The addresses by which people can join now, the newest last.
    func openAddresses(of workspace: Workspace) -> [OperationID] {
        addresses(of: workspace).filter { id in
            guard case .invite(let invite)? = workspace.authority[id]?.payload else { return false }
            let used = workspace.invites.used[id] ?? 0
            return workspace.isServed(invite) && invite.expires >= time.wall
                && UInt64(used) < invite.maximum
        }
    }

    /// All addresses that were not revoked, also those that the policy no longer serves.
    func addresses(of workspace: Workspace) -> [OperationID] {
        let made = workspace.invites.addresses
        turn.tally.noteAddressLooks(made.count)
        return made.filter { !core.membership.isRevoked($0, in: workspace) }.sorted { left, right in
            let lamports = (
                workspace.judged.lamport(of: left) ?? 0,
                workspace.judged.lamport(of: right) ?? 0
            )
            return (lamports.0, left) < (lamports.1, right)
        }
    }

    /// Makes an address for a policy that lets people in or ask.
    ///
    /// - Returns: whether this device may.
    func makeAddress(
        for rule: JoinRule, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let secret = InviteSecret(using: environment.random)
        let expires = time.wall &+ Limits.addressMillisecondsMax
        let made = try core.log.authorAuthority(in: workspace) { authoring in
            .invite(
                .init(
                    role: .member, maximum: Limits.inviteUsesMax, expires: expires,
                    publicKey: secret.publicKey.bytes, approve: rule == .request, documents: [],
                    psk: authoring.sealed(secret.exposedSeed(), field: 7), policy: nil))
        }
        return made != nil
    }
}
