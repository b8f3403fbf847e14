import WorkspaceModel

/// How many people have a message of one's own: what its line says behind the text, `✓1/2`.
///
/// Counted are the people who are to read it, each once and without its author, and not the devices
/// that carry it. Who came into the workspace after it was written, and who is first seen in the
/// conversation later than the message was asked about, is not waited for: what they come to hold is
/// no news of it.
struct ChatTick: Equatable {
    /// `m_…`.
    let message: String
    /// `u_…`, who is not counted.
    private let author: String?
    /// When it was written, milliseconds since 1970.
    private let at: Int64?
    /// Who is waited for, once that is known.
    private var audience: Set<String>?
    /// How many of them have it.
    private(set) var people: Int64 = 0
    /// How many these are; `nil` until that is known.
    private(set) var readers: Int64?

    /// Of a message that nobody is known to have.
    init?(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return nil }
        self.message = id
        author = message["author"]?["id"]?.stringValue
        at = message["at"]?.integerValue
    }

    /// Whether everybody has it: nothing about it changes any more.
    var isSettled: Bool { readers.map { people >= $0 } ?? false }

    /// Takes over who has it.
    ///
    /// - Parameter rows: those of `message.holders`, one for each device.
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

    /// Behind the text: nothing while nobody is waited for, `local` while nobody has it.
    var text: String {
        guard let readers, readers > 0 else { return "" }
        return people > 0 ? "  ✓\(people)/\(readers)" : "  local"
    }
}
