import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Whether a recovery phrase gives access, and which one this home uses in further workspaces.
extension Memberships {
    /// The key of the value that holds the phrase's seed until its words were shown; no backup
    /// contains it.
    static let unshownPhrase = "recovery.seed"
    /// The key of the value that records that the words were shown.
    static let shownName = "recovery.shown"

    /// `none`, `unshown`, `shown`, `lost`: the node crashed between making the keys and storing the
    /// phrase; or `elsewhere`: this is a linked device, and a phrase of the person's first device
    /// gives access.
    var recoveryState: String {
        guard enteringHome?.phrase != nil else { return hasPhraseElsewhere ? "elsewhere" : "none" }
        if (try? store.registry.value(Self.unshownPhrase)) != nil { return "unshown" }
        return (try? store.registry.value(Self.shownName)) != nil ? "shown" : "lost"
    }

    /// Whether a recovery device that another home made gives access to every workspace.
    var hasPhraseElsewhere: Bool {
        let own = workspaces.values.filter { $0.standing == .member && $0.ownRole != nil }
        return !own.isEmpty && own.allSatisfy(hasPhrase)
    }

    /// Whether a phrase of this person is registered in the workspace and was not revoked.
    func hasPhrase(in workspace: Workspace) -> Bool {
        workspace.recoveryDevices.contains {
            workspace.judged.evaluator.bestGrant(of: $0, as: workspace.member) != nil
        }
    }

    /// This home as it enters further workspaces: without a phrase that the person has replaced on
    /// any device.
    var enteringHome: HomeIdentity? {
        guard var home else { return nil }
        guard let device = home.phrase?.device else { return home }
        home.bringsPhrase = !workspaces.values.contains { workspace in
            workspace.judged.evaluator.isBound(device, to: workspace.member)
                && workspace.judged.evaluator.isBarred(device)
        }
        return home
    }
}
