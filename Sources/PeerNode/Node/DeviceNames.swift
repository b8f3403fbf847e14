import CRDTStore
import WorkspaceModel

/// What people call devices: for each device and each member who says so the words that count, and
/// the text of the latest, by (hlc, id). What counts for a device is what its own member says, which is
/// looked up when it is shown; so it is a function of the set of operations.
struct DeviceNames {
    /// Whose words about which device.
    struct Place: Hashable {
        let device: DeviceID
        let member: MemberID
    }

    /// One operation that counts: it is valid, and not deleted.
    struct Word: Comparable {
        let timestamp: HybridTimestamp
        let id: OperationID
        /// The number under which it is stored.
        let arrival: Int64

        static func < (left: Self, right: Self) -> Bool {
            (left.timestamp.rawValue, left.id) < (right.timestamp.rawValue, right.id)
        }
    }

    /// Ascending.
    private var words: [Place: [Word]] = [:]
    private var places: [Int64: (place: Place, word: Word)] = [:]
    /// Of the last ones.
    private var texts: [Place: String] = [:]

    /// What a member calls a device.
    func text(at place: Place) -> String? { texts[place] }

    /// The word that is shown.
    func current(_ place: Place) -> Word? { words[place]?.last }

    /// Takes over what somebody calls a device.
    mutating func take(_ word: Word, _ name: String, at place: Place) {
        guard (try? CheckedName.checkWire(name)) != nil, places[word.arrival] == nil else { return }
        places[word.arrival] = (place, word)
        let index = Self.index(of: word, in: words[place] ?? [])
        words[place, default: []].insert(word, at: index)
        if words[place]?.last == word { texts[place] = name }
    }

    /// Forgets an operation that does not count any more.
    ///
    /// - Returns: where something else is shown from now on; `setText` says what.
    mutating func remove(_ arrival: Int64) -> Place? {
        guard let (place, word) = places.removeValue(forKey: arrival) else { return nil }
        let isShown = words[place]?.last == word
        let index = Self.index(of: word, in: words[place] ?? [])
        words[place]?.remove(at: index)
        if words[place]?.isEmpty == true { words[place] = nil }
        guard isShown else { return nil }
        texts[place] = nil
        return place
    }

    mutating func setText(_ name: String?, at place: Place) { texts[place] = name }

    /// Where a word stands, or would.
    private static func index(of word: Word, in words: [Word]) -> Int {
        var (low, high) = (0, words.count)
        while low < high {
            let middle = low + (high - low) / 2
            if words[middle] < word { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Workspace {
    /// What the member whose a device is calls it.
    func deviceName(_ device: DeviceID) -> String? {
        owner(of: device).flatMap { deviceNames.text(at: .init(device: device, member: $0)) }
    }
}

extension NodeCore {
    /// Opens what a device is called now, where what was shown does not count any more.
    func follow(_ place: DeviceNames.Place, in workspace: Workspace) throws(StorageError) {
        guard let word = workspace.deviceNames.current(place),
            let stored = try store.operations.operation(word.arrival)
        else { return }
        tally.noteProfileRead()
        guard case .device(_, let name)? = try content(of: stored, in: workspace) else { return }
        workspace.deviceNames.setText(name, at: place)
    }

    /// Takes the names of devices over from nothing.
    func loadDeviceNames(
        _ found: [(StoredOperation, DeviceID, String)], of workspace: Workspace
    ) throws(StorageError) {
        workspace.deviceNames = DeviceNames()
        for (stored, device, name) in found
        where store.operations.isValid(stored.place.sequence, in: stored.place.branch) {
            guard let author = workspace.evaluator.subject(ofGrant: stored.entry.grant),
                try !isDeleted(stored.place.arrival)
            else { continue }
            workspace.deviceNames.take(
                .init(
                    timestamp: stored.entry.timestamp, id: stored.place.link.id,
                    arrival: stored.place.arrival), name,
                at: .init(device: device, member: author))
        }
    }
}
