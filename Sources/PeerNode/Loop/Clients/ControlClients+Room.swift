import WorkspaceModel

/// Which clients are accepted when there are very many, and how long one may stay silent.
extension ControlClients {
    /// Whether one more is served: there is room, or the process has no connection yet and one of
    /// the spare places is free, or somebody gives way who has been silent for long.
    ///
    /// - Parameter process: who connects.
    func hasRoom(for process: Int32, now: UInt64) -> Bool {
        let count = count
        if count < Limits.controlClientsMax { return true }
        let isFirst = !clients.values.contains { $0.process == process && $0.refusalDue == nil }
        if isFirst, count < Limits.controlClientsMax + Limits.controlClientsSpareMax {
            return true
        }
        let idle = clients.values.filter { $0.mayGiveWay(now: now) }
            .min { ($0.lastActive, $0.connection.id) < ($1.lastActive, $1.connection.id) }
        guard let idle else { return false }
        part(idle, because: .tooManyClients, now: now)
        return true
    }

    /// How many bytes of a further text may come: all are in memory until their calls are answered.
    var textRoom: Int {
        let coming = clients.values.reduce(0) { $0 + $1.connection.textByteCount }
        return Limits.noteTextsComingBytesMax - coming
    }

    /// Tells the client why, as far as it reads, and closes the connection.
    func part(_ client: Client, because error: NodeError, now: UInt64) {
        client.connection.close(because: error)
        _ = flush(client, now: now)
        remove(client.connection.id)
    }
}

extension ControlClients.Client {
    /// When something must be done about it although it does nothing.
    var nextDeadline: UInt64? {
        [
            fullSince.map { $0 + ControlClients.slowReaderMilliseconds },
            partialSince.map { $0 + Limits.controlRequestMilliseconds }, refusalDue,
        ].compactMap { $0 }.min()
    }

    /// Whether nobody misses it: nothing was asked that is not answered, and nothing is listened to.
    func mayGiveWay(now: UInt64) -> Bool {
        refusalDue == nil && !connection.isWaiting && connection.openSubscriptions == 0
            && file == nil && connection.unsentCount == 0 && link.unsentByteCount == 0
            && lastActive + Limits.controlIdleMilliseconds <= now
    }

    /// Notes that something happened, and whether the rest of a request is still to come.
    func noteProgress(now: UInt64) {
        lastActive = now
        let taken = connection.takenCount
        if !connection.awaitsRest || link.isReadingPaused {
            partialSince = nil
        } else if partialSince == nil || takenCount != taken {
            partialSince = now
        }
        takenCount = taken
    }
}
