/// Converts Slack's syntax for emphasis, links and names to Markdown.
///
/// `*b*` becomes `**b**`, `~s~` becomes `~~s~~`, `<url|words>` becomes `[words](url)`, the three
/// escapes become `&`, `<` and `>`. Code stays unchanged, and so does incomplete syntax.
struct SlackText {
    /// Longest content between `<` and `>`.
    private static let tokenBytesMax = 4_096

    /// The same in our way of writing.
    ///
    /// - Parameter formats: whether emphasis and code mean anything; links and escapes always do.
    static func converted(_ text: String, formats: Bool = true) -> String {
        var converter = Self(Array(text.utf8), formats: formats)
        converter.run()
        return String(decoding: converter.finished, as: UTF8.self)
    }

    /// The same with nothing but the escapes undone, as addresses and code need it.
    static func unescaped(_ text: String) -> String {
        var converter = Self(Array(text.utf8), formats: false)
        converter.takeLiterally(until: converter.bytes.count)
        return String(decoding: converter.output, as: UTF8.self)
    }

    /// A sign that may begin or end emphasis, by its place in the output.
    private struct Marker {
        let position: Int
        let sign: UInt8
        let opens: Bool
        let closes: Bool
    }

    private let bytes: [UInt8]
    private let formats: Bool
    private var index = 0
    private var output: [UInt8] = []
    private var markers: [Marker] = []
    private var hasFences = true

    private init(_ bytes: [UInt8], formats: Bool) {
        self.bytes = bytes
        self.formats = formats
        output.reserveCapacity(bytes.count + 16)
    }

    // MARK: Reading

    private mutating func run() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "&"): takeEscape()
            case UInt8(ascii: "<"): takeToken()
            case UInt8(ascii: "`") where formats: takeCode()
            case UInt8(ascii: ":"): takeEmoji()
            case UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                if formats { noteMarker() }
                takeByte()
            default: takeByte()
            }
        }
    }

    private mutating func takeByte() {
        output.append(bytes[index])
        index += 1
    }

    private mutating func takeEscape() {
        for (escape, plain) in [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]
        where bytes[index...].starts(with: escape.utf8) {
            output += plain.utf8
            index += escape.utf8.count
            return
        }
        takeByte()
    }

    private mutating func takeToken() {
        let rest = bytes[(index + 1)...].prefix(Self.tokenBytesMax)
        let content = rest.prefix {
            $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") && $0 != 0x0A
        }
        let isWhole =
            content.endIndex < rest.endIndex && rest[content.endIndex] == UInt8(ascii: ">")
        guard isWhole, let words = SlackToken(content)?.text else { return takeByte() }
        output += words.utf8
        index = content.endIndex + 1
    }

    /// Code between one sign or three: only escapes mean something in it.
    private mutating func takeCode() {
        let fence = [UInt8](repeating: UInt8(ascii: "`"), count: 3)
        if hasFences, bytes[index...].starts(with: fence) {
            if let end = position(of: fence, from: index + 3) {
                return takeLiterally(until: end + 3)
            }
            hasFences = false
        }
        // Only to the next of the two: looking on to the end of a long line, for each piece of code
        // in it, is quadratic.
        let end = bytes[(index + 1)...].firstIndex { $0 == UInt8(ascii: "`") || $0 == 0x0A }
        if let end, end > index + 1, bytes[end] != 0x0A {
            return takeLiterally(until: end + 1)
        }
        takeByte()
    }

    private func position(of fence: [UInt8], from start: Int) -> Int? {
        var place = start
        while place + fence.count <= bytes.count {
            if bytes[place...].starts(with: fence) { return place }
            place += 1
        }
        return nil
    }

    private mutating func takeLiterally(until end: Int) {
        while index < end {
            if bytes[index] == UInt8(ascii: "&") { takeEscape() } else { takeByte() }
        }
    }

    private mutating func takeEmoji() {
        let name = bytes[(index + 1)...].prefix(SlackEmoji.nameBytesMax).prefix {
            SlackEmoji.isNameByte($0)
        }
        if name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ":"),
            let character = SlackEmoji.known[String(decoding: name, as: UTF8.self)]
        {
            output += character.utf8
            index = name.endIndex + 1
        } else {
            takeByte()
        }
    }

    // MARK: Emphasis

    /// Emphasis begins after and ends before a character that is not a letter, and touches its
    /// words. Two markers in a row are not Slack's: `**b**` is Markdown already.
    private mutating func noteMarker() {
        let before = index > 0 ? bytes[index - 1] : 0x20
        let after = index + 1 < bytes.count ? bytes[index + 1] : 0x20
        let sign = bytes[index]
        markers.append(
            Marker(
                position: output.count, sign: sign,
                opens: !Self.isWord(before) && before != sign && !Self.isSpace(after)
                    && after != sign,
                closes: !Self.isSpace(before) && !Self.isWord(after) && after != sign))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || HTTPText.isAlphanumeric(byte)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// The output with each pair of signs on one line written our way.
    private var finished: [UInt8] {
        let pairs = pairedPositions
        var result: [UInt8] = []
        result.reserveCapacity(output.count + pairs.count)
        var next = pairs[...]
        for (position, byte) in output.enumerated() {
            result.append(byte)
            if next.first == position {
                next.removeFirst()
                if byte != UInt8(ascii: "_") { result.append(byte) }
            }
        }
        return result
    }

    private var pairedPositions: [Int] {
        var open: [UInt8: Int] = [:]
        var pairs: [Int] = []
        var lineEnds = output.indices.lazy.filter { output[$0] == 0x0A }.makeIterator()
        var lineEnd = lineEnds.next() ?? output.count
        for marker in markers {
            while marker.position > lineEnd {
                open = [:]
                lineEnd = lineEnds.next() ?? output.count
            }
            if marker.closes, let start = open[marker.sign], start + 1 < marker.position {
                pairs += [start, marker.position]
                open[marker.sign] = nil
            } else if marker.opens {
                open[marker.sign] = marker.position
            }
        }
        return pairs.sorted()
    }
}

