import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A stolen phone that Ada has linked; Mallory, who controls it, and the honest members.
struct StolenPhone {
    let pair: HostilePair
    let phone: ForeignDevice
    /// The grant under which it writes.
    let grant: OperationID
    /// The log in which it writes.
    var log: ForgedLog

    init() throws {
        pair = try HostilePair()
        let node = try pair.bench.bareNode("Phone")
        try pair.ada.link(node)
        pair.bench.advance(5_000)
        phone = try ForeignDevice(of: node)
        log = try ForgedLog(node, incarnation: 80)
        grant = try node.hostile().grant
        node.kill()
        pair.takeOver()
    }
}
