import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `A signed operation` {
    /// By `hashlib` and `cryptography` for Python, with the seed of 32 bytes 0x09.
    @Test func `has the id and the signature that the protocol says`() throws {
        let key = SigningKey(seed: [UInt8](repeating: 9, count: 32), lifetime: .brief)
        var header = `The header of an operation`.header()
        header.device = key.device
        let id = OperationSigning.id(ofHeader: header.encoded)
        #expect(
            id.bytes
                == Vectors.bytes(
                    hex: "3650f37f14db81d3eecc9bf915e9ba924bd2e8cf3297c20bf03c3d7be76acc5f"))
        let signature = key.signature(for: OperationSigning.signedBytes(of: id))
        #expect(
            signature.bytes
                == Vectors.bytes(
                    hex: "307db5282d8b6f5027befb605cee8f42f27799c89c15e05752d06e364173a034"
                        + "6a35246ab5ee5e0324b9295196f3a9dc9c95043eb72b44ffc00e345b6272be01"))
        #expect(OperationSigning.verify(signature, of: id, by: key.device))
        #expect(OperationSigning.hash(ofPayload: Array("hello".utf8)) == header.payloadHash)
    }

    @Test func `speaks for nobody else and of nothing else`() {
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        let operation = log.write([1])
        #expect(
            OperationSigning.verify(operation.signature, of: operation.id, by: TestDevice(1).id))
        #expect(
            !OperationSigning.verify(operation.signature, of: operation.id, by: TestDevice(2).id))
        #expect(!OperationSigning.verify(operation.signature, of: .zero, by: TestDevice(1).id))
        let bare = TestDevice(1).key.signature(for: operation.id.bytes)
        #expect(!OperationSigning.verify(bare, of: operation.id, by: TestDevice(1).id))
    }

    @Test func `cites in order, however the draft was changed`() {
        var random = SeededGenerator(seed: 3)
        let references = `The header of an operation`.references(5, with: &random)
        var draft = OperationDraft(
            kind: .content, document: .zero, incarnation: 1, sequence: 0, previous: nil,
            timestamp: .zero, grant: .zero, dependencies: references.reversed())
        let key = TestDevice(1).key
        #expect(draft.signed(payload: [], with: key).header.dependencies == references)
        draft.dependencies = [references[3], references[0]]
        #expect(
            draft.signed(payload: [], with: key).header.dependencies
                == [references[0], references[3]])
    }

    @Test func `is sealed to its place`() throws {
        let random = SeededRandom(seed: 4)
        let epoch = SymmetricKey(using: random)
        let content = ContentPayload.message(.init(text: "hello"))
        var log = WrittenLog(by: TestDevice(1), in: DocumentID([UInt8](repeating: 5, count: 32)))
        log.writeMany(2)
        let operation = log.seal(content, under: epoch, keyID: .zero, using: random)
        #expect(operation.header.keyID == KeyID.zero)
        #expect(operation.header.payloadLength == operation.payload.count)
        #expect(OperationSigning.hash(ofPayload: operation.payload) == operation.header.payloadHash)
        let key = epoch.documentKey(for: log.document)
        let opened = SealedPayload.open(
            operation.payload, under: key, associatedData: operation.header.associatedData)
        #expect(opened == content.encoded)
        var moved = operation.header
        moved.sequence += 1
        #expect(
            SealedPayload.open(
                operation.payload, under: key, associatedData: moved.associatedData) == nil)
        let other = epoch.documentKey(for: .zero)
        #expect(
            SealedPayload.open(
                operation.payload, under: other,
                associatedData: operation.header.associatedData) == nil)
    }

    // 3.15.12: the same text at the same place, from a copied store, has another nonce.
    @Test func `never repeats a nonce`() {
        let random = SeededRandom(seed: 4)
        let epoch = SymmetricKey(using: random)
        var log = WrittenLog(by: TestDevice(1), in: .zero)
        log.writeMany(1)
        var nonces: Set<[UInt8]> = []
        for _ in 0..<200 {
            var copy = log
            let operation = copy.seal(
                .message(.init(text: "x")), under: epoch, keyID: .zero, using: random)
            nonces.insert([UInt8](operation.payload.prefix(24)))
        }
        #expect(nonces.count == 200)
    }

    @Test func `travels as a run of one`() {
        var log = WrittenLog(foundedBy: TestDevice(4))
        log.write([1, 2], kind: .authority)
        let run = log.operations[1].run(in: log.document)
        #expect(run == log.run(1..<2))
        #expect(run.log == log.name && run.firstSequence == 1)
        #expect(log.operations[0].header.document == .zero)
        #expect(log.run(0..<1).log.document == DocumentID(sameBytesAs: log.operations[0].id))
    }

    @Test func `is refused with a word that scripts know`() {
        let words: [(Rejection, String)] = [
            (.malformed(Malformed(.truncated, at: 3)), "op.malformed"),
            (.malformed(Malformed(.depthExceeded, at: 3)), "op.too_deep"),
            (.tooLarge, "op.too_large"), (.tooManyDependencies, "op.too_many_deps"),
            (.badSignature, "op.bad_signature"), (.wrongScope, "op.wrong_scope"),
            (.outOfOrder, "op.malformed"), (.wrongRoot, "op.wrong_scope"),
            (.unauthorised, "auth.fault"),
        ]
        for (rejection, word) in words { #expect(rejection.word == word) }
    }
}
