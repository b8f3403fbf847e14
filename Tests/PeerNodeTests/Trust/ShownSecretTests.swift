import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Proving a secret on a link that was opened under another one (PROTOCOL.md, 5.4). Everybody here
/// knows the id of the workspace in question, and so its tag; the links are under another
/// workspace's secret.
struct `A shown secret` {
    private let bench = CoreBench()
    private let ada: BenchNode
    private let asked: Workspace
    private let door: SymmetricKey
    private let own = ForeignDevice(91)

    init() throws {
        ada = try bench.node("Ada")
        let first = try ada.workspace()
        try ada.ok("workspace.create", ["name": "beta"])
        let beta = try #require(
            ada.host?.core.workspaces.values.first { $0.id != first.id })
        asked = first
        door = try #require(beta.discovery.last).derived(Array("psk".utf8))
    }

    private func visitor() throws -> Visitor {
        try Visitor(as: own, under: door, at: ada, on: bench)
    }

    private func tag(_ visitor: Visitor) throws -> WorkspaceTag {
        let hash = try #require(visitor.identity?.handshakeHash)
        return Syncing.tag(of: asked.id, handshakeHash: hash)
    }

    /// What `device` would show on this link.
    private func secret(of device: DeviceID, under psk: SymmetricKey, _ visitor: Visitor) throws
        -> ShownSecret
    {
        PSKCandidate(.joining, psk: psk).shown(under: try tag(visitor), by: device)
    }

    private var goodKey: SymmetricKey {
        get throws { try #require(asked.discovery.last).derived(Array("psk".utf8)) }
    }

    /// Opens the workspace under number 1, and reports whether it was opened in turn.
    private func isHeard(_ visitor: Visitor, showing shown: ShownSecret?) throws -> Bool {
        let tag = try tag(visitor)
        let before = visitor.messages.count
        visitor.send(
            .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: tag, root: .zero, agreedRoot: nil, mine: .zero,
                    shown: shown)))
        let answers = visitor.messages.dropFirst(before)
        let isOpened = answers.contains {
            if case .workspaceOpen(let opening) = $0 { opening.tag == tag } else { false }
        }
        let isRefused = answers.contains {
            if case .workspaceResult(tag, .unknown) = $0 { true } else { false }
        }
        try #require(isOpened != isRefused)
        return isOpened
    }

    @Test func `is required, and another device's does not count`() throws {
        let visitor = try visitor()
        #expect(try !isHeard(visitor, showing: nil))
        let random = ShownSecret([UInt8](repeating: 7, count: ShownSecret.byteCount))
        #expect(try !isHeard(visitor, showing: random))
        // One of the workspace to which the link belongs.
        #expect(try !isHeard(visitor, showing: try secret(of: own.id, under: door, visitor)))
        // What the other end would show itself, sent back.
        let theirs = try #require(visitor.identity?.device)
        #expect(try !isHeard(visitor, showing: try secret(of: theirs, under: goodKey, visitor)))
        // What it showed on another link.
        let elsewhere = try self.visitor()
        let old = try secret(of: own.id, under: goodKey, elsewhere)
        #expect(try !isHeard(visitor, showing: old))
        #expect(try isHeard(visitor, showing: try secret(of: own.id, under: goodKey, visitor)))
    }

    @Test func `is looked for a few times only`() throws {
        let visitor = try visitor()
        let random = ShownSecret([UInt8](repeating: 7, count: ShownSecret.byteCount))
        for _ in 0..<Limits.unmatchedSecretsMax {
            #expect(try !isHeard(visitor, showing: random))
        }
        #expect(try !isHeard(visitor, showing: try secret(of: own.id, under: goodKey, visitor)))
        visitor.close()
        let another = try self.visitor()
        #expect(try isHeard(another, showing: try secret(of: own.id, under: goodKey, another)))
    }

    /// Ada is refused by a peer whom she takes for a member of the workspace.
    @Test func `is shown a few times only`() throws {
        let id = JSONValue.string(PublicID.workspace(asked.id))
        try ada.ok("workspace.select", ["workspace": id])
        let bob = try bench.guest("Bob", of: ada)
        for _ in 0...Limits.shownSecretsMax {
            try ada.ok("workspace.rekey", ["discovery": true])
            bench.advance(1_000)
        }
        let keys = try ForeignDevice(of: bob)
        bob.kill()
        let visitor = try Visitor(as: keys, under: door, at: ada, on: bench)
        let tag = try tag(visitor)
        // Her first opening came with the handshake.
        var shown: [ShownSecret?] = visitor.messages.compactMap { message -> ShownSecret?? in
            if case .workspaceOpen(let opening) = message, opening.tag == tag {
                .some(opening.shown)
            } else {
                nil
            }
        }
        visitor.onMessage = { message, visitor in
            guard case .workspaceOpen(let opening) = message, opening.tag == tag else { return }
            shown.append(opening.shown)
            visitor.queue(.workspaceResult(tag: tag, .unknown))
        }
        visitor.send(.workspaceResult(tag: tag, .unknown))
        bench.advance(60_000)
        #expect(shown.count == 1 + Limits.shownSecretsMax)
        #expect(shown.first == .some(nil), "none, where nobody has refused her")
        #expect(Set(shown.compactMap(\.self)).count == Limits.shownSecretsMax)
    }
}
