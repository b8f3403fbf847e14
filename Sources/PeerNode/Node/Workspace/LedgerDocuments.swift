import WorkspaceModel

/// Which documents are ledgers, according to the authority document. Nodes that cannot read them
/// can tell too; whether they are valid is a separate question.
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
