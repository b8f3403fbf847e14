import CRDTStore
import WorkspaceModel

/// Which devices got more of what this device wrote, in one turn.
struct HeldNews {
    /// By branch: how many of its operations each device held before, from the log's start.
    var receipts: [Int64: [DeviceID: UInt64]] = [:]
    /// By workspace: up to which arrival number each device was in agreement before.
    var agreed: [Int64: [DeviceID: Int64]] = [:]

    var isEmpty: Bool { receipts.isEmpty && agreed.isEmpty }
}

/// The transient event `message.held`: a message by this device has reached the first other device
/// or person, or all people or all devices of its channel's readers.
///
/// It counts both: `holders` are devices, including this one and those that only relay the message.
/// `people` of `readers` are the readers it has reached, each counted once, without this person
/// (``MessageReaders``).
///
/// What others hold follows from receipts and agreed states (PROTOCOL.md, 5.4), not from a list of
/// watched messages. So a message that was written before a restart is reported too, and nothing
/// has to be stored.
extension Syncing {
    // MARK: What changes

    /// Records a receipt for something new.
    ///
    /// - Parameter before: how many operations of the branch the device held.
    func noteHolding(_ branch: LogBranch, by device: DeviceID, _ before: UInt64) {
        guard core.events.subscriptions.wantPassing, branch.log.device == turn.session.ownDevice
        else { return }
        let known = heldNews.receipts[branch.number]?[device] ?? before
        heldNews.receipts[branch.number, default: [:]][device] = min(known, before)
    }

    /// Notes that what is agreed with a device has changed.
    func noteAgreed(
        with device: DeviceID, _ before: PeerStore.Agreed?, in workspace: Workspace
    ) {
        guard core.events.subscriptions.wantPassing else { return }
        let arrival = before?.arrival ?? 0
        let known = heldNews.agreed[workspace.number]?[device] ?? arrival
        heldNews.agreed[workspace.number, default: [:]][device] = min(known, arrival)
    }

    // MARK: Telling

    /// Tells of what this turn has changed, the oldest message of each log first.
    func tellHeld() throws(StorageError) {
        let news = heldNews
        heldNews = HeldNews()
        guard !news.isEmpty, home != nil, !turn.session.lock.isLocked else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member {
            for branch in ownBranches(of: workspace, with: news) {
                guard let channel = workspace.channel(numbered: branch.document) else {
                    continue
                }
                try tellHeld(branch, of: channel, in: workspace, news)
            }
        }
    }

    /// The branches of this device's channel logs that somebody may hold more of now.
    private func ownBranches(of workspace: Workspace, with news: HeldNews) -> [LogBranch] {
        let told = news.receipts.keys.sorted().compactMap { store.operations.branch($0) }
            .filter { workspace.channel(numbered: $0.document) != nil }
        guard let agreed = news.agreed[workspace.number]?.values.min(),
            let own = turn.session.ownDevice,
            let incarnation = storeIdentity?.incarnation
        else { return told }
        let known = Set(told.map(\.number))
        var branches = told
        let numbers = workspace.channelIndex.all.flatMap { [$0.number] + $0.others }
        for document in numbers.compactMap({ store.operations.document(numbered: $0)?.id }) {
            let log = LogName(document: document, device: own, incarnation: incarnation)
            branches += store.operations.branches(of: log, in: workspace.number)
                .filter { $0.changedArrival > agreed && !known.contains($0.number) }
        }
        return branches
    }

    private func tellHeld(
        _ branch: LogBranch, of channel: Workspace.Channel, in workspace: Workspace,
        _ news: HeldNews
    ) throws(StorageError) {
        let counts = news.receipts[branch.number]?.values.min() ?? .max
        let agreed = news.agreed[workspace.number]?.values.min() ?? .max
        var found: [StoredPlace] = []
        var next: UInt64? = branch.tipSequence
        while let sequence = next, found.count < Limits.messagesToldHeldMax,
            let place = try store.operations.place(in: branch.number, at: sequence),
            sequence >= counts || place.arrival > agreed
        {
            found.append(place)
            next = sequence > 0 ? sequence - 1 : nil
        }
        var known: MessageReaders?
        for place in found.reversed() {
            let holders = try holders(of: place, in: workspace, news)
            guard holders.now.count > holders.before.count else { continue }
            let readers: MessageReaders
            if let known {
                readers = known
            } else {
                readers = try self.readers(of: channel, of: place, in: workspace)
                if channel.privateMembership?.isFromJoin != true { known = readers }
            }
            guard
                holders.before.isEmpty
                    || isRecent(place) && isStep(from: holders.before, to: holders.now, readers),
                let row = try store.view.message(
                    arrival: place.arrival, sort: place.sort, document: branch.document),
                !row.isRefused, try store.view.redactions.deletion(of: place.arrival) == nil
            else { continue }
            let data: JSONValue = [
                "message": .string(PublicID.message(row.key)),
                "holders": .integer(Int64(holders.now.count) + 1),
                "people": .integer(Int64(readers.count(holding: holders.now))),
                "readers": .integer(Int64(readers.count)),
            ]
            core.events.pass(.messageHeld, data, in: workspace, document: branch.document)
        }
    }

    /// If the message is old, a new device has received it, and that is not reported.
    private func isRecent(_ place: StoredPlace) -> Bool {
        place.link.timestamp.milliseconds &+ Limits.heldToldMilliseconds >= time.wall
    }

    /// Whether the first person has it now, or nobody is waited for any more: no person, or no
    /// device.
    private func isStep(
        from before: Set<DeviceID>, to now: Set<DeviceID>, _ readers: MessageReaders
    ) -> Bool {
        let people = (before: readers.count(holding: before), now: readers.count(holding: now))
        if people.now > people.before, people.before == 0 || people.now == readers.count {
            return true
        }
        return readers.allDevices.subtracting([turn.session.ownDevice].compactMap { $0 }).isSubset(
            of: now)
    }

    private func readers(
        of channel: Workspace.Channel, of place: StoredPlace, in workspace: Workspace
    ) throws(StorageError) -> MessageReaders {
        var key: KeyID?
        if channel.privateMembership?.isFromJoin == true {
            key = try store.operations.operation(place.arrival)?.entry.keyID
        }
        return try readers(of: channel, sealedUnder: key, in: workspace)
    }

    /// Other devices that hold an operation, and those of them that did before this turn.
    private func holders(
        of place: StoredPlace, in workspace: Workspace, _ news: HeldNews
    ) throws(StorageError) -> (now: Set<DeviceID>, before: Set<DeviceID>) {
        let now = store.peers.holders(
            of: place.branch, through: place.sequence, arrival: place.arrival,
            workspace: workspace.number
        ).filter { $0 != turn.session.ownDevice }
        var before: Set<DeviceID> = []
        for device in now {
            let isReceived =
                news.receipts[place.branch]?[device].map { $0 > place.sequence }
                ?? store.peers.hasReceipt(
                    of: device, branch: place.branch, through: place.sequence)
            let agreed = try store.peers.agreed(with: device, workspace: workspace.number)
            let arrival = news.agreed[workspace.number]?[device] ?? agreed?.arrival ?? 0
            if isReceived || arrival >= place.arrival { before.insert(device) }
        }
        return (Set(now), before)
    }
}
