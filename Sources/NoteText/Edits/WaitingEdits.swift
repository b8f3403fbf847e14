import WorkspaceModel

/// Operations of a note that refer to one that is missing.
struct WaitingEdits {
    private struct Item {
        var operation: NoteOperation
        var isValid: Bool
        let byteCount: Int
    }

    private var items: [MessageKey: Item] = [:]
    /// The operations that wait for one. Each waits for one at a time.
    private var waiters: [MessageKey: [MessageKey]] = [:]
    private var byteCount = 0

    var isEmpty: Bool { items.isEmpty }
    /// The waiting operations, ascending.
    var keys: [MessageKey] { items.keys.sorted() }
    /// The missing operations, ascending.
    var missing: [MessageKey] { waiters.keys.sorted() }

    /// The waiting operation with this key.
    func operation(_ key: MessageKey) -> NoteOperation? { items[key]?.operation }

    /// Stores an operation until `missing` arrives.
    ///
    /// - Returns: whether there was room.
    mutating func add(_ operation: NoteOperation, isValid: Bool, for missing: MessageKey) -> Bool {
        let size = operation.edit.weight
        guard items.count < NoteLimits.waitingMax,
            byteCount + size <= NoteLimits.waitingBytesMax
        else { return false }
        items[operation.key] = Item(operation: operation, isValid: isValid, byteCount: size)
        waiters[missing, default: []].append(operation.key)
        byteCount += size
        return true
    }

    /// Sets the verdict of a waiting operation.
    ///
    /// - Returns: whether it waits.
    mutating func judge(_ key: MessageKey, isValid: Bool) -> Bool {
        guard items[key] != nil else { return false }
        items[key]?.isValid = isValid
        return true
    }

    /// Removes a waiting operation that was erased.
    mutating func remove(_ key: MessageKey) {
        guard let item = items.removeValue(forKey: key) else { return }
        byteCount -= item.byteCount
        for missing in item.operation.edit.sources {
            guard var others = waiters[missing], let index = others.firstIndex(of: key) else {
                continue
            }
            others.remove(at: index)
            waiters[missing] = others.isEmpty ? nil : others
            return
        }
    }

    /// Removes and returns the operations that waited for one, in order of arrival.
    mutating func release(_ key: MessageKey) -> [(operation: NoteOperation, isValid: Bool)] {
        guard let keys = waiters.removeValue(forKey: key) else { return [] }
        return keys.compactMap { key in
            guard let item = items.removeValue(forKey: key) else { return nil }
            byteCount -= item.byteCount
            return (item.operation, item.isValid)
        }
    }
}

extension NoteEdit {
    /// The approximate bytes that it takes in memory.
    var weight: Int {
        var sum = 64 + 16 * sources.count
        forEachStep { step in
            switch step {
            case .insert(_, _, let text, _): sum += 64 + text.count
            case .mark(_, _, .link(let address)): sum += 64 + (address?.utf8.count ?? 0)
            default: sum += 64
            }
        }
        return sum
    }
}
