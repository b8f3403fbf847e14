import Testing
import WorkspaceModel

@testable import CRDTStore

/// The table of what kinds of documents mean. A new kind, and a new sort of content, needs a row here.
struct `A kind of document` {
    private struct Row {
        let kind: DocumentKind
        let access: DocumentAccess
        let leastRole: Role
        let mayBePrivate: Bool
        /// `nil` where nothing is known.
        let contents: DocumentContents?
    }

    private static let table: [Row] = [
        .init(
            kind: .authority, access: .unsealed, leastRole: .member, mayBePrivate: false,
            contents: []),
        .init(
            kind: .channel, access: .workspace, leastRole: .member, mayBePrivate: false,
            contents: [.messages, .subscriptions, .coins]),
        .init(
            kind: .profile, access: .workspace, leastRole: .member, mayBePrivate: false,
            contents: .profiles),
        .init(
            kind: .mailbox, access: .boxes, leastRole: .guest, mayBePrivate: false, contents: []),
        .init(
            kind: .privateDocument, access: .insiders, leastRole: .guest, mayBePrivate: true,
            contents: [.messages, .settings]),
        .init(
            kind: .unknown, access: .undecided, leastRole: .guest, mayBePrivate: true,
            contents: nil),
    ]

    @Test func `says who may read it and write there, and what stands in it`() {
        #expect(Self.table.map(\.kind.rawValue).sorted() == [0, 1, 2, 3, 4, 5])
        #expect(Set(Self.table.map(\.kind)) == Set(DocumentKind.allCases))
        #expect(Set(Self.table.map(\.access)) == Set(DocumentAccess.allCases))
        for row in Self.table {
            #expect(row.kind.access == row.access, "\(row.kind)")
            #expect(row.kind.access.leastRole == row.leastRole, "\(row.kind)")
            #expect(row.kind.access.mayBePrivate == row.mayBePrivate, "\(row.kind)")
            #expect(row.kind.contents == row.contents, "\(row.kind)")
        }
    }

    private static let all: [DocumentContents] = [
        .messages, .subscriptions, .coins, .profiles, .settings,
    ]

    @Test func `holds what its row says, and may hold anything as long as nothing is known`() {
        #expect(Set(Self.all.map(\.rawValue)).count == Self.all.count)
        for row in Self.table {
            for one in Self.all {
                #expect(row.kind.holds(one) == (row.contents?.contains(one) == true))
                #expect(row.kind.mayHold(one) == (row.contents?.contains(one) != false))
            }
        }
        let withContent = DocumentKind.allCases.filter(\.mayHoldContent)
        #expect(Set(withContent) == [.channel, .profile, .privateDocument, .unknown])
        // Both together are in one kind alone.
        #expect(DocumentKind.allCases.filter { $0.holds([.messages, .coins]) } == [.channel])
    }

    /// Messages of a private channel count as its own membership says, and a profile holds none.
    @Test func `has public messages only as a public channel`() {
        #expect(DocumentKind.allCases.filter(\.holdsPublicMessages) == [.channel])
    }

    // MARK: Contents

    /// In which kinds of documents samples have an effect, by their names.
    private static let homes: [(names: Set<String>, kinds: Set<DocumentKind>)] = [
        (
            [
                "message", "shortMessage", "botMessage", "filesMessage", "placedMessage", "edit",
                "shortEdit", "reaction", "noReaction", "pin", "noPin", "note", "noteTitle",
                "noteEdit", "shortNoteEdit", "noteDeletion", "noNoteDeletion",
            ], [.channel, .privateDocument]
        ),
        (["join", "remove"], [.channel]),
        (
            [
                "profile", "profilePhone", "noProfileImage", "attestedEmail", "attestedAccount",
                "noAttestation",
            ], [.profile]
        ),
        (
            [
                "read", "readFrontier", "preference", "noPreference", "mute", "muteForEver",
                "level", "levelOfWorkspace", "star", "noStar", "reminder", "shortReminder",
                "noReminder",
            ], [.privateDocument]
        ),
    ]

    @Test func `takes the payloads that belong in it, and no others`() throws {
        let named = Self.homes.reduce(into: Set<String>()) { $0.formUnion($1.names) }
        #expect(named == Set(PayloadSamples.content.keys))
        for (names, kinds) in Self.homes {
            for name in names {
                let content = try #require(PayloadSamples.content[name])
                let found = DocumentKind.allCases.filter { $0.holds(.init(of: content)) }
                #expect(Set(found) == kinds, "\(name)")
            }
        }
        let device = ContentPayload.device(DeviceID([UInt8](repeating: 1, count: 32)), name: "d")
        #expect(DocumentContents(of: device) == .profiles)
    }

    @Test func `takes coins in public channels alone`() {
        for (content, _) in `Content of a ledger`.samples {
            let found = DocumentKind.allCases.filter { $0.holds(.init(of: .ledger(content))) }
            #expect(found == [.channel])
        }
    }

    // MARK: The store

    private static func id(_ byte: UInt8) -> DocumentID {
        DocumentID([UInt8](repeating: byte, count: 32))
    }

    @Test func `has the store find private documents, each in its workspace`() throws {
        let store = try NodeStore(Connection())
        try store.begin()
        let operations = store.operations
        let first = try operations.enter(Self.id(1), workspace: nil, kind: .authority)
        let second = try operations.enter(Self.id(2), workspace: nil, kind: .authority)
        for (byte, kind) in [
            (9, .privateDocument), (8, .privateDocument), (7, .channel), (6, .unknown),
        ] as [(UInt8, DocumentKind)] {
            try operations.enter(Self.id(byte), workspace: first, kind: kind)
        }
        #expect(operations.privateDocuments(ofWorkspace: first) == [Self.id(8), Self.id(9)])
        #expect(operations.privateDocuments(ofWorkspace: second) == [])
        #expect(operations.privateDocument(Self.id(9), in: first)?.id == Self.id(9))
        for (byte, workspace) in [(7, first), (6, first), (1, first), (9, second)] {
            #expect(operations.privateDocument(Self.id(UInt8(byte)), in: workspace) == nil)
        }
        // What turns out to be one is one from then on.
        try operations.enter(Self.id(6), workspace: first, kind: .privateDocument)
        #expect(operations.privateDocument(Self.id(6), in: first) != nil)
        #expect(operations.privateDocuments(ofWorkspace: first).first == Self.id(6))
    }
}
