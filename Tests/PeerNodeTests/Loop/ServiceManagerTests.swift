import Testing

@testable import PeerNode

struct `A service manager` {
    @Test(arguments: [
        nil, "", "relative", "vsock:2:1", "/" + String(repeating: "x", count: 107),
        "@" + String(repeating: "x", count: 107),
    ])
    func `is nobody without an address`(_ name: String?) {
        #expect(ServiceManager(named: name) == nil)
    }

    @Test(arguments: [
        "/run/notify", "@", "@name", "/" + String(repeating: "x", count: 106),
        "@" + String(repeating: "x", count: 106),
    ])
    func `may be at a path or under a name, and need not be there`(_ name: String) throws {
        let manager = try #require(ServiceManager(named: name))
        manager.say(.ready)
        manager.say(.stopping)
    }
}
