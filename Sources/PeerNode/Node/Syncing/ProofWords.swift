import CRDTStore
import SyncProtocol

/// Link messages about addresses and accounts that somebody wants verified (PROTOCOL.md, 5.11 and
/// 5.12).
extension Syncing {
    func proofWord(_ message: SyncMessage, on link: PeerLink) throws(StorageError) {
        guard let number = message.workspace, let workspace = workspace(numbered: number, on: link)
        else { return }
        let proofs = core.proofs
        switch message {
        case .proofAsk(_, let ask): try proofs.asked(ask, in: workspace, on: link)
        case .proofAnswer(_, let answer): try proofs.answered(answer, in: workspace, on: link)
        case .accountAsk(_, let ask): try proofs.accounts.asked(ask, in: workspace, on: link)
        case .accountAnswer(_, let answer):
            try proofs.accounts.answered(answer, in: workspace, on: link)
        default: break
        }
    }
}
