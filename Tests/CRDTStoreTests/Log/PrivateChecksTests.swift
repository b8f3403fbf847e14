import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `An operation of a private document or a mailbox` {
    private let random = SeededRandom(seed: 51)
    private static let key = SymmetricKey([UInt8](repeating: 7, count: 32))
    private static let grant = OperationID([UInt8](repeating: 0xa1, count: 32))
    private static let clear = PrivatePayload.Clear(
        workspace: DocumentID([UInt8](repeating: 0xaa, count: 32)),
        nonce: [UInt8](repeating: 5, count: 16))

    private func draft(
        _ kind: OperationKind, in document: DocumentID, at sequence: UInt64 = 0,
        after previous: OperationID? = nil, grant: OperationID = Self.grant,
        citing dependencies: [OperationReference] = []
    ) -> OperationDraft {
        OperationDraft(
            kind: kind, document: document, incarnation: 1, sequence: sequence,
            previous: previous, timestamp: HybridTimestamp(rawValue: (sequence + 1) << 16),
            grant: grant, dependencies: dependencies)
    }

    private var root: SignedOperation {
        draft(.privateAuthority, in: .zero).sealedAndSigned(
            PrivateChange(.root(PrivateSamples.root), seat: nil), clear: Self.clear,
            under: Self.key, with: TestDevice(1).key, using: SeededRandom(seed: 52))
    }

    private func rekey(
        in document: DocumentID, after previous: SignedOperation?
    ) -> SignedOperation {
        draft(
            .privateAuthority, in: document, at: previous == nil ? 0 : 1, after: previous?.id
        ).sealedAndSigned(
            PrivateChange(.delete, seat: Self.grant), clear: nil, under: Self.key,
            with: TestDevice(previous == nil ? 2 : 1).key, using: random)
    }

    private func link(_ operation: SignedOperation) -> ChainLink {
        ChainLink(id: operation.id, timestamp: operation.header.timestamp)
    }

    private func signedPlain(_ payload: [UInt8], _ draft: OperationDraft) -> OperationRun {
        draft.signed(payload: payload, with: TestDevice(1).key)
            .run(in: draft.document == .zero ? DocumentID(sameBytesAs: Self.grant) : draft.document)
    }

    @Test func `makes a document of its own id`() throws {
        let root = root
        let document = DocumentID(sameBytesAs: root.id)
        let checked = try OperationChecks.check(root, in: document, after: nil)
        #expect(checked.id == root.id && checked.header == root.header)
        #expect(checked.privateRoot == Self.clear && checked.authority == nil)
        let next = rekey(in: document, after: root)
        let again = try OperationChecks.check(next, in: document, after: link(root))
        #expect(again.privateRoot == nil && again.header.document == document)
        let elsewhere = try OperationChecks.check(
            rekey(in: document, after: nil), in: document, after: nil)
        #expect(elsewhere.privateRoot == nil && elsewhere.header.sequence == 0)
    }

    // E03: what was signed for one document is of no other.
    @Test func `belongs to no other document`() {
        let root = root
        let document = DocumentID(sameBytesAs: root.id)
        let other = DocumentID([UInt8](repeating: 3, count: 32))
        #expect(refusal(of: root.run(in: other)) == .wrongRoot)
        let next = rekey(in: document, after: root)
        #expect(refusal(of: next.run(in: other), after: link(root)) == .badSignature)
        #expect(refusal(of: next.run(in: document), after: link(root)) == nil)
    }

    @Test func `has a root of one form`() {
        let sealed = [UInt8](repeating: 1, count: 72)
        let root = PrivatePayload(clear: Self.clear, sealed: sealed).encoded
        let cited = OperationReference(
            device: .zero, incarnation: 0, sequence: 0, id: Self.grant)
        var run = self.root.run(in: DocumentID(sameBytesAs: self.root.id))
        run.entries[0].keyID = nil
        let unfit = Rejection.malformed(Malformed(.inconsistent, at: 0))
        #expect(refusal(of: run) == unfit)
        run = self.root.run(in: DocumentID(sameBytesAs: self.root.id))
        run.entries[0].grant = .zero
        #expect(refusal(of: run) == unfit)
        run = self.root.run(in: DocumentID(sameBytesAs: self.root.id))
        run.entries[0].dependencies = [cited]
        #expect(refusal(of: run) == unfit)
        // A second root, behind the first.
        run = rekey(in: DocumentID(sameBytesAs: self.root.id), after: self.root)
            .run(in: DocumentID(sameBytesAs: self.root.id))
        run.entries[0].payload = root
        #expect(refusal(of: run, after: link(self.root)) == unfit)
    }

    @Test(arguments: [
        (OperationKind.privateAuthority, "82 f6 58 47 01*71"), (.privateAuthority, ""),
        (.privateAuthority, "82 a0 58 48 01*72"), (.mailbox, "82 50 01*16 80"), (.mailbox, "00"),
    ])
    func `is of its form or refused`(_ kind: OperationKind, _ notation: String) {
        var run = signedPlain(
            spelled(notation), draft(kind, in: DocumentID([UInt8](repeating: 3, count: 32))))
        run.entries[0].keyID = kind == .privateAuthority ? Self.key.keyID : nil
        guard case .malformed? = refusal(of: run) else {
            Issue.record("taken")
            return
        }
    }

    @Test func `of a mailbox is sealed under no epoch key`() throws {
        let payload = try #require(PrivateSamples.mailbox(4)).encoded
        let document = MailboxPlace.mailbox(of: Self.clear.workspace)
        var run = signedPlain(payload, draft(.mailbox, in: document))
        #expect(refusal(of: run) == nil)
        run.entries[0].keyID = Self.key.keyID
        #expect(refusal(of: run) == .malformed(Malformed(.inconsistent, at: 0)))
        let noGrant = signedPlain(payload, draft(.mailbox, in: document, grant: .zero))
        #expect(refusal(of: noGrant) == .malformed(Malformed(.inconsistent, at: 0)))
    }

    // O08: both kinds of authority cite all heads.
    @Test(arguments: [
        (OperationKind.content, 16), (.authority, 64), (.privateAuthority, 64), (.mailbox, 16),
        (.redact, 16),
    ])
    func `cites no more than its kind may`(_ kind: OperationKind, _ limit: Int) {
        #expect(OperationKind.dependenciesMax(kind.rawValue) == limit)
        var random = SeededGenerator(seed: 9)
        let cited = `The header of an operation`.references(limit + 1, with: &random)
        var entry = rekey(in: Self.clear.workspace, after: nil)
            .run(in: Self.clear.workspace).entries[0]
        entry.kind = kind.rawValue
        entry.dependencies = cited
        #expect(throws: Rejection.tooManyDependencies) { try OperationChecks.checkForm(entry) }
        entry.dependencies = Array(cited.prefix(limit))
        #expect(throws: Never.self) { try OperationChecks.checkForm(entry) }
    }
}
