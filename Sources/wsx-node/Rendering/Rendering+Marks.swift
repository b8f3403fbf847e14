import PeerNode
import WorkspaceModel

/// Remarks in rows of tables, for people.
extension Rendering {
    /// Whether a device or a person is shown by id because it has no name.
    static func isNameless(_ object: JSONValue) -> Bool {
        guard let name = object["name"]?.stringValue else { return true }
        guard let id = object["id"]?.stringValue else { return false }
        return id.utf8.prefix(10).elementsEqual(name.utf8)
    }

    /// How your membership ended, `nil` while it goes on.
    static func membershipEnd(of workspace: JSONValue) -> String? {
        switch workspace["state"]?.stringValue ?? "member" {
        case "member": nil
        case "deleted": "was deleted"
        case "left": "you left it"
        case "device_revoked": "this device was revoked"
        default: "you are no longer a member"
        }
    }

    /// A row with remarks for people.
    func marked(_ item: JSONValue, as shape: Command.Shape) -> JSONValue {
        guard !isPlain, var fields = item.objectValue else { return item }
        let name = item["name"]?.stringValue ?? ""
        let called = item["twin"] == true ? "\(name) (look-alike)" : name
        if called != name { fields["name"] = .string(called) }
        switch shape {
        case .devices, .renamedDevice, .revokedDevice:
            fields["kind"] = item["recovery"] == true ? "phrase" : "device"
            if Self.isNameless(item) { fields["name"] = .string(shortID(item["id"])) }
        case .peers, .changedPeer, .holders, .appliers:
            fields["label"] = item["label"] ?? item["name"] ?? item["member"]?["name"]
            // What a disconnected peer has received meanwhile is unknown.
            if shape == .peers || shape == .changedPeer, item["state"] != "connected" {
                (fields["behind"], fields["ahead"]) = (.null, .null)
                fields["tried"] = item["last_tried"]?.integerValue.map {
                    .string("\(TimeText.ago(max(0, now &- $0))) ago")
                }
            }
            if item["have"] == "unknown" { fields["complete"] = "unknown" }
            if shape == .holders { fields["person"] = .string(verdict(on: item)) }
        case .presences: fields["state"] = .string(stateWord(item["state"]))
        case .attestations, .accountLinks: fields["state"] = .string(attestationWords(item))
        case .files, .file, .fileBody:
            fields["have"] = part(item["have"], of: item["size"])
            fields["size"] = item["size"]?.integerValue.map { .string(ByteText.text($0)) }
        case .fileHolders:
            fields["have"] = item["have"]?.integerValue.map { .string(ByteText.text($0)) }
        case .media:
            let most = item["up_to"]?.integerValue
            fields["up_to"] = .string(most.map { ByteText.text($0) } ?? "any size")
        case .syncs:
            fields["label"] = item["label"] ?? .string(shortID(item["peer"]))
            fields["place"] = item["place"] ?? .string(shortID(item["workspace"]))
            fields["state"] = .string(syncWords(item["state"]))
        case .directs:
            if ChannelNames.shown(item) == "@me" { fields["name"] = "me" }
        case .channels:
            let states = states(of: item)
            if !states.isEmpty { fields["name"] = .string("\(called)\(states)") }
        default: break
        }
        return .object(fields)
    }

    /// How far two devices are, in words.
    private func syncWords(_ state: JSONValue?) -> String {
        switch state?.stringValue {
        case "in_sync": "in sync"
        case "apart": "not yet in sync"
        default: shown(state)
        }
    }

    /// Whether a person has a message, on any of their devices.
    private func verdict(on holder: JSONValue) -> String {
        switch holder["verdict"]?.stringValue {
        case "held": "has it"
        case "waiting": "not yet"
        case "unknown": "unknown"
        default: "only carries it"
        }
    }

    /// The properties that distinguish a channel in a list, such as ` (not in, muted)`.
    ///
    /// - Parameter isAmongOthers: whether the list mixes joined channels with others
    ///   that look the same.
    func states(of channel: JSONValue, isAmongOthers: Bool = true) -> String {
        var states: [String] = []
        let isOut = isAmongOthers && channel["joined"] == false
        if isOut { states.append(channel["private"] == true ? "no longer in" : "not in") }
        if channel["archived"] == true { states.append("archived") }
        if channel["muted"] == true, !isOut { states.append("muted") }
        return states.isEmpty ? "" : " (\(states.joined(separator: ", ")))"
    }
}
