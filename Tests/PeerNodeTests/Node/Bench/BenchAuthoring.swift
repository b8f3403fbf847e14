import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// The selected workspace as the core holds it.
    func workspace() throws -> Workspace {
        let core = try #require(host?.core)
        return try #require(try core.membership.selectedWorkspace())
    }

    /// Lets the node write an authority operation for which this build has no command, in a turn
    /// of its own.
    @discardableResult
    func author(_ payload: AuthorityPayload) throws -> OperationID {
        try inTurn { core, workspace in
            try #require(try core.log.authorAuthority(in: workspace) { _ in payload })
        }
    }

    /// Lets the node write content that its own commands would not write so.
    func write(_ content: ContentPayload, to document: DocumentID) throws {
        try inTurn { core, workspace in
            _ = try #require(
                try core.privates.authorContent(content, to: document, in: workspace))
        }
    }

    /// Lets the node make a public channel with a name that its own commands refuse.
    func makeChannel(named name: String) throws {
        try inTurn { core, workspace in
            _ = try #require(
                try core.enrolment.founding.makeChannel(
                    named: name, topic: nil, description: nil, in: workspace))
        }
    }

    /// Lets the node do in a turn what its commands do not.
    func inTurn<Made>(_ body: (NodeCore, Workspace) throws -> Made) throws -> Made {
        let core = try #require(host?.core)
        core.beginTurn(at: time)
        let made = try body(core, try workspace())
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        core.didCommit()
        carryOut(effects)
        return made
    }

    /// Lets the node remove a person.
    @discardableResult
    func remove(_ other: BenchNode) throws -> OperationID {
        let member = try other.workspace().member
        return try author(
            .remove(
                .init(
                    member: member, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: 0,
                    cutPartHash: [])))
    }
}

/// Mina's workspace, from which she has removed Joon.
struct EndedGrant {
    let bench = CoreBench()
    let mina: BenchNode
    let joiner: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joiner = try bench.guest("Joon", of: mina)
        try joiner.send("hello")
        bench.advance(1_000)
        try mina.remove(joiner)
        bench.advance(1_000)
    }
}

extension BenchNode {
    /// Changes rows behind the node's back.
    func damage(_ sql: String) throws { try connection?.execute(sql) }

    /// What a store of a schema below 14 does not have.
    static let droppingNotes = """
        DROP INDEX annotation_note; DROP TABLE note_edit; DROP TABLE note_snapshot
        """
}
