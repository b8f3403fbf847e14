import CRDTStore
import WorkspaceModel

/// Writes an assertion that overwrites others, so that it counts (PROTOCOL.md, 3.2).
///
/// One operation overwrites at most `Limits.dependenciesMax` others. Someone who wants an assertion
/// to persist may have made very many concurrent ones: a stolen device, or anyone where everybody
/// may make it. So a command writes as many operations as needed, and refuses before the first
/// where that would be too many.
extension CoreMember {
    /// Writes an assertion until it counts.
    ///
    /// - Parameters:
    ///   - count: how many words that nothing overwrites stand in its way.
    ///   - documents: in how many documents these are.
    ///   - counts: whether the word that was written last counts.
    ///   - word: writes it; `nil` where this device may not.
    /// - Returns: whether this device may write.
    func write(
        over count: Int, in documents: Int = 1,
        until counts: (OperationID) throws(StorageError) -> Bool,
        _ word: () throws(StorageError) -> OperationID?
    ) throws(StorageError) -> Bool {
        // Where it does not count for another reason, it is not said again and again.
        for _ in 0..<(count / Limits.dependenciesMax + documents) {
            guard let made = try word() else { return false }
            if try counts(made) { break }
        }
        return true
    }

    /// Refuses to write over more than `Limits.ownWordsMax` words.
    func refuseOverruled(_ count: Int, isOwn: Bool = true) throws(NodeError) {
        guard count > Limits.ownWordsMax else { return }
        throw isOwn ? .overruledByOwnDevice : .overruledByOthers
    }

    /// How others cite operations.
    func references(to arrivals: [Int64]) throws(StorageError) -> [OperationReference] {
        var references: [OperationReference] = []
        for arrival in arrivals {
            guard let stored = try store.operations.operation(arrival, hasPayload: false) else {
                continue
            }
            references.append(stored.reference)
        }
        return references
    }
}

extension NodeError {
    /// A device in foreign hands has said something so often that it cannot be overwritten.
    static let overruledByOwnDevice = NodeError(
        .conflict, "another of your devices has set this so often that it can no longer change",
        hint: "wsx-node device list", reason: "own.overruled")
    /// The same of what everybody may say.
    static let overruledByOthers = NodeError(
        .conflict, "others have set this so often that you can no longer change it",
        hint: "wsx-node member list", reason: "others.overruled")
}
