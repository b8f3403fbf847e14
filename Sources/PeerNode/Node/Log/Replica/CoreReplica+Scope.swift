import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The digest of what is in a scope, computed on demand.
final class ScopedDigest {
    var value: WorkspaceDigest?
}

/// What guests are served, and what is accepted from them (PROTOCOL.md, 5.4).
extension CoreReplica {
    var ownDocuments: [DocumentID]? {
        guard let own = room.turn.session.ownDevice, workspace.isGuest(own) else { return nil }
        return room.core.log.namedDocuments(of: workspace)
    }

    var isPeerGuest: Bool { peer.map(workspace.isGuest) ?? false }

    func confined(to scope: SyncScope?) -> CoreReplica {
        guard scope != self.scope else { return self }
        var confined = self
        confined.scope = scope
        confined.part = ScopedDigest()
        return confined
    }

    func serves(_ document: DocumentID) -> Bool {
        guard let scope, !isCommon(document) else { return true }
        guard scope.documents.contains(document), access(to: document) == .insiders else {
            return false
        }
        return isPeerGuest ? isOpen(document) : true
    }

    func takes(_ document: DocumentID) -> Bool {
        guard let scope, !isCommon(document) else { return true }
        guard scope.documents.contains(document) else { return false }
        return access(to: document)?.mayBePrivate ?? true
    }

    func withDigest<Value>(_ body: (inout WorkspaceDigest) -> Value) -> Value {
        guard let scope else { return body(&workspace.held.digest) }
        var digest =
            part.value
            ?? workspace.held.digest.confined(
                to: [workspace.id, workspace.mailboxDocument]
                    + scope.documents.filter { serves($0) })
        defer { part.value = digest }
        return body(&digest)
    }

    private func isCommon(_ document: DocumentID) -> Bool {
        document == workspace.id || document == workspace.mailboxDocument
    }

    private func access(to document: DocumentID) -> DocumentAccess? {
        room.turn.store.operations.document(document, in: workspace.number)?.kind.access
    }

    /// Whether a document that the peer has named may be shown to it. A node that cannot read the
    /// document can only rely on the peer knowing its name; one that can knows who was admitted.
    private func isOpen(_ document: DocumentID) -> Bool {
        guard let known = workspace.sealed.documents[document], known.root != nil else {
            return true
        }
        let members = peer.map { workspace.judged.evaluator.members(of: $0) } ?? []
        return members.contains {
            known.isIn($0) || known.everIn.contains($0)
        }
    }
}

extension Workspace {
    /// Whether a device acts here as a guest's, and as nothing more.
    func isGuest(_ device: DeviceID) -> Bool {
        for known in judged.derived.firstGuests where known.device == device {
            return known.isGuest
        }
        if let known = judged.derived.guests[device] { return known }
        let isGuest =
            judged.evaluator.contentGrant(of: device, leastRole: .guest) != nil
            && judged.evaluator.contentGrant(of: device, leastRole: .member) == nil
        judged.derived.guests[device] = isGuest
        if judged.derived.firstGuests.count < 4 {
            judged.derived.firstGuests.append((device, isGuest))
        }
        return isGuest
    }
}
