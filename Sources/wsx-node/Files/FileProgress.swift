import WorkspaceModel

/// The progress of a transfer, in words and as a bar. It never decreases, and never exceeds 100 %.
struct FileProgress {
    /// Whether a bar is on the terminal.
    var isShown = false
    private let begunAt: Int64
    private var size: Int64 = 0
    private var have: Int64 = 0
    private var first: Int64?
    private var now: Int64
    private var waitingSince: Int64?

    /// - Parameter begunAt: milliseconds since 1970.
    init(begunAt: Int64) {
        self.begunAt = begunAt
        now = begunAt
    }

    /// Updates the state from the daemon's file object.
    mutating func note(_ file: JSONValue, at now: Int64) {
        size = max(size, file["size"]?.integerValue ?? 0)
        have = min(size, max(have, file["have"]?.integerValue ?? 0))
        if first == nil { first = have }
        waitingSince = file["waiting_since"]?.integerValue
        self.now = max(self.now, now)
    }

    /// The percentage that is here.
    var percent: Int64 {
        guard size > 0 else { return 100 }
        let (product, isMuch) = have.multipliedReportingOverflow(by: 100)
        return min(100, isMuch ? have / max(size / 100, 1) : product / size)
    }

    /// Bytes per second since it began; `nil` before the first.
    private var rate: Int64? {
        let elapsed = now - begunAt
        let came = have - (first ?? have)
        guard elapsed >= 500, came > 0 else { return nil }
        return came / max(elapsed / 100, 1) * 10
    }

    /// The progress as one line.
    var line: String {
        if let waitingSince {
            let seconds = max(0, now - waitingSince) / 1_000
            return "\(percent) %, waiting for a device that has it (\(seconds) s)"
        }
        let speed = rate.map { "  " + ByteText.text($0) + "/s" } ?? ""
        return "\(percent) %  \(ByteText.text(have)) of \(ByteText.text(size))\(speed)"
    }

    /// The same with a bar before it, in this many columns.
    func bar(columns: Int) -> String {
        let line = line
        let room = min(24, columns - line.utf8.count - 4)
        guard room >= 4 else { return String(line.prefix(max(columns - 1, 1))) }
        let full = Int(clamping: percent) * room / 100
        return "[" + String(repeating: "#", count: full)
            + String(repeating: " ", count: room - full) + "] " + line
    }
}
