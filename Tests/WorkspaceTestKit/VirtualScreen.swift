import WorkspaceModel

/// A terminal's screen, as far as the program under test uses one: letters, line ends, and the few
/// sequences that it sends. Others are recorded, so that a test can fail on them.
public struct VirtualScreen: Sendable {
    /// Columns of the screen.
    public private(set) var columns: Int
    private var rows: Int
    private var cells: [[String]]
    private var scrolled: [String] = []
    /// Where the next letter goes, from 0. The column may be that behind the last.
    public private(set) var cursor = (row: 0, column: 0)
    /// Sequences and controls that no part of the program may send.
    public private(set) var strange: [String] = []
    /// How often the bell rang.
    public private(set) var bells = 0
    private var pending: [UInt8] = []

    /// An empty screen.
    public init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = [[]]
    }

    /// The lines, without blanks at their ends, and before them those that scrolled away.
    public var lines: [String] { scrolled + cells.map(Self.line) }

    /// The lines as one text.
    public var text: String { lines.joined(separator: "\n") }

    private static func line(_ cells: [String]) -> String {
        var line = cells.joined()
        while line.utf8.last == 0x20 { line.removeLast() }
        return line
    }

    /// Another size. What stands there stays where it is.
    public mutating func resize(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        scrollUp()
    }

    /// Draws.
    public mutating func take(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { take(byte) }
    }

    private mutating func take(_ byte: UInt8) {
        pending.append(byte)
        if pending[0] == 0x1B {
            guard pending.count > 1 else { return }
            if pending.count == 2, byte == UInt8(ascii: "[") { return }
            guard pending.count == 2 || (0x40...0x7E).contains(byte) else { return }
            let sequence = pending
            pending = []
            return obey(sequence)
        }
        let isWhole =
            pending[0] < 0x80
            || pending.count == (pending[0] < 0xE0 ? 2 : pending[0] < 0xF0 ? 3 : 4)
        guard isWhole else { return }
        let letter = String(decoding: pending, as: UTF8.self)
        pending = []
        switch letter {
        case "\n": lineFeed()
        case "\r": cursor.column = 0
        case "\u{7}": bells += 1
        default:
            guard let scalar = letter.unicodeScalars.first, scalar.value >= 0x20,
                !(0x7F...0x9F).contains(scalar.value)
            else { return strange.append(letter.unicodeScalars.map { "\($0.value)" }.joined()) }
            put(letter)
        }
    }

    private mutating func put(_ letter: String) {
        let width = TerminalText.displayWidth(letter)
        if width == 0 || joins(letter) {
            // It belongs to the letter before.
            let place = cells[cursor.row].prefix(cursor.column).lastIndex { !$0.isEmpty }
            if let place { cells[cursor.row][place] += letter }
            return
        }
        if cursor.column + width > columns {
            cursor.column = 0
            lineFeed()
        }
        while cells[cursor.row].count < cursor.column + width { cells[cursor.row].append(" ") }
        cells[cursor.row][cursor.column] = letter
        if width == 2 { cells[cursor.row][cursor.column + 1] = "" }
        cursor.column += width
    }

    private func joins(_ letter: String) -> Bool {
        guard let place = cells[cursor.row].prefix(cursor.column).lastIndex(where: { !$0.isEmpty })
        else { return false }
        return (cells[cursor.row][place] + letter).count == 1
    }

    private mutating func lineFeed() {
        cursor.row += 1
        if cursor.row == cells.count { cells.append([]) }
        scrollUp()
    }

    private mutating func scrollUp() {
        while cells.count > rows {
            scrolled.append(Self.line(cells.removeFirst()))
            cursor.row = max(0, cursor.row - 1)
        }
    }

    private mutating func obey(_ sequence: [UInt8]) {
        let text = String(decoding: sequence.dropFirst(), as: UTF8.self)
        let number = Int(text.dropFirst().dropLast()) ?? 1
        switch (sequence.last, text) {
        case (_, "[?2004h"), (_, "[?2004l"): break
        case (UInt8(ascii: "m"), _): break
        case (UInt8(ascii: "A"), _): cursor.row = max(0, cursor.row - number)
        case (UInt8(ascii: "C"), _): cursor.column = min(columns - 1, cursor.column + number)
        case (_, "[H"): cursor = (0, 0)
        case (_, "[2J"): cells = [[]]
        case (_, "[J"):
            cells.removeSubrange((cursor.row + 1)...)
            cells[cursor.row] = Array(cells[cursor.row].prefix(cursor.column))
        default: strange.append(text)
        }
    }
}
