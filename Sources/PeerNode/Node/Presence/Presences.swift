import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Who is there, and who types.
final class Presences: Component {
    /// Workspaces whose members have not heard the own presence as it is now.
    var untoldPresence: Set<Int64> = []
    /// When the own presence was told last, on the monotonic clock, by workspace.
    var toldPresence: [Int64: UInt64] = [:]
    /// When others were told last that the own member types, on the monotonic clock.
    var toldTyping: [DocumentID: UInt64] = [:]

    override var nextDeadline: UInt64? { nextPresenceDeadline }

    override func tick() { endPresences() }

    override func forgetSecrets() { forgetPresences() }

    override func goOn(after former: Component) {
        if let former = former as? Presences { noteDepartures(with: former) }
    }
}
