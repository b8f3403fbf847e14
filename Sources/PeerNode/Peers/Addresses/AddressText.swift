import WorkspaceModel

/// Parses and formats hosts and ports, byte by byte: the text is untrusted, so locales, resolvers
/// and ambiguous forms such as `127.1` are not used.
enum AddressText {
    /// Splits `host:port`, `[v6]:port`, `host` or `[v6]`. The port is `nil` where it is missing.
    static func split(_ text: [UInt8]) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?)? {
        let colon = UInt8(ascii: ":")
        guard text.first == UInt8(ascii: "[") else {
            guard let end = text.firstIndex(of: colon) else { return (text[...], nil) }
            return (text[..<end], text[(end + 1)...])
        }
        // The brackets stay on: they are how `host` knows that this must be IPv6.
        guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let rest = text[(end + 1)...]
        guard let next = rest.first else { return (text[...end], nil) }
        return next == colon ? (text[...end], rest.dropFirst()) : nil
    }

    /// A host as `split` returns it.
    static func host(_ text: ArraySlice<UInt8>) -> PeerAddress.Host? {
        if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") {
            return ipv6(Array(text.dropFirst().dropLast()))
        }
        if let number = ipv4(text) { return .ipv4(number) }
        return name(Array(text)).map { .name($0) }
    }

    /// 1 to 65,535 without leading zeros.
    static func port(_ text: ArraySlice<UInt8>) -> UInt16? {
        decimal(text, max: 65_535).flatMap { $0 == 0 ? nil : UInt16(exactly: $0) }
    }

    /// Four decimal bytes with dots between.
    static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(
            separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            guard let byte = decimal(part, max: 255) else { return nil }
            number = number << 8 | byte
        }
        return number
    }

    /// An IPv6 address in any form of RFC 4291 but the one with a dotted end, with an optional
    /// `%` and the number of an interface.
    static func ipv6(_ text: [UInt8]) -> PeerAddress.Host? {
        let ends = text.split(
            separator: UInt8(ascii: "%"), maxSplits: 2, omittingEmptySubsequences: false)
        guard ends.count <= 2, let address = ends.first, address.count <= 39 else { return nil }
        var scope: UInt32 = 0
        if ends.count == 2 {
            guard let number = decimal(ends[1], max: UInt32.max), number > 0 else { return nil }
            scope = number
        }
        guard let groups = groups(address) else { return nil }
        let words = groups.map(UInt64.init)
        let high = words[..<4].reduce(0) { $0 << 16 | $1 }
        let low = words[4...].reduce(0) { $0 << 16 | $1 }
        return .ipv6(high, low, scope: scope)
    }

    /// Exactly eight groups, with `::` filled in.
    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        let colons = [UInt8](repeating: UInt8(ascii: ":"), count: 2)
        if Array(text) == colons { return [UInt16](repeating: 0, count: 8) }
        var parts = text.split(
            separator: UInt8(ascii: ":"), maxSplits: 9, omittingEmptySubsequences: false)
        // A leading or trailing "::" leaves two empty parts at that end: one says enough.
        if parts.count >= 3, parts[0].isEmpty, parts[1].isEmpty { parts.removeFirst() }
        if parts.count >= 3, parts[parts.count - 1].isEmpty, parts[parts.count - 2].isEmpty {
            parts.removeLast()
        }
        var groups: [UInt16] = []
        var gap: Int?
        for part in parts {
            if part.isEmpty {
                guard gap == nil else { return nil }
                gap = groups.count
            } else {
                guard let group = hexadecimal(part) else { return nil }
                groups.append(group)
            }
        }
        // An empty part at an end is only right as one half of "::".
        guard text.count >= 2, isWhole(text) else { return nil }
        guard let gap else { return groups.count == 8 ? groups : nil }
        guard groups.count < 8 else { return nil }
        groups.insert(contentsOf: [UInt16](repeating: 0, count: 8 - groups.count), at: gap)
        return groups
    }

    /// Whether neither end is a single colon.
    private static func isWhole(_ text: ArraySlice<UInt8>) -> Bool {
        let colon = UInt8(ascii: ":")
        let head = Array(text.prefix(2))
        let tail = Array(text.suffix(2))
        return (head.first != colon || head.last == colon)
            && (tail.last != colon || tail.first == colon)
    }

    /// A host name in lower case: labels of 1 to 63 letters, digits, hyphens and underscores, 253
    /// bytes in all, the last label not a number, so that no name looks like an address.
    static func name(_ text: [UInt8]) -> String? {
        guard (1...253).contains(text.count) else { return nil }
        let lower = text.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        let labels = lower.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel), let last = labels.last else { return nil }
        // Some resolvers read these as an IPv4 address: 10, 0x7f000001.
        let digits = last.starts(with: [48, 120]) ? last.dropFirst(2) : last
        let isHexadecimal = digits.count < last.count
        guard
            !digits.allSatisfy({ byte in
                (48...57).contains(byte) || isHexadecimal && (97...102).contains(byte)
            })
        else { return nil }
        return String(validating: lower, as: UTF8.self)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
            return false
        }
        return label.allSatisfy { byte in
            (97...122).contains(byte) || (48...57).contains(byte) || byte == hyphen
                || byte == UInt8(ascii: "_")
        }
    }

    /// A decimal number without sign or leading zeros.
    private static func decimal(_ text: ArraySlice<UInt8>, max: UInt32) -> UInt32? {
        guard (1...10).contains(text.count), text.count == 1 || text.first != 48 else { return nil }
        var number: UInt64 = 0
        for byte in text {
            guard (48...57).contains(byte) else { return nil }
            number = number * 10 + UInt64(byte - 48)
        }
        return number <= UInt64(max) ? UInt32(truncatingIfNeeded: number) : nil
    }

    /// One to four hexadecimal digits.
    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard (1...4).contains(text.count) else { return nil }
        var number: UInt16 = 0
        for byte in text {
            guard let digit = Hexadecimal.value(ofDigit: byte) else { return nil }
            number = number << 4 | UInt16(digit)
        }
        return number
    }

    /// `192.0.2.7`.
    static func dotted(_ number: UInt32) -> String {
        "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }

    /// The shortest form: the first longest run of two or more zero groups is `::`.
    ///
    /// - Source: RFC 5952, section 4.
    static func colons(_ high: UInt64, _ low: UInt64) -> String {
        let groups = [high, low].flatMap { word in
            [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: word >> UInt64($0)) }
        }
        var best = 0..<0
        var start = 0
        for (index, group) in groups.enumerated() {
            if group != 0 { start = index + 1 }
            if index + 1 - start > max(best.count, 1) { best = start..<index + 1 }
        }
        let texts = groups.map { String($0, radix: 16) }
        guard !best.isEmpty else { return texts.joined(separator: ":") }
        return texts[..<best.lowerBound].joined(separator: ":") + "::"
            + texts[best.upperBound...].joined(separator: ":")
    }
}
