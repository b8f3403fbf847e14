import CRDTStore
import SyncProtocol
import WorkspaceModel

extension Links {
    // MARK: Noticing

    /// Two stores of this device are linked, and no node is two: its home runs twice.
    func noteCopies(of device: DeviceID) throws(StorageError) {
        guard mayWrite, !turn.session.lock.isLocked,
            network.copies.told.count < Limits.copiesToldMax,
            network.copies.told.insert(device).inserted
        else { return }
        try warnOfCopy(copySentence(device))
    }

    /// Notes operations of this device that somebody brought, in a log that this store does not
    /// write. Whatever was written there since this process started, a copy has written.
    func noteForeignOwn(_ log: LogName, _ last: HybridTimestamp) throws(StorageError) {
        guard log.device == turn.session.ownDevice else { return }
        try noteSignOfCopy(at: last.milliseconds)
    }

    /// Records an operation that this device signed and this store did not. An operation older than
    /// this process was signed by the home that this one was restored from.
    ///
    /// - Parameter milliseconds: when, as the signer says, since 1970.
    func noteSignOfCopy(at milliseconds: UInt64) throws(StorageError) {
        let lived = time.monotonic - min(turn.startedAt, time.monotonic)
        guard milliseconds > time.wall - min(lived, time.wall), mayWrite,
            !turn.session.lock.isLocked
        else { return }
        let isNew = network.copies.signedAt == nil
        network.copies.signedAt = max(network.copies.signedAt ?? 0, milliseconds)
        if isNew, let sentence = ownCopySentence { try warnOfCopy(sentence) }
    }

    /// A peer closed this link because another link of the same store is open. If this node has no
    /// other, a clone of it does: one of the two has to continue under a new store id, or each
    /// would permanently cut the other off from that peer.
    func toldDoubled(on link: PeerLink) {
        guard !link.hadParallelLink, link.session.isInitiator else { return }
        if let last = network.copies.yieldedAt,
            time.monotonic - min(last, time.monotonic)
                < CopiedHomes.patienceMilliseconds(after: network.copies.yields)
        {
            return
        }
        network.copies.yieldedAt = time.monotonic
        network.copies.yields += 1
        network.ownHistory.surpassed = .runsTwice
    }

    private func warnOfCopy(_ sentence: String) throws(StorageError) {
        try core.warn(["kind": .string(WarningKind.copy.rawValue), "message": .string(sentence)])
        turn.emit(.log(.warning, "home.copied"))
    }

    // MARK: Telling

    /// The warnings for `status` and the home screen.
    var copyWarnings: [StatusObject.Warning] {
        copySentences.map {
            .init(kind: .copy, message: $0, hint: "run only one copy of a home; wsx-node doctor")
        }
    }

    /// The findings for `doctor`.
    var copyFindings: [FindingObject] {
        copySentences.map {
            .init(
                id: "copy", state: "warn", message: $0,
                hint: "stop one of them, and link it as a new device instead: wsx-node device link")
        }
    }

    private var copySentences: [String] {
        let linked = network.copies.told.sorted().filter { device in
            Set(network.links(to: device).compactMap { $0.peer?.store }).count > 1
        }
        return (ownCopySentence.map { [$0] } ?? []) + linked.map(copySentence)
    }

    private func copySentence(_ device: DeviceID) -> String {
        "two copies of \(core.log.evidence.deviceText(device)) are running"
    }

    private var ownCopySentence: String? {
        network.copies.signedAt.map {
            "another copy of this home is running; it was seen at \(UTCMinute.text($0))"
        }
    }
}
