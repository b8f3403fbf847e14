import PeerNode
import WorkspaceModel

/// Distinct labels for devices in a list: by person, as far as that is unique.
///
/// A person with one device in the list is shown by name. With several it is `Mina (amber)`, by
/// device name, and `Mina (d_…7k3qm2)` without a useful one. Labels are unique.
struct DeviceLabels {
    /// A device, as far as known.
    struct Device {
        /// `d_…`.
        let id: String
        /// Its person, `u_…`.
        let member: String?
        /// The person's name.
        let person: String
        /// The device's name; `nil` if it has none.
        var name: String?
    }

    private var labels: [String: String] = [:]

    /// - Parameter others: people with one more device than listed.
    init(_ devices: [Device], beside others: Set<String> = []) {
        let shared = Self.shared(devices, beside: others)
        var forms = devices.map { Self.forms(of: $0, isShared: shared.contains($0.id))[...] }
        // People choose device names: a name that another person's device uses
        // does not distinguish.
        while true {
            let taken = Dictionary(grouping: forms.indices) { forms[$0].first ?? "" }
            let equal = taken.values.filter { $0.count > 1 }.joined()
                .filter { forms[$0].count > 1 }
            if equal.isEmpty { break }
            for index in equal { forms[index].removeFirst() }
        }
        for (device, form) in zip(devices, forms) { labels[device.id] = form.first }
    }

    /// Possible labels, the shortest first; the last is unique.
    private static func forms(of device: Device, isShared: Bool) -> [String] {
        var forms = isShared ? [] : [device.person]
        if let name = device.name { forms.append("\(device.person) (\(name))") }
        return forms + ["\(device.person) (\(Rendering.shortened(device.id)))", device.id]
    }

    /// The label of a listed device.
    subscript(id: String) -> String? { labels[id] }

    /// The devices that their person's name does not identify.
    static func shared(_ devices: [Device], beside others: Set<String> = []) -> Set<String> {
        var count: [String: Int] = [:]
        for device in devices { count[device.person, default: 0] += 1 }
        return Set(
            devices.filter { device in
                count[device.person] != 1 || device.member.map(others.contains) == true
            }.map(\.id))
    }
}

extension SessionPart {
    /// The labels of the devices in an answer's rows. Requests device names only where needed.
    ///
    /// - Parameters:
    ///   - key: the field with the device's id.
    ///   - own: this home's members; their device here is in no row.
    ///   - shown: the rows that need labels; all by default.
    func deviceLabels(
        _ rows: [JSONValue], id key: String, beside own: Set<String> = [],
        in workspace: JSONValue? = nil, shown: [JSONValue]? = nil,
        _ client: inout ControlClient
    ) -> DeviceLabels {
        var devices = rows.compactMap { row in
            row[key]?.stringValue.map { id in
                DeviceLabels.Device(
                    id: id, member: row["member"]?["id"]?.stringValue,
                    person: row["member"]?["name"]?.stringValue
                        ?? row["name"]?.stringValue ?? Rendering.shortened(id))
            }
        }
        var shared = DeviceLabels.shared(devices, beside: own)
        if let shown { shared.formIntersection(shown.compactMap { $0[key]?.stringValue }) }
        var names: [String: String] = [:]
        var asked: Set<String> = []
        for device in devices where shared.contains(device.id) {
            guard let member = device.member, asked.insert(member).inserted else { continue }
            var given: JSONObject = ["member": .string(member), "limit": 1_000]
            given["workspace"] = workspace ?? self.workspace.map { .string($0) }
            names.merge(deviceNames(given, &client)) { first, _ in first }
        }
        for index in devices.indices { devices[index].name = names[devices[index].id] }
        return DeviceLabels(devices, beside: own)
    }

    /// The names of a person's devices, where they have one; unknown for people
    /// of another workspace.
    private func deviceNames(
        _ given: JSONObject, _ client: inout ControlClient
    ) -> [String: String] {
        let page = try? client.call("device.list", given)
        var names: [String: String] = [:]
        for item in page?["items"]?.arrayValue ?? [] {
            guard let id = item["id"]?.stringValue, let name = item["name"]?.stringValue,
                !id.utf8.starts(with: name.utf8)
            else { continue }
            names[id] = name
        }
        return names
    }

    /// The names of this home's workspaces, by id.
    private func workspaceNames(_ client: inout ControlClient) -> [String: String] {
        let page = try? client.call("workspace.list", ["limit": 1_000])
        var names: [String: String] = [:]
        for workspace in page?["items"]?.arrayValue ?? [] {
            guard let id = workspace["id"]?.stringValue else { continue }
            names[id] = workspace["name"]?.stringValue
        }
        return names
    }

    /// The member ids of an identity.
    static func ownMembers(_ identity: JSONValue?) -> Set<String> {
        Set((identity?["members"]?.arrayValue ?? []).compactMap { $0["member"]?.stringValue })
    }

    /// An answer whose rows have labels for people.
    func labelled(
        _ result: JSONValue, of method: String, in workspace: JSONValue? = nil,
        _ client: inout ControlClient
    ) -> JSONValue {
        guard !globals.json, !globals.plain, let items = result["items"]?.arrayValue,
            !items.isEmpty, var answer = result.objectValue
        else { return result }
        let labels: DeviceLabels
        let key: String
        var places: [String: String] = [:]
        switch Command.shape(of: method) {
        case .peers:
            key = "id"
            let identity = try? client.call("identity.show", [:])
            labels = deviceLabels(items, id: key, beside: Self.ownMembers(identity), &client)
        case .syncs:
            // Its rows have nothing but ids.
            key = "peer"
            let peers = try? client.call("peer.list", ["limit": 1_000])
            let identity = try? client.call("identity.show", [:])
            labels = deviceLabels(
                peers?["items"]?.arrayValue ?? [], id: "id", beside: Self.ownMembers(identity),
                &client)
            places = workspaceNames(&client)
        case .holders, .appliers:
            key = "device"
            labels = deviceLabels(items, id: key, in: workspace, &client)
        default: return result
        }
        answer["items"] = .array(
            items.map { item in
                guard var fields = item.objectValue,
                    let label = item[key]?.stringValue.flatMap({ labels[$0] })
                else { return item }
                fields["label"] = .string(label)
                fields["place"] = item["workspace"]?.stringValue.flatMap { places[$0] }
                    .map { .string($0) }
                return .object(fields)
            })
        return .object(answer)
    }
}
