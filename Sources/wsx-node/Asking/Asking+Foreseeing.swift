import PeerNode
import WorkspaceModel

/// Predicts refusals from what the node shows.
///
/// Nobody should answer a question first and then learn that the node refuses anyway. The node
/// decides: where the outcome is unclear, the user is asked.
extension Asking {
    /// Ways to use a channel that need a role.
    enum ChannelUse {
        /// Changing its texts, and deleting what others said in it.
        case change
        /// Managing the channel: its owner, its roles, its deletion.
        case manage
    }

    /// The caller: role in the workspace and, if known, the member id.
    struct Actor {
        let role: String
        let id: String?

        /// Whether they administer the workspace.
        var isAdmin: Bool { role == "owner" || role == "admin" }
    }

    /// - Returns: `nil` if the caller is no longer a member of the workspace.
    func actor(in workspace: JSONValue) throws(NodeError) -> Actor? {
        guard let role = workspace["role"]?.stringValue else { return nil }
        var client = try client()
        let members = try client.call("identity.show", [:])["members"]?.arrayValue ?? []
        let own = members.first { $0["workspace"] == workspace["id"] }
        return Actor(role: role, id: own?["member"]?.stringValue)
    }

    /// Whether the actor may use a channel that way.
    static func allows(_ use: ChannelUse, in channel: JSONValue, to actor: Actor) -> Bool {
        guard channel["kind"] == "channel" else { return false }
        // A private channel is administered only by its own members.
        if channel["private"] != true, actor.isAdmin { return true }
        guard let id = actor.id, actor.role != "guest" else { return actor.role != "guest" }
        if channel["owner"]?["id"]?.stringValue == id { return true }
        return use == .change
            && (channel["admins"]?.arrayValue ?? []).contains { $0["id"]?.stringValue == id }
    }

    /// Whether the caller can leave: the workspace's owner needs a successor, and
    /// channels need owners.
    func mayLeave(_ workspace: JSONValue) throws(NodeError) -> Bool {
        guard let actor = try actor(in: workspace) else { return false }
        let given: JSONObject = ["workspace": workspace["id"] ?? .null]
        var all = given
        all["scope"] = "all"
        let isHolding = try every("channel.list", all).contains { channel in
            guard let id = actor.id, channel["owner"]?["id"]?.stringValue == id else {
                return false
            }
            let isAlone = channel["private"] == true && channel["members"]?.integerValue ?? 0 <= 1
            return channel["default"] != true && !isAlone
        }
        guard !isHolding else { return false }
        guard actor.role == "owner", workspace["successor"]?.isNull != false else { return true }
        return try every("member.list", given).contains {
            $0["role"] == "owner" && $0["self"] != true
        }
    }

    /// Whether a role is at least as strong as another one; the node knows further rules.
    static func reaches(_ own: String, _ other: String) -> Bool {
        let roles = ["owner", "admin", "member", "guest"]
        guard let first = roles.firstIndex(of: own), let second = roles.firstIndex(of: other)
        else { return true }
        return first <= second
    }

    /// Whether the node will certainly not carry out a command of this weight: it refuses it to the
    /// caller or for that person, or nothing would change.
    func isSurelyFutile(_ weight: CommandLineForm.Weight, for person: String?) -> Bool {
        var given = JSONObject()
        given["workspace"] = workspace.map { .string($0) }
        guard var client = try? client(), let place = try? client.call("workspace.get", given),
            let role = place["role"]?.stringValue
        else { return false }
        var named = given
        named["member"] = person.map { .string($0) }
        let member = person == nil ? nil : try? client.call("member.get", named)
        let isGuest = member?["role"] == "guest"
        switch weight {
        case .owners: return role != "owner" || isGuest || member?["self"] == true
        case .admins:
            let wanted = scan.values["role"]
            return role != "owner" && role != "admin" || wanted != nil && member?["role"] == wanted
        case .channelOwners:
            given["channel"] = scan.values["channel"]
            guard let channel = try? client.call("channel.get", given),
                let actor = try? actor(in: place)
            else { return false }
            return isGuest || !Self.allows(.manage, in: channel, to: actor)
                || person != nil && channel["owner"]?["id"]?.stringValue == person
        case .unknown: return false
        }
    }

    /// The caller's devices in the named workspace, or in all of them.
    func ownDevices(_ parameters: JSONObject) throws(NodeError) -> [JSONValue] {
        var places: [JSONValue] = []
        if let named = parameters["workspace"] {
            places = [named]
        } else {
            places = try every("workspace.list", [:]).filter { $0["state"] == "member" }
                .compactMap { $0["id"] }
        }
        var seen: Set<String> = []
        var devices: [JSONValue] = []
        for place in places {
            devices += try every("device.list", ["workspace": place]).filter { device in
                device["id"]?.stringValue.map { seen.insert($0).inserted } ?? false
            }
        }
        return devices
    }

    /// The device of someone else that an id names, or the beginning of one, and its person. The
    /// node takes nothing shorter for it.
    ///
    /// - Returns: `nil` if nobody in the workspace has such a device.
    func foreignDevice(
        _ wanted: String, _ parameters: JSONObject
    ) throws(NodeError) -> (owner: JSONValue, device: JSONValue)? {
        guard wanted.hasPrefix("d_"), wanted.utf8.count >= 2 + ReferenceResolver.prefixLengthMin
        else { return nil }
        var given = JSONObject()
        given["workspace"] = parameters["workspace"]
        let people = try every("member.list", given).filter { $0["self"] != true }
        for person in people {
            given["member"] = person["id"] ?? .null
            let device = try every("device.list", given).first {
                $0["id"]?.stringValue?.utf8.starts(with: wanted.utf8) == true
            }
            if let device { return (person, device) }
        }
        return nil
    }

    /// The devices that match an id, a part of one, or a name.
    static func devices(_ wanted: String, among all: [JSONValue]) -> [JSONValue] {
        let named = all.filter {
            $0["id"]?.stringValue == wanted
                || NameFolding.matches($0["name"]?.stringValue ?? "", wanted)
        }
        // A new device may have the name of a revoked one.
        let present = named.filter { $0["revoked"] != true }
        guard named.isEmpty else { return present.isEmpty ? named : present }
        let things = all.compactMap { device in
            device["id"]?.stringValue.map { ReferenceResolver.Found(id: $0, candidate: device) }
        }
        return ReferenceResolver.meant(wanted, "d", among: things).map(\.candidate)
    }

    /// All items of a paginated list.
    func every(_ method: String, _ given: JSONObject) throws(NodeError) -> [JSONValue] {
        var client = try client()
        var given = given
        given["limit"] = 1_000
        var items: [JSONValue] = []
        for _ in 0..<ReferenceResolver.pagesMax {
            let page = try client.call(method, given)
            items += page["items"]?.arrayValue ?? []
            guard let next = page["next"], !next.isNull else { break }
            given["cursor"] = next
        }
        return items
    }
}
