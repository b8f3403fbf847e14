import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A member who cites what is not there` {
    private static func reference(_ number: UInt8) -> OperationReference {
        OperationReference(
            device: DeviceID([UInt8](repeating: number, count: 32)), incarnation: 1, sequence: 4,
            id: OperationID([UInt8](repeating: number, count: 32)))
    }

    private static func reference(to log: HostileLog, _ place: Int) -> OperationReference {
        OperationReference(
            device: log.name.device, incarnation: log.name.incarnation, sequence: UInt64(place),
            id: log.operations[place].id)
    }

    /// Runs of 1,000 operations, each waiting for something else: more than one peer may store.
    @Test func `fills no more than one peer's share of the waiting room (O06)`() throws {
        let scene = try HostileScene(seed: 51)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        for number in 1...12 {
            var log = HostileLog(scene.mallory, incarnation: UInt32(number))
            log.write("never", at: scene.wall) {
                $0.dependencies = [Self.reference(UInt8(number))]
            }
            let entry = log.run().entries[0]
            link.push(
                OperationRun(
                    log: log.name, firstSequence: 0, previous: nil,
                    entries: [OperationRun.Entry](repeating: entry, count: 1_000)))
        }
        scene.world.run(for: 5_000)
        #expect(link.isOpen)
        let waiting = try #require(scene.ada.host?.core).log.waiting
        #expect(waiting.operationCount == Limits.waitingPerPeerMax)
        #expect(waiting.byteCount <= Limits.waitingBytesPerPeerMax)
        try scene.expectHonestPeace()
        link.close()
        scene.world.run(for: 1_000)
        #expect(scene.ada.host?.core.log.waiting.operationCount == 0)
    }

    // The cited operation is in another log, which only Bob was given.
    @Test func `has them shown as soon as another brings what they cite (O06)`() throws {
        let scene = try HostileScene(seed: 52)
        defer { scene.world.end() }
        scene.world.network.part(scene.ada, scene.bob)
        var cited = HostileLog(scene.mallory, incarnation: 1)
        for number in 0..<3 { cited.write("c\(number)", at: scene.wall + UInt64(number)) }
        scene.peer().connect(to: scene.bob).push(cited.run())
        var citing = HostileLog(scene.mallory, incarnation: 2)
        citing.write("cites", at: scene.wall) {
            $0.dependencies = [Self.reference(to: cited, 2)]
        }
        for number in 0..<3 { citing.write("d\(number)", at: scene.wall + 5 + UInt64(number)) }
        let link = scene.peer(1, as: scene.mallory).connect(to: scene.ada)
        // One by one and the last first, so that each waits for the one before it.
        for place in citing.operations.indices.reversed() {
            link.push(citing.cut(to: place + 1).run(from: place))
        }
        scene.world.run(for: 1_000)
        #expect(scene.ada.host?.core.log.waiting.operationCount == 4)
        scene.world.network.heal()
        try scene.expectHonestPeace(
            showing: ["c0", "c1", "c2", "cites", "d0", "d1", "d2"])
        #expect(scene.ada.host?.core.log.waiting.operationCount == 0)
        #expect(link.isOpen)
    }

    // Of more than 64 not even the message is read.
    @Test(arguments: [17, 64, 65])
    func `is dropped for too many (O08)`(count: Int) throws {
        let scene = try HostileScene(seed: 53)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("never", at: scene.wall) {
            $0.dependencies = (0..<count).map { Self.reference(UInt8($0)) }
        }
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 1_000)
        #expect(!link.isOpen)
        if count <= Limits.authDependenciesMax {
            #expect(HostileScene.hasLogged(scene.ada, "op.rejected", "op.too_many_deps"))
        } else {
            #expect(link.errorCode == "sync.malformed")
        }
        try scene.expectHonestPeace()
    }

    @Test(arguments: [true, false])
    func `is dropped for citing the same twice (O08)`(isKnown: Bool) throws {
        let scene = try HostileScene(seed: 54)
        defer { scene.world.end() }
        var cited = HostileLog(scene.mallory, incarnation: 1)
        cited.write("cited", at: scene.wall)
        var log = HostileLog(scene.mallory, incarnation: 77)
        let reference = isKnown ? Self.reference(to: cited, 0) : Self.reference(9)
        log.write("never", at: scene.wall + 1) { $0.dependencies = [reference, reference] }
        let link = scene.peer().connect(to: scene.ada)
        link.push(cited.run())
        link.push(log.run())
        scene.world.run(for: 1_000)
        #expect(!link.isOpen)
        #expect(HostileScene.hasLogged(scene.ada, "op.rejected", "op.malformed"))
        try scene.expectHonestPeace(showing: ["cited"])
    }

    // Its own grant is in the authority document, the name it goes by in the one of profiles.
    @Test func `shows nothing of what cites another document (O08)`() throws {
        let scene = try HostileScene(seed: 55)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let record = try #require(workspace.authority[scene.mallory.grant])
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("never", at: scene.wall) {
            $0.dependencies = [
                OperationReference(
                    device: record.log.device, incarnation: record.log.incarnation,
                    sequence: record.sequence, id: scene.mallory.grant)
            ]
        }
        log.write("nor this", at: scene.wall + 1)
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.peer(1, as: scene.mallory).connect(to: scene.bob).push(log.run())
        scene.world.run(for: 1_000)
        #expect(link.isOpen == (core.log.waiting.operationCount > 0), "refused, or parked for good")
        try scene.expectHonestPeace()
    }
}
