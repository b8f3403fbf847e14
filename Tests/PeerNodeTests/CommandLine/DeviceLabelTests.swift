import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `A device among others` {
    private static func device(
        _ id: String, _ person: String, _ name: String? = nil, member: String? = nil
    ) -> DeviceLabels.Device {
        .init(id: id, member: member ?? "u_" + person, person: person, name: name)
    }

    private func labels(
        _ devices: [DeviceLabels.Device], beside others: Set<String> = []
    ) -> [String?] {
        let labels = DeviceLabels(devices, beside: others)
        return devices.map { labels[$0.id] }
    }

    @Test func `is called by its person who has no other`() {
        #expect(
            labels([Self.device("d_1", "Mina", "amber"), Self.device("d_2", "Joon")])
                == ["Mina", "Joon"])
    }

    @Test func `is told apart by its own name`() {
        let two = [Self.device("d_1", "Mina", "amber"), Self.device("d_2", "Mina", "phone")]
        #expect(labels(two) == ["Mina (amber)", "Mina (phone)"])
        #expect(labels([two[0]], beside: ["u_Mina"]) == ["Mina (amber)"])
    }

    @Test func `never shares a label with another`() {
        let all = [
            Self.device("d_aaa7k3qm2xa", "Mina", "vm"), Self.device("d_aaa7k3qm2xb", "Mina", "vm"),
            Self.device("d_aaa7k3qm2xc", "Mina", "phone"), Self.device("d_aaa7k3qm2xd", "Mina"),
            Self.device("d_aaa7k3qm2xe", "Mina", "desk", member: "u_other"),
        ]
        let shown = labels(all)
        #expect(
            shown == [
                "Mina (d_…3qm2xa)", "Mina (d_…3qm2xb)", "Mina (phone)", "Mina (d_…3qm2xd)",
                "Mina (desk)",
            ])
        #expect(Set(shown).count == all.count)
    }

    @Test func `is not taken for another by what somebody is called`() {
        let amber = Self.device("d_aaa7k3qm2xa", "Mina", "amber")
        let phone = Self.device("d_aaa7k3qm2xb", "Mina", "phone")
        for name in ["Mina (amber)", "Mina (d_…3qm2xa)"] {
            let liar = Self.device("d_liarliarli", name)
            let shown = labels([amber, liar, phone])
            #expect(Set(shown).count == 3, "\(shown)")
            #expect(shown[1]?.hasSuffix("(d_…liarli)") == true || name != "Mina (amber)")
        }
    }

    @Test(arguments: [
        ("amber", "amber"), ("amber.example.org", "amber"), ("localhost", nil),
        ("LOCALHOST.localdomain", nil), ("", nil), (".x", nil), ("a\u{1B}b", nil),
        (String(repeating: "x", count: 64), String(repeating: "x", count: 30)),
    ])
    func `is called as its machine, where that says something`(
        _ row: (host: String, name: String?)
    ) {
        #expect(HostName.device(row.host) == row.name)
    }

    @Test func `is behind or ahead by nobody knows how much while it is away`() {
        let peers: [JSONValue] = ["connected", "waiting"].map { state in
            [
                "id": .string("d_" + state), "name": "Mina", "state": .string(state),
                "address": "10.0.0.1:1", "behind": 3, "ahead": 0, "last_error": .null,
            ]
        }
        let rows = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
            .text(["items": .array(peers)], of: "peer.list").split(separator: "\n").dropFirst()
            .map { $0.split(separator: " ").map(String.init) }
        #expect(rows.map { $0.suffix(3) } == [["3", "0", "-"], ["-", "-", "-"]])
        let added = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
            .text(peers[1], of: "peer.add").split(separator: "\n").last
        #expect(added?.split(separator: " ").suffix(3) == ["-", "-", "-"])
    }

    @Test func `is marked in its list where it is a phrase`() {
        let row: (String, String, Bool) -> JSONValue = { id, name, isPhrase in
            [
                "id": .string(id), "name": .string(name), "self": false,
                "added_at": 1_795_190_000_000, "origin": "linked",
                "added_by": ["name": "Mina"], "revoked": false, "recovery": .bool(isPhrase),
            ]
        }
        let list: JSONValue = [
            "items": [row("d_1", "recovery phrase", true), row("d_2", "amber", false)]
        ]
        let io = MemoryIO()
        let text = Rendering(globals: GlobalFlags(), environment: [:], io: io)
            .text(list, of: "device.list")
        #expect(text.hasPrefix("ID   KIND    NAME"))
        #expect(text.contains("d_1  phrase  recovery phrase"))
        #expect(text.contains("d_2  device  amber"))
        var plain = GlobalFlags()
        plain.plain = true
        #expect(
            Rendering(globals: plain, environment: [:], io: io).text(list, of: "device.list")
                .hasPrefix("d_1\trecovery phrase\tno\t1795190000000\tlinked\tMina\tno\n"))
    }
}
