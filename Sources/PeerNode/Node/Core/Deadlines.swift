import CRDTStore
import WorkspaceModel

/// Timers: each room reports its next deadline and does what is due. `NodeLoop.setAlarm` makes the
/// earliest of all the end of the loop's sleep, and the turn after it gets a `.tick`.
extension NodeCore {
    /// When the core wants to be asked again at the latest, on the monotonic clock.
    var nextDeadline: UInt64? {
        var first = Earliest()
        for component in components { first.take(component.nextDeadline) }
        return first.moment
    }

    func processDeadlines() throws(StorageError) {
        for component in components { try component.tick() }
        try links.reachOut()
    }
}
