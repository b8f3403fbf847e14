import CRDTStore
import WorkspaceModel

/// Stored content of a private document that no key here opens, indexed by the key that it names:
/// so a new key costs what it opens, however long the document is. Every member can send keys, and
/// write under any.
///
/// It takes eight bytes for an operation that takes hundreds on the disk, and is built only when
/// the first key arrives.
struct SealedContent {
    /// Arrival numbers; `nil` until all that is stored was gone through.
    private var arrivals: [KeyID: [Int64]]?

    var isRead: Bool { arrivals != nil }

    /// Takes over what is stored, which is gone through once.
    mutating func begin(_ stored: [(arrival: Int64, key: KeyID)], unless isOpen: (KeyID) -> Bool) {
        arrivals = [:]
        for item in stored where !isOpen(item.key) { note(item.arrival, under: item.key) }
    }

    /// Records an operation that has arrived and that no key opens.
    mutating func note(_ arrival: Int64, under key: KeyID) {
        arrivals?[key, default: []].append(arrival)
    }

    /// Takes out what these keys open, in the order of arrival.
    mutating func take(_ keys: some Sequence<KeyID>) -> [Int64] {
        guard arrivals?.isEmpty == false else { return [] }
        var taken: [Int64] = []
        for key in keys { taken += arrivals?.removeValue(forKey: key) ?? [] }
        return taken.sorted()
    }
}
