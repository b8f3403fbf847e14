import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `What the group key is changed after` {
    @Test func `is also that somebody becomes a guest, and nothing else about roles`() throws {
        var story = Story(admins: ["ann", "bob"])
        let demotion = story.promote("ann", to: .guest, replacing: true)
        _ = story.promote("bob", to: .member, replacing: true)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.membershipEnds.isEmpty)
            #expect(evaluator.keyEnds == [demotion])
            #expect(evaluator.role(of: story.member("ann")) == .guest)
        }
    }
}

struct `A box in an admission` {
    private static func payload(_ boxBytes: Int) -> AuthorityPayload {
        .addDevices(
            [
                DeviceEntry(
                    device: DeviceID([UInt8](repeating: 1, count: 32)),
                    agreementKey: [UInt8](repeating: 2, count: 32),
                    signature: Signature([UInt8](repeating: 3, count: 64)))
            ], keyID: .zero,
            wraps: [
                WrappedKey(
                    devicePrefix: [UInt8](repeating: 1, count: 8),
                    box: [UInt8](repeating: 4, count: boxBytes))
            ])
    }

    @Test(arguments: [(112, true), (80, false)])
    func `shows by its size whether there is a group key in it`(
        bytes: Int, holdsKey: Bool
    ) throws {
        let payload = Self.payload(bytes)
        #expect(try AuthorityPayload(decoding: payload.encoded) == payload)
        guard case .addDevices(_, _, let wraps, _) = payload else { return }
        #expect(wraps.map(\.holdsKey) == [holdsKey])
    }

    @Test(arguments: [0, 48, 79, 81, 111, 113, 160])
    func `has one of two sizes`(bytes: Int) {
        #expect(throws: Malformed.self) {
            try AuthorityPayload(decoding: Self.payload(bytes).encoded)
        }
    }
}

extension `The digest of a workspace` {
    /// A guest's digest equals that of a workspace in which there is nothing else.
    @Test func `of a part is as if there were nothing else`() throws {
        let documents = (0..<6).map { number in
            DocumentID([UInt8(number / 2), UInt8(number)] + [UInt8](repeating: 7, count: 30))
        }
        var whole = WorkspaceDigest()
        var part = WorkspaceDigest()
        for (number, document) in documents.enumerated() {
            let tips = try Self.tips(in: document, [(1, 1, UInt64(number), UInt8(number))])
            whole.update(document, tips: tips)
            if number.isMultiple(of: 2) { part.update(document, tips: tips) }
        }
        let wanted = documents.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        let unknown = DocumentID([UInt8](repeating: 9, count: 32))
        var confined = whole.confined(to: wanted.reversed() + [unknown, wanted[0]])
        #expect(confined.root() == part.root())
        #expect(confined.bucketBytes() == part.bucketBytes())
        #expect(confined.root() != whole.root())
        for bucket in UInt8.min...2 {
            #expect(
                confined.documents(in: bucket).map(\.document)
                    == part.documents(in: bucket).map(\.document))
        }
        var nothing = whole.confined(to: [])
        var empty = WorkspaceDigest()
        #expect(nothing.root() == empty.root())
        #expect(nothing.documents(in: 0).isEmpty)
        // The extracted part develops independently.
        confined.update(wanted[0], tips: [])
        #expect(confined.root() != part.root())
        #expect(whole.documents(in: 0).count == 2)
    }
}
