import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `The registry` {
    let store: NodeStore
    var registry: RegistryStore { store.registry }

    init() throws {
        store = try .inMemory()
        try store.begin()
    }

    @Test func `keeps single values`() throws {
        #expect(try registry.value("a") == nil)
        try registry.setValue([1], of: "a")
        try registry.setValue([], of: "b")
        try registry.setValue([2, 3], of: "a")
        try store.commit()
        let again = try store.reopened()
        #expect(try again.registry.value("a") == [2, 3])
        #expect(try again.registry.value("b") == [])
        try again.begin()
        try again.registry.setValue(nil, of: "a")
        #expect(try again.registry.value("a") == nil)
    }

    @Test func `keeps workspaces in the order of their coming`() throws {
        func row(_ number: Int64, _ standing: RegistryStore.Standing) -> RegistryStore.WorkspaceRow
        {
            .init(
                number: number, standing: standing,
                member: MemberID([UInt8](repeating: UInt8(number), count: 16)),
                joined: number * 1_000)
        }
        for number in [3, 1, 2] as [Int64] { try registry.setWorkspace(row(number, .joining)) }
        try registry.setWorkspace(row(2, .member))
        try store.commit()
        #expect(
            try store.reopened().registry.workspaces()
                == [row(1, .joining), row(2, .member), row(3, .joining)])
    }

    @Test func `holds secrets by name, each once`() throws {
        let names = (UInt8(1)...4).map { [UInt8](repeating: $0, count: 16) }
        func set(_ sealed: UInt8, _ kind: SecretKind, _ id: Int, _ workspace: Int64) throws {
            try registry.setSecret(
                [sealed], kind: kind, id: names[id], workspace: workspace,
                names: store.operations)
        }
        try set(10, .epochKey, 0, 1)
        try set(11, .discovery, 0, 1)
        try set(12, .epochKey, 0, 2)
        try set(13, .epochKey, 1, 1)
        try set(14, .epochKey, 0, 1)
        try set(15, .discovery, 0, 1)
        try store.commit()
        for store in [store, try store.reopened()] {
            let found = try store.registry.secrets(of: 1)
            #expect(found.map(\.sealed) == [[14], [15], [13]])
            #expect(found.map(\.kind) == [.epochKey, .discovery, .epochKey])
            #expect(found.map(\.id) == [names[0], names[0], names[1]])
            #expect(try store.registry.secrets(of: 2).map(\.sealed) == [[12]])
            #expect(try store.registry.secrets(of: 3).isEmpty)
        }
    }

    // A key is cited by operations before it is held, and has one number all the time.
    @Test func `gives a cited key its secret when that comes`() throws {
        let workspace = DocumentID([UInt8](repeating: 1, count: 32))
        let keyID = KeyID([UInt8](repeating: 9, count: 16))
        let random = SeededRandom(seed: 8)
        let epoch = SymmetricKey(using: random)
        var log = WrittenLog(by: TestDevice(1), in: workspace)
        log.seal(.message(.init(text: "x")), under: epoch, keyID: keyID, using: random)
        try StoredLog.put(log, in: store)
        let number = try #require(try store.operations.document(workspace)?.number)
        #expect(try registry.secrets(of: number).isEmpty)
        try store.commit()
        let again = try store.reopened()
        try again.begin()
        try again.registry.setSecret(
            [1, 2, 3], kind: .epochKey, id: keyID.bytes, workspace: number,
            names: again.operations)
        #expect(try again.registry.secrets(of: number).map(\.sealed) == [[1, 2, 3]])
        log.seal(.message(.init(text: "y")), under: epoch, keyID: keyID, using: random)
        try StoredLog.put(log, 1..<2, in: again)
        try again.commit()
        let last = try again.reopened()
        #expect(try last.connection.statement("SELECT count(*) FROM epoch_key").integer() == 1)
        let read = try last.operations.operation(2)
        #expect(read?.entry.keyID == keyID)
    }

    // I6
    @Test func `has no text and no key in the clear`() throws {
        let random = SeededRandom(seed: 8)
        let epoch = SymmetricKey(using: random)
        let text = "a text that nobody may find on the disk"
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.seal(.message(.init(text: text)), under: epoch, keyID: .zero, using: random)
        try StoredLog.put(log, in: store)
        try store.commit()
        let image = try store.connection.serialized()
        #expect(find(Array(text.utf8.prefix(16)), in: image) == nil)
        #expect(find(epoch.exposedCopy(), in: image) == nil)
        #expect(find(Array(log.operations[0].payload.prefix(24)), in: image) != nil)
    }

    private func find(_ part: [UInt8], in bytes: [UInt8]) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: part) }
    }

    @Test func `repeats what a call has made`() throws {
        let row = RegistryStore.MadeRow(body: [1], made: [2, 3])
        #expect(try registry.made([9]) == nil)
        try registry.setMade(row, key: [9], at: 100)
        try registry.setMade(.init(body: [4], made: []), key: [8], at: 200)
        try store.commit()
        let again = try store.reopened()
        #expect(try again.registry.made([9]) == row)
        try again.begin()
        try again.registry.trimMade(before: 100, keeping: 0)
        #expect(try again.registry.made([9]) == row)
        try again.registry.trimMade(before: 101, keeping: 2)
        #expect(try again.registry.made([9]) == row, "two are not too many")
        try again.registry.trimMade(before: 101, keeping: 1)
        #expect(try again.registry.made([9]) == nil)
        #expect(try again.registry.made([8])?.body == [4])
    }

    @Test func `counts each fork once`() throws {
        try registry.addEvidence(branch: 1, sequence: 5, other: 2, at: 1)
        try registry.addEvidence(branch: 1, sequence: 5, other: 2, at: 9)
        try registry.addEvidence(branch: 1, sequence: .max, other: 2, at: 1)
        try registry.addEvidence(branch: 1, sequence: 5, other: 3, at: 1)
        #expect(try registry.evidenceCount() == 3)
    }
}

