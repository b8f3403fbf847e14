import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A10: a join with the name of a member, and a list of devices copied from the authority document,
/// with one of the attacker's among them.
struct `A list of others' devices with one of the attacker's (A10)` {
    /// The invites that a stranger can hold.
    static let doors = ["member", "guest", "used", "approve", "address"]

    private static func door(_ name: String, of pair: HostilePair) throws -> HeldLink {
        let ada = pair.ada
        let text: String
        switch name {
        case "guest":
            let board = try ada.ok("channel.create", ["name": "board", "private": true])
            text = try ada.link(
                ["role": "guest", "uses": 9, "channels": [board["id"] ?? .null]])
        case "used":
            text = try ada.link()
            try pair.bench.bareNode("Kim").join(text)
        case "approve": text = try ada.link(["approve": true, "uses": 9])
        case "address":
            text = try ada.ok("policy.set", ["join": "open"]).text("address")
        default: text = try ada.link(["uses": 9])
        }
        pair.bench.advance(2_000)
        return try HeldLink(text, known: ada)
    }

    @Test(arguments: doors)
    func `is admitted by no link, at no node`(door: String) throws {
        let pair = try HostilePair()
        let held = try Self.door(door, of: pair)
        let own = ForeignDevice(77)
        let before = try pair.honest.map { try HostileRows($0) }
        for victim in pair.honest {
            let member = try victim.workspace().member
            let entries = try pair.known.entries(of: member)
            #expect(entries.count == 2)
            for list in ListedDevice.orders(of: entries, and: own) {
                for node in pair.honest {
                    let said = try Visitor.asks(node, as: own, with: held, on: pair.bench) {
                        let consent = held.consent(of: member, before: $0)
                        return held.request(member, list.signed(entering: consent))
                    }
                    let isUsed = door == "used" && said == .used
                    #expect(said == .invalid || isUsed, "\(list.count) devices")
                }
            }
        }
        #expect(try pair.honest.map { try HostileRows($0) } == before)
        #expect(try pair.ada.requests().isEmpty)
        for node in pair.honest { #expect(try node.workspace().owner(of: own.id) == nil) }
        try pair.expectPeace()
    }

    /// The test's own lists are valid if they name nobody else, or this would prove nothing.
    @Test func `would be admitted if it had only the attacker's`() throws {
        let pair = try HostilePair()
        let held = try Self.door("member", of: pair)
        let (phrase, own) = (ForeignDevice(76), ForeignDevice(77))
        let member = phrase.member(in: pair.workspace)
        let said = try Visitor.asks(pair.ada, as: own, with: held, on: pair.bench) {
            let consent = held.consent(of: member, before: $0)
            return held.request(
                member, [ListedDevice.own(phrase), .own(own)].signed(entering: consent))
        }
        #expect(said == .admitted)
        pair.bench.advance(2_000)
        for node in pair.honest { #expect(try node.workspace().owner(of: own.id) == member) }
    }

    /// A member who holds the link writes the admission, or the request, herself.
    @Test(arguments: ["member", "approve"])
    func `is refused in an admission or request that a member writes`(door: String) throws {
        let pair = try HostilePair()
        let held = try Self.door(door, of: pair)
        let own = ForeignDevice(77)
        let heads = try ForgedLog.heads(of: pair.ada)
        let keyID = try #require(try pair.ada.workspace().currentKey).id
        let start = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let member = try pair.ada.workspace().member
        for list in ListedDevice.orders(of: try pair.known.entries(of: member), and: own) {
            let consent = held.consent(of: member, before: pair.keys.id)
            let joiner = held.joiner(member, list.signed(entering: consent))
            for payload in [
                AuthorityPayload.admit(joiner, keyID: keyID, wraps: [], request: nil),
                .request(joiner),
            ] {
                var log = start
                let operation = log.write(payload, knowing: heads)
                try pair.expectFault(operation, "\(list.count) devices")
            }
        }
        #expect(pair.ada.log.contains { $0.hasPrefix("auth.fault fault=") })
        #expect(try pair.ada.requests().isEmpty)
        try pair.expectPeace()
    }
}
