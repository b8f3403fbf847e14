import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `An authority operation` {
    private static func log(_ count: Int) -> WrittenLog {
        var log = WrittenLog(foundedBy: TestDevice(1))
        for number in 0..<UInt64(count) {
            log.write(AuthorityPayload.feature(number).encoded, kind: .authority)
        }
        return log
    }

    @Test(arguments: 0..<5)
    func `is verified by itself`(_ place: Int) throws {
        let log = Self.log(4)
        let checked = try OperationChecks.check(log.run, after: nil)
        #expect(checked.allSatisfy { $0.isSignatureVerified })
        #expect(refusal(of: log.run.withGarbage(at: [place])) == .badSignature)
    }

    @Test func `among content is verified by itself, and the content by it`() throws {
        var log = WrittenLog(foundedBy: TestDevice(1))
        log.writeMany(3)
        log.write(AuthorityPayload.deleteWorkspace.encoded, kind: .authority)
        log.writeMany(2)
        let checked = try OperationChecks.check(log.run, after: nil)
        #expect(
            checked.map(\.isSignatureVerified) == [true, false, false, false, true, false, true])
        let run = log.run
        #expect(refusal(of: run.withGarbage(at: [1, 2, 3, 5])) == nil)
        #expect(refusal(of: run.withGarbage(at: [4])) == .badSignature)
    }

    @Test(arguments: ["", "82 01 a0", "80", "82 11 a1 01 00", "82 11 a0 00", "ff"])
    func `says what the protocol knows`(_ notation: String) {
        var log = Self.log(1)
        log.write(spelled(notation), kind: .authority)
        guard case .malformed = refusal(of: log.run) else {
            Issue.record("accepted \(notation)")
            return
        }
    }

    // C05
    @Test func `of a later version is chained`() throws {
        var log = Self.log(1)
        log.write(spelled("82 18 63 a0"), kind: .authority)
        log.write(spelled("82 11 a0"), kind: .authority)
        let checked = try OperationChecks.check(log.run, after: nil)
        #expect(checked.map(\.authority).dropFirst(2) == [.unknown(type: 99), .deleteWorkspace])
    }

    // C02
    @Test func `is not nested beyond the profile`() {
        var log = Self.log(0)
        let deep = [0x82, 0x18, 0x63] + [UInt8](repeating: 0x81, count: 100_000) + [0]
        log.write(deep, kind: .authority)
        #expect(refusal(of: log.run)?.word == "op.too_deep")
    }
}

// A09
struct `The founding of a workspace` {
    @Test func `names its document`() throws {
        let log = WrittenLog(foundedBy: TestDevice(1))
        let checked = try OperationChecks.check(log.run, after: nil)
        #expect(checked.first?.header.document == DocumentID.zero)
        #expect(DocumentID(sameBytesAs: log.operations[0].id) == log.document)
    }

    @Test func `is of no other document`() {
        let log = WrittenLog(foundedBy: TestDevice(1))
        let other = WrittenLog(foundedBy: TestDevice(1), nonce: 8)
        let run = log.operations[0].run(in: other.document)
        #expect(refusal(of: run) == .wrongRoot)
        let stranger = TestDevice(2).founding().run(in: log.document)
        #expect(refusal(of: stranger) == .wrongRoot)
    }

    @Test func `happens once`() {
        var log = WrittenLog(foundedBy: TestDevice(1))
        let create = log.operations[0].payload
        log.write(create, kind: .authority)
        #expect(refusal(of: log.run) == .wrongRoot)
        #expect(refusal(of: log.run(1..<2), after: log.link(before: 1)) == .wrongRoot)
    }

    @Test func `cites no grant`() {
        let document = WrittenLog(foundedBy: TestDevice(1)).document
        var log = WrittenLog(by: TestDevice(2), in: document)
        log.write(TestDevice(2).founding().payload, kind: .authority)
        #expect(refusal(of: log.run) == .wrongRoot)
    }

    @Test func `is what begins without a grant`() {
        let draft = OperationDraft(
            kind: .authority, document: .zero, incarnation: 1, sequence: 0, previous: nil,
            timestamp: HybridTimestamp(rawValue: 1), grant: .zero)
        let operation = draft.signed(
            payload: AuthorityPayload.deleteWorkspace.encoded, with: TestDevice(1).key)
        let run = operation.run(in: DocumentID(sameBytesAs: operation.id))
        #expect(refusal(of: run) == .wrongRoot)
    }

    @Test func `is authentic`() {
        let log = WrittenLog(foundedBy: TestDevice(1))
        #expect(refusal(of: log.run.withGarbage(at: [0])) == .badSignature)
    }
}
