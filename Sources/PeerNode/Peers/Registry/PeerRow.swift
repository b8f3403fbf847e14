public import WorkspaceModel

/// The bytes that its owner stores about a peer across restarts.
///
/// - Format: `Enc` map {1 device 32, 2 array of [address text, source, freshness ms], 3 blocked,
///   4 last seen ms or null}; key 1 is null for an address that nobody has answered at yet.
public struct PeerRow: Equatable, Sendable {
    /// The peer that this row describes.
    public let name: PeerName
    /// Its addresses, best first.
    public let addresses: [KnownAddress]
    /// Whether it is kept out.
    public let isBlocked: Bool
    /// When a link to it last stood, in wall milliseconds.
    public let lastSeen: UInt64?

    /// A row of these values.
    public init(name: PeerName, addresses: [KnownAddress], isBlocked: Bool, lastSeen: UInt64?) {
        self.name = name
        self.addresses = addresses
        self.isBlocked = isBlocked
        self.lastSeen = lastSeen
    }

    /// The bytes to keep.
    public var bytes: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 128)
        encoder.map(count: 4)
        encoder.key(1)
        if case .device(let device) = name { encoder.byteString(device) } else { encoder.null() }
        encoder.key(2)
        encoder.array(count: addresses.count)
        for known in addresses {
            encoder.array(count: 3)
            encoder.text(known.address.text)
            encoder.uint(UInt64(known.source.rawValue))
            encoder.uint(known.freshness)
        }
        encoder.key(3)
        encoder.bool(isBlocked)
        encoder.key(4)
        if let lastSeen { encoder.uint(lastSeen) } else { encoder.null() }
        return encoder.bytes
    }

    /// Reads what `bytes` wrote.
    ///
    /// - Throws: what is wrong with bytes that no registry wrote.
    public init(_ bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        guard try decoder.mapCount() == 4 else { throw Malformed(.wrongKeys, at: 0) }
        try Self.expect(1, in: &decoder)
        let device: DeviceID? = try decoder.nullOr { (decoder) throws(Malformed) in
            try decoder.identifier32()
        }
        try Self.expect(2, in: &decoder)
        var addresses: [KnownAddress] = []
        for _ in 0..<(try decoder.arrayCount(max: Limits.addressesPerDeviceMax)) {
            addresses.append(try Self.address(from: &decoder))
        }
        try Self.expect(3, in: &decoder)
        isBlocked = try decoder.bool()
        try Self.expect(4, in: &decoder)
        lastSeen = try decoder.nullOr { (decoder) throws(Malformed) in try decoder.uint() }
        try decoder.finish()
        self.addresses = addresses
        if let device {
            name = .device(device)
        } else {
            guard let first = addresses.first else { throw Malformed(.inconsistent, at: 0) }
            name = .address(first.address)
        }
    }

    private static func expect(
        _ key: UInt64, in decoder: inout CBORDecoder
    ) throws(Malformed) {
        guard try decoder.key() == key else { throw Malformed(.wrongKeys, at: decoder.position) }
    }

    private static func address(
        from decoder: inout CBORDecoder
    ) throws(Malformed) -> KnownAddress {
        let start = decoder.position
        try decoder.arrayCount(exactly: 3)
        let text = try decoder.text(maxBytes: PeerAddress.textBytesMax)
        guard let address = PeerAddress(text) else { throw Malformed(.badText, at: start) }
        guard let source = KnownAddress.Source(rawValue: try decoder.uint(as: UInt8.self)) else {
            throw Malformed(.outOfRange, at: start)
        }
        return KnownAddress(address, source: source, freshness: try decoder.uint())
    }
}

extension PeerRegistry {
    /// The rows to keep, in the order of the peers' names: not of addresses that were only heard.
    public var rows: [PeerRow] {
        peers.compactMap { peer in
            guard isKept(peer.name) else { return nil }
            return PeerRow(
                name: peer.name, addresses: peer.addresses, isBlocked: peer.state == .blocked,
                lastSeen: peer.lastSeen)
        }
    }

    private func isKept(_ name: PeerName) -> Bool {
        guard case .address = name else { return true }
        return peer(name)?.addresses.contains { $0.source == .manual } ?? false
    }

    /// Takes back a row that was kept. Links are not kept, so the peer is due at once.
    public mutating func restore(_ row: PeerRow) {
        switch row.name {
        case .device(let device):
            add(device, addresses: row.addresses)
            if row.isBlocked { block(device) }
            restoreLastSeen(device, row.lastSeen)
        case .address(let address):
            addManual(address, wallMilliseconds: row.addresses.first?.freshness ?? 0)
        }
    }
}
