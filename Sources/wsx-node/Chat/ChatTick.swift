import WorkspaceModel

/// How many people have a message of yours: the `✓1/2` behind its text.
///
/// It counts people who should read it, each once and without the author, not their devices. It
/// ignores people who joined the workspace after it was written, or who appeared in the
/// conversation after the first look-up: their receipts are not news about it.
struct ChatTick: Equatable {
    /// `m_…`.
    let message: String
    /// `u_…`, who is not counted.
    private let author: String?
    /// When it was written, milliseconds since 1970.
    private let at: Int64?
    /// The counted people, once known.
    private var audience: Set<String>?
    /// How many of them have it.
    private(set) var people: Int64 = 0
    /// Their number; `nil` until known.
    private(set) var readers: Int64?

    /// The tick of a message that nobody is known to have.
    init?(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return nil }
        self.message = id
        author = message["author"]?["id"]?.stringValue
        at = message["at"]?.integerValue
    }

    /// Whether everybody has it, so that nothing changes any more.
    var isSettled: Bool { readers.map { people >= $0 } ?? false }

    /// Takes over the holders.
    ///
    /// - Parameter rows: from `message.holders`, one for each device.
    mutating func take(_ rows: [JSONValue]) {
        guard !isSettled else { return }
        var verdicts: [String: Bool] = [:]
        for row in rows {
            guard let person = row["member"]?["id"]?.stringValue, person != author,
                let verdict = row["verdict"]?.stringValue, isEarly(row)
            else { continue }
            verdicts[person] = verdicts[person] == true || verdict == "held"
        }
        let awaited = audience ?? Set(verdicts.keys)
        audience = awaited
        let waited = verdicts.filter { awaited.contains($0.key) }
        readers = Int64(waited.count)
        people = Int64(waited.values.count { $0 })
    }

    private func isEarly(_ row: JSONValue) -> Bool {
        guard let at, let joined = row["joined_at"]?.integerValue else { return true }
        return joined <= at
    }

    /// The text of the tick: empty if nobody is counted, `saved` while nobody has it.
    var text: String {
        guard let readers, readers > 0 else { return "" }
        return people > 0 ? "  ✓\(people)/\(readers)" : "  saved"
    }
}
