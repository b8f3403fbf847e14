import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What doctor finds by what the node itself has seen.
@Suite struct `Doctor` {
    private func finding(_ id: String, _ node: BenchNode) throws -> JSONValue {
        try #require(try node.ok("node.doctor").items.first { $0["id"] == .string(id) })
    }

    // MARK: Clocks

    @Test func `finds a peer whose clock is ahead, and none whose is not`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        #expect(try finding("clock", mina)["state"] == "ok")
        let joon = try bench.guest("Joon", of: mina)
        joon.clockSkew = 60_000
        try joon.send("a minute ahead")
        #expect(try finding("clock", mina)["state"] == "ok")
        joon.clockSkew = 4 * 60_000
        try joon.send("four minutes ahead")
        let warned = try finding("clock", mina)
        #expect(warned["state"] == "warn")
        #expect(try warned.text("message").contains("Joon writes 4 min ahead"))
        #expect(warned["hint"] == "timedatectl")
        // It was put right, which shows after an hour.
        joon.clockSkew = 0
        bench.advance(3_700_000)
        try joon.send("right again")
        #expect(try finding("clock", mina)["state"] == "ok")
    }

    @Test func `finds its own clock behind when several are ahead of it`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let others = try ["Joon", "Kim"].map { try bench.guest($0, of: mina) }
        mina.clockSkew = -3 * 60_000
        for other in others { try other.send("now") }
        let warned = try finding("clock", mina)
        #expect(warned["state"] == "warn")
        #expect(try warned.text("message").hasPrefix("2 peers write up to 3 min ahead"))
    }

    @Test func `keeps the largest lead of an hour, and knows so many devices`() {
        var clocks = PeerClocks()
        func device(_ number: Int) -> DeviceID {
            var bytes = [UInt8](repeating: 0, count: 32)
            bytes[0] = UInt8(number & 255)
            bytes[1] = UInt8(number >> 8)
            return DeviceID(bytes)
        }
        func time(_ monotonic: UInt64) -> TurnTime {
            TurnTime(wall: 1_000_000_000, monotonic: monotonic)
        }
        clocks.note(device(1), wroteAt: 1_000_500_000, time(1))
        clocks.note(device(1), wroteAt: 1_000_000_000, time(2))
        #expect(clocks.ahead.map(\.lead) == [500_000])
        clocks.note(device(1), wroteAt: 999_000_000, time(PeerClocks.memoryMilliseconds + 2))
        #expect(clocks.ahead.isEmpty)
        clocks.note(device(2), wroteAt: .max, time(3))
        #expect(clocks.ahead.count == 1)
        for number in 3..<PeerClocks.devicesMax + 10 {
            clocks.note(device(number), wroteAt: 0, time(4))
        }
        #expect(clocks.leads.count == PeerClocks.devicesMax)
    }

    // MARK: Announcements

    @Test func `hears whether it hears itself`() throws {
        let bench = CoreBench()
        let mina = try bench.bareNode("Mina")
        mina.announces = true
        try mina.restart()
        try mina.ok("identity.create", ["name": "Mina"])
        try mina.ok("workspace.create", ["name": "acme"])
        #expect(try finding("beacon", mina)["state"] == "ok")
        bench.advance(60_000)
        #expect(mina.beaconCount > 0)
        let warned = try finding("beacon", mina)
        #expect(warned["state"] == "warn" && warned["hint"] == "wsx-node peer add HOST")
        let beacon = try #require(mina.lastBeacon)
        bench.give(.beacon(beacon, host: "10.0.0.1"), to: mina)
        bench.settle()
        #expect(try finding("beacon", mina)["state"] == "ok")
        // Nobody is dialled because of it.
        #expect(try mina.ok("peer.list").items.isEmpty)
    }

    @Test func `says that discovery is off`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        bench.advance(60_000)
        #expect(try finding("beacon", mina)["message"] == "LAN discovery is off")
    }

    // MARK: Backups and peers

    @Test func `knows how old the last backup is`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        #expect(try finding("backup", mina)["message"] == "no backup was made yet")
        let day: UInt64 = 24 * 3_600_000
        bench.wall += 8 * day
        let never = try finding("backup", mina)
        #expect(never["state"] == "warn" && never["hint"] == "wsx-node backup create -o FILE")
        bench.give(.backedUp(at: bench.wall), to: mina)
        bench.settle()
        #expect(try finding("backup", mina)["message"] == "the last backup is 0 days old")
        try mina.restart()
        bench.wall += 30 * day
        #expect(try finding("backup", mina)["state"] == "ok")
        bench.wall += day
        let old = try finding("backup", mina)
        #expect(old["state"] == "warn" && old["message"] == "the last backup is 31 days old")
    }

    @Test func `tells of each peer where it was tried, why in vain, and when it was seen`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.ok("peer.add", ["address": "10.9.9.9"])
        let lost = try finding("peer", mina)
        #expect(lost["state"] == "warn")
        #expect(
            lost["message"]
                == "10.9.9.9:29790 not connected: refused; never seen; addresses 10.9.9.9:29790")
        try mina.ok("peer.remove", ["peer": "10.9.9.9:29790"])
        let joon = try bench.guest("Joon", of: mina)
        #expect(try finding("peer", mina)["state"] == "ok")
        bench.cut(mina, joon)
        bench.advance(3 * 3_600_000)
        let message = try finding("peer", mina).text("message")
        #expect(message.hasPrefix("Joon not connected: "))
        #expect(message.contains("last seen 3 h ago; addresses 10.0.0.2:29790"), "\(message)")
    }
}
