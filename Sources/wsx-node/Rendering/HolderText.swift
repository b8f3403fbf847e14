import WorkspaceModel

/// The holders of a message in words: `held by 2 of 3 devices (Joon offline 20 s)`.
struct HolderText {
    /// Devices known to have it, including this one.
    var count: Int64
    /// Devices of its readers, if known.
    var total: Int64?
    /// People whose device is not connected, and for how long; `nil` for a device
    /// that was never seen.
    var offline: [(name: String, milliseconds: Int64?)] = []

    /// More names would not help.
    static let namesMax = 3

    init(count: Int64) { self.count = count }

    var text: String {
        let saved = count > 1 ? "saved on \(count) devices" : "saved"
        guard let total, total > count else { return saved }
        let left = total - count
        let devices = left == 1 ? "device" : "devices"
        var text = saved + "; on its way to \(left) " + (count > 1 ? "more" : devices)
        if !offline.isEmpty {
            var names = offline.prefix(Self.namesMax).map { person in
                let state = person.milliseconds.map { "offline " + TimeText.ago($0) }
                return sanitised(person.name) + " " + (state ?? "unknown")
            }
            if offline.count > Self.namesMax {
                names.append("\(offline.count - Self.namesMax) more")
            }
            text += " (" + names.joined(separator: ", ") + ")"
        }
        return text
    }
}
