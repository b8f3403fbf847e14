import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A13: leave, transfer, successor and device operations in the owner's name, or by the weakest
/// device of the owner. (`Known gaps of the rules` tests the evaluator.)
struct `The owner's place (A13)` {
    /// The operations that end a membership or device, aimed at the owner.
    private static func blows(
        _ pair: HostilePair, _ signer: ForeignDevice
    ) throws -> [(String, AuthorityPayload)] {
        let ada = try pair.ada.workspace()
        let create = try ada.entries(of: ada.member)
        let key = try #require(ada.currentKey).id
        let new = [ListedDevice.own(ForeignDevice(9))].signed(
            entering: .adding(to: ada.id, before: signer.id, member: ada.member))
        var successor = AuthorityPayload.WorkspaceSettings()
        successor.successor = pair.known.member.bytes
        func grant(_ role: Role, drops: [DeviceID]? = nil) -> AuthorityPayload {
            .grant(
                .init(
                    member: pair.known.member, devices: [pair.keys.id], role: role,
                    replaces: false, drops: drops, cuts: []))
        }
        return [
            ("leave", .leave(cuts: [])),
            ("transfer", grant(.owner, drops: create.map(\.device))),
            ("another owner", grant(.owner)), ("promotion", grant(.admin)),
            ("adddev", .addDevices(new, keyID: key, wraps: [])),
            ("rmdev", .removeDevice(create[1].device, cuts: [], rekey: nil)),
            ("rmdev of the phrase", .removeDevice(create[0].device, cuts: [], rekey: nil)),
            ("removal", .remove(.init(of: ada.member))), ("deletion", .deleteWorkspace),
            ("successor", .setWorkspace(successor)),
        ]
    }

    @Test(arguments: ["member", "guest"])
    func `is not lost by what others write in the owner's name`(role: String) throws {
        let pair = try HostilePair(role: role)
        let own = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let root = OperationID(sameBytesAs: pair.workspace)
        let owners = ForgedLog(pair.keys.signing, like: own, under: root, incarnation: 81)
        let heads = try ForgedLog.heads(of: pair.ada)
        for (name, payload) in try Self.blows(pair, pair.keys) {
            for (grant, start) in [("own", own), ("the owner's", owners)] {
                // Everybody may leave.
                if name == "leave", grant == "own" { continue }
                var log = start
                let blow = log.write(payload, knowing: heads)
                try pair.expectFault(blow, Comment(rawValue: "\(name) under \(grant) grant"))
            }
        }
        #expect(try pair.ada.workspace().entries(of: pair.ada.workspace().member).count == 2)
        try pair.expectPeace()
    }

    @Test func `is not lost by a leave of the weakest device`() throws {
        let theft = try StolenPhone()
        try theft.pair.expectFault(
            try theft.write(.leave(cuts: [])), as: theft.phone, "the only owner")
        // Nor besides an owner whom the phone has made.
        let made = try theft.write(theft.handingOver(keeping: nil))
        #expect(try theft.isStored(made) == [true, true])
        let left = try theft.write(.leave(cuts: []), under: try theft.linking(), incarnation: 82)
        #expect(try theft.isStored(left) == [false, false])
        try theft.recover()
    }

    @Test func `is not lost by an rmdev, nor by a successor, of the weakest device`() throws {
        let theft = try StolenPhone()
        let ada = try theft.pair.ada.workspace()
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.successor = theft.pair.known.member.bytes
        try theft.write(.setWorkspace(settings))
        #expect(try theft.pair.ada.ok("workspace.get")["role"] == "owner")
        for (number, entry) in try ada.entries(of: ada.member).enumerated() {
            try theft.write(
                .removeDevice(entry.device, cuts: [], rekey: nil), under: try theft.linking(),
                incarnation: 90 + UInt32(number))
            for node in theft.pair.honest {
                #expect(try node.workspace().judged.evaluator.bestGrant(of: entry.device) != nil)
            }
        }
        try theft.recover()
    }

    @Test func `is not lost by a transfer of the weakest device that then leaves`() throws {
        let theft = try StolenPhone()
        let given = try theft.write(theft.handingOver(keeping: [theft.phone.id]))
        #expect(try theft.isStored(given) == [true, true])
        let left = try theft.write(.leave(cuts: []), under: given.id, incarnation: 82)
        #expect(try theft.isStored(left) == [true, true])
        #expect(try theft.pair.ada.ok("workspace.get")["role"] == "owner")
        try theft.recover()
    }

    @Test func `is not lost by a transfer that names the strongest device as kept`() throws {
        let theft = try StolenPhone()
        let ada = try theft.pair.ada.workspace()
        let kept = try ada.entries(of: ada.member).map(\.device) + [theft.phone.id]
        let given = try theft.write(theft.handingOver(keeping: kept))
        #expect(try theft.isStored(given) == [true, true])
        #expect(try theft.pair.ada.ok("workspace.get")["role"] == "owner")
        // Then it leaves, as the admin that it is.
        try theft.write(.leave(cuts: []), under: given.id, incarnation: 82)
        for node in theft.pair.honest {
            #expect(try node.memberNames().contains("Ada"))
        }
        #expect(try theft.pair.ada.ok("workspace.get")["role"] == "owner")
        try theft.recover()
    }
}

extension StolenPhone {
    /// An operation of the phone that all honest nodes receive.
    ///
    /// - Parameter grant: of the phone, by default the one by which it was linked.
    @discardableResult
    fileprivate func write(
        _ payload: AuthorityPayload, under grant: OperationID? = nil, incarnation: UInt32 = 80
    ) throws -> SignedOperation {
        var log = self.log
        if let grant {
            log = ForgedLog(
                phone.signing, like: self.log, under: grant, incarnation: incarnation)
        }
        let written = log.write(
            payload, knowing: try ForgedLog.heads(of: pair.ada), at: pair.bench.wall)
        for node in pair.honest {
            let visitor = try pair.visit(node, as: phone)
            visitor.push([written.run(in: pair.workspace)])
            visitor.close()
        }
        pair.bench.advance(2_000)
        return written
    }

    /// The grant by which the phone is in.
    fileprivate func linking() throws -> OperationID {
        let ada = try pair.ada.workspace()
        return try #require(ada.judged.evaluator.binding(of: phone.id, to: ada.member))
    }

    fileprivate func handingOver(keeping: [DeviceID]?) -> AuthorityPayload {
        .grant(
            .init(
                member: pair.known.member, devices: [pair.keys.id], role: .owner,
                replaces: false, drops: keeping, cuts: []))
    }

    fileprivate func isStored(_ operation: SignedOperation) throws -> [Bool] {
        try pair.honest.map { try $0.workspace().authority[operation.id] != nil }
    }

    /// Ada's other device revokes the phone, and undoes what it handed over.
    fileprivate func recover() throws {
        let id = PublicID.device(phone.id)
        try pair.ada.ok("device.revoke", ["device": .string(id)])
        pair.bench.advance(5_000)
        for node in pair.honest {
            #expect(try node.workspace().judged.evaluator.bestGrant(of: phone.id) == nil)
            let owners = try node.ok("member.list").items.filter { $0["role"] == "owner" }
            #expect(owners.contains { $0["name"] == "Ada" })
        }
        try pair.expectPeace()
    }
}
