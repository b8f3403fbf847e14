import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import PeerNode

struct `A device link` {
    private static func link(hints: [String] = ["192.168.1.20:29790"]) -> DeviceLink {
        DeviceLink(
            secret: InviteSecret(using: SeededRandom(seed: 7)),
            issuer: DeviceID([UInt8](1...32)),
            hints: hints.compactMap { PeerAddress($0, defaultPort: 1) })
    }

    @Test(arguments: [
        [], ["192.168.1.20:29790"], ["[2001:db8::1]:7", "host.example:8"],
    ])
    func `is read as it was written, in either case`(_ hints: [String]) throws {
        let link = Self.link(hints: hints)
        #expect(link.text.hasPrefix("wsx://device/"))
        #expect(link.text.utf8.count <= InviteLink.characterCountMax)
        for text in [link.text, link.text.uppercased(), " \(link.text)\n"] {
            let read = try DeviceLink(text)
            #expect(read.hints == link.hints)
            #expect(read.issuer == 0x0102_0304_0506_0708)
            #expect(read.secret.exposedSeed() == link.secret.exposedSeed())
        }
    }

    @Test func `leaves out hints that do not fit`() throws {
        let name = String(repeating: "n", count: 38)
        let link = Self.link(hints: ["\(name):1", "\(name):2", "\(name):3"])
        #expect(link.text.utf8.count <= InviteLink.characterCountMax)
        #expect(try DeviceLink(link.text).hints.count < 3)
    }

    @Test func `is refused with any letter lost or changed`() {
        let text = Array(Self.link().text.utf8)
        for place in DeviceLink.prefix.utf8.count..<text.count {
            var changed = text
            changed[place] =
                changed[place] == UInt8(ascii: "q") ? UInt8(ascii: "r") : UInt8(ascii: "q")
            #expect(throws: InviteLink.Problem.self) {
                try DeviceLink(String(decoding: changed, as: UTF8.self))
            }
            changed.remove(at: place)
            #expect(throws: InviteLink.Problem.self) {
                try DeviceLink(String(decoding: changed, as: UTF8.self))
            }
        }
    }

    @Test(arguments: [
        "", "wsx://device/", "wsx://join/abc", "wsx://device/abc", "d_7k3qm2xa",
        String(repeating: "wsx://device/", count: 100),
    ])
    func `is nothing else`(_ text: String) {
        #expect(throws: InviteLink.Problem.self) { try DeviceLink(text) }
    }

    @Test func `and an invite are not taken for each other`() {
        #expect(throws: InviteLink.Problem.deviceLink) { try InviteLink(Self.link().text) }
        let capitals = Self.link().text.uppercased()
        #expect(throws: InviteLink.Problem.deviceLink) { try InviteLink(capitals) }
        let moved = "wsx://join/" + Self.link().text.dropFirst(DeviceLink.prefix.count)
        #expect(throws: InviteLink.Problem.self) { try InviteLink(String(moved)) }
    }
}
