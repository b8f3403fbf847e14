import WorkspaceModel

/// Which documents are ledgers, as the authority document says it. Everybody can tell that, also who cannot
/// read them, and whether they count is another matter.
extension Workspace {
    /// The type of document that a ledger is (PROTOCOL.md, 3.1).
    static let ledgerType: UInt64 = 2

    /// Whether a document was made as a ledger.
    func isLedger(_ document: DocumentID) -> Bool {
        guard
            case .createDocument(Self.ledgerType, _)? =
                authority[OperationID(sameBytesAs: document)]?.payload
        else { return false }
        return true
    }
}
