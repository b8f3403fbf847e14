public import WorkspaceModel

/// What is dialled: a known device, or an address where one is said to be.
public enum PeerName: Hashable, Comparable, Sendable {
    /// A device; it may move, and it proves itself in the handshake.
    case device(DeviceID)
    /// An address whose device is unknown: `peer add`, a beacon, an invite's hint.
    case address(PeerAddress)

    /// Devices first, in the order of their keys.
    public static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.device(let left), .device(let right)): left < right
        case (.address(let left), .address(let right)): left < right
        case (.device, .address): true
        case (.address, .device): false
        }
    }
}

/// An address of a peer and its source.
public struct KnownAddress: Hashable, Sendable {
    /// Why an address is believed, strongest first.
    public enum Source: UInt8, Comparable, Sendable {
        /// Somebody typed it. Only somebody's word removes it.
        case manual = 0
        /// A link to it succeeded once.
        case remembered = 1
        /// A record, a beacon or a hint told it.
        case learnt = 2

        /// Stronger first.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The address.
    public let address: PeerAddress
    /// Why it is believed.
    public var source: Source
    /// When it was last told or reached, in wall milliseconds.
    public var freshness: UInt64

    /// An address with its origin.
    public init(_ address: PeerAddress, source: Source, freshness: UInt64) {
        self.address = address
        self.source = source
        self.freshness = freshness
    }
}

/// The addresses of one peer, best first: at most `Limits.addressesPerDeviceMax`. The worst is
/// dropped, but a typed address never makes room for one that was heard.
struct AddressList: Equatable, Sendable {
    private(set) var entries: [KnownAddress] = []

    /// Adds an address, or strengthens and refreshes it. Returns whether it is new.
    mutating func add(_ known: KnownAddress) -> Bool {
        if let index = entries.firstIndex(where: { $0.address == known.address }) {
            entries[index].source = min(entries[index].source, known.source)
            entries[index].freshness = max(entries[index].freshness, known.freshness)
            sort()
            return false
        }
        entries.append(known)
        sort()
        if entries.count > Limits.addressesPerDeviceMax { entries.removeLast() }
        return entries.contains { $0.address == known.address }
    }

    /// Removes what `isGone` says.
    mutating func remove(where isGone: (KnownAddress) -> Bool) {
        entries.removeAll(where: isGone)
    }

    private mutating func sort() {
        entries.sort { left, right in
            if left.source != right.source { return left.source < right.source }
            if left.freshness != right.freshness { return left.freshness > right.freshness }
            return left.address < right.address
        }
    }
}
