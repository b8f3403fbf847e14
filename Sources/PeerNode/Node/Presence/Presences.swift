import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Who is online, and who is typing.
final class Presences: Component {
    /// Workspaces whose members have not heard this member's current presence.
    var untoldPresence: Set<Int64> = []
    /// When this member's presence was last told, on the monotonic clock, by workspace.
    var toldPresence: [Int64: UInt64] = [:]
    /// When others were last told that this member is typing, on the monotonic clock.
    var toldTyping: [DocumentID: UInt64] = [:]

    override var nextDeadline: UInt64? { nextPresenceDeadline }

    override func tick() { endPresences() }

    override func forgetSecrets() { forgetPresences() }

    override func goOn(after former: Component) {
        if let former = former as? Presences { noteDepartures(with: former) }
    }
}