struct `What is remembered of peers` {
    let store: NodeStore
    var peers: PeerStore { store.peers }
    let ada = DeviceID([UInt8](repeating: 1, count: 32))
    let bob = DeviceID([UInt8](repeating: 2, count: 32))

    init() throws {
        store = try .inMemory()
        try store.begin()
    }

    @Test func `is an address book by name`() throws {
        try peers.setEntry([2], name: [2])
        try peers.setEntry([1], name: [1, 0])
        try peers.setEntry([3], name: [1])
        try peers.setEntry([4], name: [2])
        try store.commit()
        let again = try store.reopened()
        let entries = try again.peers.entries()
        #expect(entries.map(\.name) == [[1], [1, 0], [2]])
        #expect(entries.map(\.value) == [[3], [1], [4]])
        try again.begin()
        try again.peers.setEntry(nil, name: [1])
        try again.peers.setEntry(nil, name: [7])
        #expect(try again.peers.entries().map(\.name) == [[1, 0], [2]])
    }

    // I4
    @Test func `is what was agreed, undone with the turn that agreed it`() throws {
        let first = PeerStore.Agreed(root: SetDigest([UInt8](repeating: 7, count: 32)), arrival: 5)
        let second = PeerStore.Agreed(root: .zero, arrival: 9)
        try peers.setAgreed(first, with: ada, workspace: 1)
        try peers.setAgreed(second, with: ada, workspace: 2)
        try store.commit()
        try store.begin()
        try peers.setAgreed(second, with: ada, workspace: 1)
        #expect(try peers.agreed(with: ada, workspace: 1) == second)
        store.connection.rollback()
        let again = try store.reopened()
        #expect(try again.peers.agreed(with: ada, workspace: 1) == first)
        #expect(try again.peers.agreed(with: ada, workspace: 2) == second)
        #expect(try again.peers.agreed(with: bob, workspace: 1) == nil)
    }

    @Test func `is what they hold, which only grows`() throws {
        peers.noteHeld(by: bob, branch: 1, through: 5)
        peers.noteHeld(by: ada, branch: 1, through: 9)
        peers.noteHeld(by: ada, branch: 1, through: 3)
        peers.noteHeld(by: ada, branch: 2, through: 0)
        peers.noteHeld(by: bob, branch: 2, through: .max)
        try store.commit()
        for peers in [peers, try store.reopened().peers] {
            func holders(of branch: Int64, through sequence: UInt64) -> [DeviceID] {
                peers.holders(of: branch, through: sequence, arrival: 1, workspace: 1)
            }
            #expect(holders(of: 1, through: 0) == [ada, bob])
            #expect(holders(of: 1, through: 5) == [ada, bob])
            #expect(holders(of: 1, through: 6) == [ada])
            #expect(holders(of: 1, through: 10) == [])
            #expect(holders(of: 2, through: 0) == [ada])
            #expect(holders(of: 3, through: 0) == [])
        }
    }

    @Test func `is what they hold, which may stay in memory for a while`() throws {
        func isWritten() throws -> Bool {
            try store.reopened().peers.hasReceipt(of: bob, branch: 1, through: 5)
        }
        peers.keepsReceipts = true
        peers.noteHeld(by: bob, branch: 1, through: 5)
        try store.commit()
        #expect(try peers.hasUnwrittenReceipts && !isWritten())
        #expect(peers.hasReceipt(of: bob, branch: 1, through: 5))
        peers.keepsReceipts = false
        try store.begin()
        try store.commit()
        #expect(try !peers.hasUnwrittenReceipts && isWritten())
    }

    @Test func `is what they hold by a state that was agreed`() throws {
        try peers.setAgreed(.init(root: .zero, arrival: 5), with: ada, workspace: 1)
        peers.noteHeld(by: bob, branch: 7, through: 2)
        func holders(_ arrival: Int64, _ workspace: Int64) -> [DeviceID] {
            peers.holders(of: 7, through: 2, arrival: arrival, workspace: workspace)
        }
        #expect(holders(5, 1) == [ada, bob])
        #expect(holders(6, 1) == [bob])
        #expect(holders(5, 2) == [bob])
    }
}
