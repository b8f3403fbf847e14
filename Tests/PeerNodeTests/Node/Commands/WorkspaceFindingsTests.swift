import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Cached results are stored apart from their sources, in other parts of the workspace.
struct `What was worked out of a workspace` {
    private let bench = CoreBench()

    private static let everything: Set = [
        "who is in", "names", "settings", "attested", "mailbox", "sealing key",
    ]

    /// A workspace of which all of that is known.
    private func workspace() throws -> Workspace {
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        let workspace = try mina.workspace()
        _ = (workspace.members, workspace.displayName(of: workspace.member))
        _ = (workspace.fields, workspace.sealingKey)
        workspace.judged.attested = AttestationFindings.none
        workspace.secrets.mailbox = [try #require(mina.host?.core.session.home).device: []]
        #expect(Self.known(in: workspace) == Self.everything)
        return workspace
    }

    private static func known(in workspace: Workspace) -> Set<String> {
        let (judged, secrets) = (workspace.judged, workspace.secrets)
        let found = [
            "who is in": judged.derived.standings.members != nil,
            "names": !judged.derived.names.isEmpty,
            "settings": judged.derived.fields != nil,
            "attested": judged.attested != nil,
            "mailbox": !secrets.mailbox.isEmpty,
            "sealing key": secrets.index.sealing != nil,
        ]
        return Set(found.filter(\.value).keys)
    }

    private func forgotten(
        after change: (Workspace) throws -> Void
    ) throws -> Set<String> {
        let workspace = try workspace()
        try change(workspace)
        return Self.everything.subtracting(Self.known(in: workspace))
    }

    @Test func `is forgotten as far as it rests on verdicts`() throws {
        let forgotten = try forgotten { $0.judged.startOver() }
        #expect(forgotten == ["who is in", "names", "settings", "attested"])
    }

    @Test func `is forgotten as far as it rests on what authority says`() throws {
        let forgotten = try forgotten { $0.authority = AuthorityRecords() }
        #expect(forgotten == ["who is in", "names", "settings", "mailbox"])
    }

    @Test func `is forgotten as far as keys open it`() throws {
        let forgotten = try forgotten { workspace in
            let name = try #require(workspace.secrets.keys.names.first)
            workspace.secrets.keys.insert(name)
        }
        #expect(forgotten == ["names", "settings", "sealing key"])
    }

    @Test func `is forgotten as far as it rests on what people are called`() throws {
        let byMembers = try forgotten { $0.people.profileNames[$0.member] = "Minna" }
        #expect(byMembers == ["names", "settings"])
        let byOneself = try forgotten { $0.people.ownName = "Minna" }
        #expect(byOneself == ["names"])
    }

    @Test func `is forgotten as far as it rests on what verifiers say`() throws {
        let forgotten = try forgotten { $0.people.attestations = AttestationBook() }
        #expect(forgotten == ["attested"])
    }
}
