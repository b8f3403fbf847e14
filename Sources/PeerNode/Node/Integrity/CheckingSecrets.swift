import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The part of a check that needs the home's key.
extension Integrity {
    /// Counts the keys that the home's key does not open: the disk has changed them, or their
    /// names, and what they open is not displayed. A repair drops them, so that peers are asked for
    /// them again; but not if none opens, because then the home is a different one.
    func countUnopened(
        _ check: Checking, _ object: inout CheckObject
    ) throws(StorageError) {
        var (last, count): (Int64, Int) = (0, 0)
        var unopened: [Int64] = []
        while true {
            let rows = try store.registry.secrets(after: last, limit: 256)
            guard let newest = rows.last else { break }
            last = newest.number
            count += rows.count
            for (number, row) in rows {
                guard var secret = turn.session.vault.open(row.sealed, row.kind, row.id) else {
                    unopened.append(number)
                    continue
                }
                SecretBytes.wipe(&secret)
            }
        }
        guard !unopened.isEmpty else { return }
        let text =
            unopened.count == 1
            ? "1 key cannot be opened" : "\(unopened.count) keys cannot be opened"
        let mayForget = unopened.count < count && mayWrite
        object.add("store", "node.db", text, done: mayForget ? check.done("asked") : nil)
        guard check.repairs, mayForget else { return }
        try write()
        for number in unopened { try store.registry.forgetSecret(number) }
    }
}
