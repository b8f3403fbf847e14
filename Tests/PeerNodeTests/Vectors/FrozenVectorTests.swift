import CRDTStore
import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

/// What this program once wrote must always be readable. `WSX_UPDATE_VECTORS=1` records the scenes
/// that the file lacks; `Tests/interop/frozen.py` reads it too.
@Suite(.serialized) struct `The frozen vectors` {
    @Test(.enabled(if: FrozenFile.isUpdating)) func `are completed on demand`() throws {
        try FrozenFile.completed(by: FrozenScenes.all()).write()
    }

    @Test func `are read as they were written`() throws {
        for scene in try FrozenFile.read().scenes {
            let operations = try Self.operations(of: scene)
            try Self.check(scene, operations, operations)
            for seed in Seeds.explore(2) {
                let order = FrozenScene.causalOrder(
                    of: operations, with: SeededGenerator(seed: seed))
                #expect(order.count == operations.count)
                try Self.check(scene, operations, order)
            }
        }
    }

    @Test func `hold what they are there for`() throws {
        let data = try Data(contentsOf: FrozenFile.url)
        #expect(data.count < 1_024 * 1_024)
        var kinds: [UInt64: Set<Bool>] = [:]
        for scene in try FrozenFile.read().scenes {
            for (entry, operation) in zip(scene.operations, try Self.operations(of: scene))
            where operation.header.kind == OperationKind.authority.rawValue {
                // The payload is an array of two; its first, below 24, stands as it is.
                kinds[UInt64(operation.payload[1]), default: []].insert(entry.valid)
            }
        }
        for type in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18] as [UInt64] {
            #expect(kinds[type]?.contains(true) == true, "type \(type)")
        }
        for type in [2, 4, 5, 6, 7, 10, 11, 13] as [UInt64] {
            #expect(kinds[type]?.contains(false) == true, "type \(type) without effect")
        }
    }

    @Test func `hold private documents, whatever is done in them`() throws {
        var types: [UInt64: Set<Bool>] = [:]
        var contents: Set<Bool> = []
        var mail = 0
        var subtypes: Set<PrivateSubtype> = []
        for scene in try FrozenFile.read().scenes {
            for (entry, operation) in zip(scene.operations, try Self.operations(of: scene)) {
                guard let counts = entry.counts else {
                    mail += entry.mail?.count ?? 0
                    continue
                }
                guard operation.header.kind == OperationKind.privateAuthority.rawValue else {
                    contents.insert(counts)
                    continue
                }
                guard let text = entry.plaintext,
                    let change = try? PrivateChange(decoding: try Self.bytes(text))
                else { continue }
                types[change.action.type, default: []].insert(counts)
                if case .root(let root) = change.action { subtypes.insert(root.subtype) }
            }
        }
        for type in [1, 2, 3, 4, 5, 6, 7] as [UInt64] {
            #expect(types[type]?.contains(true) == true, "type \(type)")
        }
        for type in [2, 3, 5, 6] as [UInt64] {
            #expect(types[type]?.contains(false) == true, "type \(type) without effect")
        }
        #expect(contents == [true, false])
        #expect(subtypes.isSuperset(of: [.channel, .directMessage]))
        #expect(mail > 10)
    }

    /// Header, id, signature and sealed payload of each operation.
    private static func operations(of scene: FrozenScene) throws -> [SignedOperation] {
        var keys: [KeyID: SymmetricKey] = [:]
        for entry in scene.keys {
            let key = SymmetricKey(try bytes(entry.key))
            #expect(key.keyID.bytes.hex == entry.id)
            keys[key.keyID] = key
        }
        let secrets = try FrozenSecrets(of: scene)
        return try scene.operations.map { entry in
            let header = try OperationHeader(decoding: try bytes(entry.header))
            #expect(header.encoded.hex == entry.header)
            let id = OperationSigning.id(ofHeader: header.encoded)
            #expect(id.bytes.hex == entry.id)
            let operation = SignedOperation(
                header: header, id: id, payload: try bytes(entry.payload),
                signature: try #require(Signature(untrusted: try bytes(entry.signature))))
            #expect(header.payloadHash == OperationSigning.hash(ofPayload: operation.payload))
            #expect(OperationSigning.verify(operation.signature, of: id, by: header.device))
            let plaintext =
                FrozenScene.plaintext(of: operation, keys) ?? secrets.plaintext(of: operation)
            #expect(plaintext?.hex == entry.plaintext)
            #expect(secrets.mail(in: operation) == entry.mail)
            return operation
        }
    }

    /// Verdicts and digests of a node that hears of the operations in this order.
    private static func check(
        _ scene: FrozenScene, _ operations: [SignedOperation], _ order: [SignedOperation]
    ) throws {
        let reader = try FrozenReader(order, try FrozenSecrets(of: scene))
        let atOnce = try reader.judgedAtOnce()
        for (entry, operation) in zip(scene.operations, operations) {
            #expect(try reader.isValid(operation) == entry.valid, "\(scene.name) \(entry.id)")
            #expect(reader.refused.contains(operation.id) == (entry.refused ?? false))
            #expect(try reader.counts(operation) == entry.counts, "\(scene.name) \(entry.id)")
            guard operation.header.kind == OperationKind.authority.rawValue else { continue }
            #expect(atOnce.isValid(operation.id) == entry.valid, "\(scene.name) \(entry.id)")
        }
        #expect(reader.documents == scene.documents, "\(scene.name)")
        #expect(reader.root == scene.root, "\(scene.name)")
    }

    private static func bytes(_ hex: String) throws -> [UInt8] {
        try #require(Vectors.bytes(hex: hex))
    }
}