/// The text between `<` and `>`: a link, or the name of a person or an object.
struct SlackToken {
    /// As it is shown.
    let text: String

    /// `nil` for anything else, such as a word in angle brackets.
    init?(_ content: some Collection<UInt8>) {
        let bar = UInt8(ascii: "|")
        let target = String(decoding: Array(content.prefix { $0 != bar }), as: UTF8.self)
        let isLabelled = content.contains(bar)
        let words = String(
            decoding: Array(content.drop { $0 != bar }.dropFirst()), as: UTF8.self)
        let label = isLabelled ? SlackText.converted(words, formats: false) : ""
        let name = String(decoding: target.utf8.dropFirst(), as: UTF8.self)
        switch target.utf8.first {
        case UInt8(ascii: "@") where !name.isEmpty: text = Self.signed("@", label, name)
        case UInt8(ascii: "#") where !name.isEmpty: text = Self.signed("#", label, name)
        case UInt8(ascii: "!") where !name.isEmpty: text = Self.special(name, label)
        default:
            guard Self.isAddress(target) else { return nil }
            let address = SlackText.unescaped(target)
            let isBare = address.utf8.elementsEqual(("mailto:" + label).utf8)
            text = isBare ? label : SlackMessage.link(label, to: address)
        }
    }

    private static func signed(_ sign: String, _ label: String, _ name: String) -> String {
        if label.isEmpty { return sign + name }
        return label.utf8.starts(with: sign.utf8) ? label : sign + label
    }

    /// `here`, `subteam^S…`, `date^…`: a label always tells more.
    private static func special(_ name: String, _ label: String) -> String {
        let word = name.utf8.prefix { $0 != UInt8(ascii: "^") }
        let rest = name.utf8.dropFirst(word.count + 1)
        switch String(decoding: Array(word), as: UTF8.self) {
        case "here", "channel", "everyone":
            return "@" + String(decoding: Array(word), as: UTF8.self)
        case "subteam": return signed("@", label, String(decoding: Array(rest), as: UTF8.self))
        case "date": return label
        case let other: return label.isEmpty ? other : label
        }
    }

    /// A scheme and something behind it.
    private static func isAddress(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { HTTPText.isAlphanumeric($0) || $0 == UInt8(ascii: "+") }
        let rest = text.utf8.dropFirst(scheme.count)
        return !scheme.isEmpty && rest.first == UInt8(ascii: ":") && rest.count > 1
            && !rest.contains(0x20)
    }
}
