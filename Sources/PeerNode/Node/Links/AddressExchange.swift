import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Exchanges the addresses of a workspace's devices: two members compare digests and ask each other
/// for newer records (PROTOCOL.md, 5.3). What both have is not sent.
extension Links {
    /// Takes note of where peers reach the listener now.
    func noteListening(_ addresses: [String]) {
        network.addresses.listening = addresses.compactMap { PeerAddress($0, defaultPort: 0) }
    }

    /// Tells peers of it.
    func tellListening() throws(StorageError) {
        try renewOwnRecord()
        network.addresses.addressNews.plan(at: time.monotonic &+ Limits.addressRenewalMilliseconds)
        for link in network.ordered {
            for sync in link.orderedSyncs
            where sync.standing == .full {
                if let workspace = core.workspaces[sync.workspace] {
                    introduce(workspace, on: link)
                }
            }
        }
    }

    // MARK: The own record

    /// Signs this device's address record again when its addresses have changed or the record is
    /// old. Otherwise the record stays: a new one with the same content would tell nobody anything.
    ///
    /// - Parameter newer: a time that it has to be later than.
    func renewOwnRecord(after newer: UInt64 = 0) throws(StorageError) {
        // A locked node cannot sign a new listening address, so it tells nobody.
        guard let home, !network.addresses.listening.isEmpty else { return }
        let old = network.addresses.book.record(of: home.device)
        if let old, old.addresses == AddressRecord.texts(of: network.addresses.listening),
            old.at > newer,
            isFresh(old)
        {
            return
        }
        let last = max(old?.at ?? 0, newer)
        let record = AddressRecord(
            signedBy: home.signing, at: max(time.wall, last &+ 1),
            addresses: network.addresses.listening)
        guard network.addresses.book.add(record, wallMilliseconds: time.wall) == .added else {
            return
        }
        try keep(record)
    }

    /// Whether a record need not be signed again. One that is a little ahead of the clock counts:
    /// otherwise it would be renewed each time until the clock has caught up.
    private func isFresh(_ record: AddressRecord) -> Bool {
        AddressRecord.isTimely(record.at, wallMilliseconds: time.wall)
            && time.wall < record.at &+ Limits.addressRenewalMilliseconds
    }

    private func keep(_ record: AddressRecord) throws(StorageError) {
        try write()
        try store.peers.setEntry(record.row, name: [Self.bookPrefix] + record.device.bytes)
    }

    // MARK: Comparing

    /// Tells a member on a link what this book says, in 16 bytes.
    func introduce(_ workspace: Workspace, on link: PeerLink) {
        guard let sync = link.syncs[workspace.number] else { return }
        tell(AddressBookUpdate(book(of: workspace).digest), sync, on: link)
    }

    private func tell(_ word: AddressBookUpdate, _ sync: WorkspaceLink, on link: PeerLink) {
        link.session.send(.book(sync.number, word), in: .control, isUnasked: false)
    }

    private func book(of workspace: Workspace) -> AddressBookUpdate {
        network.addresses.book.word(of: devicesByMember(of: workspace), wallMilliseconds: time.wall)
    }

    /// Answers a member's message about its book: with this node's entries, where they differ; with
    /// requests for newer ones; and with the records that it asks for.
    func bookHeard(
        _ word: AddressBookUpdate, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let sync = link.syncs[workspace.number], sync.standing == .full,
            sync.passing.take(at: time.monotonic)
        else { return }
        sync.book = word.digest
        if let wants = word.wants { give(wants, in: workspace, sync, on: link) }
        let own = book(of: workspace)
        if let entries = word.entries {
            // A peer that asks for nothing yet has told all that it has.
            let newer = word.wants == nil ? Self.newer(in: own, than: entries) : []
            let wants = wants(of: entries, in: workspace, sync)
            guard !newer.isEmpty || !wants.isEmpty else { return }
            let said = newer.isEmpty ? nil : newer
            return tell(AddressBookUpdate(own.digest, entries: said, wants: wants), sync, on: link)
        }
        if word.wants == nil, own.digest != word.digest { tell(own, sync, on: link) }
    }

    private static func newer(
        in own: AddressBookUpdate, than entries: [AddressBookUpdate.Entry]
    ) -> [AddressBookUpdate.Entry] {
        let theirs = Dictionary(entries.map { ($0.name, $0.at) }) { max($0, $1) }
        return (own.entries ?? []).filter { $0.at > theirs[$0.name] ?? 0 }
    }

    private func give(
        _ wants: [DeviceName], in workspace: Workspace, _ sync: WorkspaceLink, on link: PeerLink
    ) {
        let names = Set(wants)
        let wanted = devicesByMember(of: workspace).map {
            $0.filter { names.contains(DeviceName(of: $0)) }
        }
        // Once on a link: it is asked for once.
        let records = network.addresses.book.records(
            of: wanted, limit: Limits.bookWantsMax, wallMilliseconds: time.wall
        ).filter { sync.given.updateValue($0.at, forKey: $0.device) != $0.at }
        // In parts: many records of 16 long addresses each would be more than one message takes.
        for start in stride(from: 0, to: records.count, by: 32) {
            let part = Array(records[start..<min(start + 32, records.count)])
            link.session.send(.peers(sync.number, part), in: .control, isUnasked: false)
        }
    }

    /// The records that are newer at the peer, except those that another peer was just asked for.
    private func wants(
        of entries: [AddressBookUpdate.Entry], in workspace: Workspace, _ sync: WorkspaceLink
    ) -> [DeviceName] {
        let newer = Dictionary(entries.map { ($0.name, $0.at) }) { max($0, $1) }
        var wants: [DeviceName] = []
        let now = time.monotonic
        network.addresses.addressNews.asked = network.addresses.addressNews.asked.filter {
            $0.value.until > now
        }
        network.addresses.addressNews.allowances.forgetFull(at: now)
        for device in devices(of: workspace) where wants.count < Limits.bookWantsMax {
            let name = DeviceName(of: device)
            guard let at = newer[name], at > network.addresses.book.record(of: device)?.at ?? 0,
                AddressRecord.isTimely(at, wallMilliseconds: time.wall)
            else { continue }
            // About this device the peer has to prove what it claims: anybody may claim.
            guard device != turn.session.ownDevice || mayOutdo else { continue }
            // Once on a link: what is given and not taken is not asked for again and again. And who says
            // to have a newer one than there is keeps nobody from asking others for theirs.
            guard network.addresses.addressNews.asked[device]?.at != at, sync.wanted[device] != at
            else {
                continue
            }
            let person = workspace.owner(of: device)?.bytes ?? device.bytes
            guard network.addresses.addressNews.allowances.take(person, at: now) else { continue }
            sync.wanted[device] = at
            network.addresses.addressNews.asked[device] = (at, now &+ Limits.bookAnswerMilliseconds)
            wants.append(name)
        }
        // The peer that was asked may disconnect, and there may be more names than one message asks
        // for.
        if !wants.isEmpty {
            network.addresses.addressNews.plan(at: now &+ Limits.bookAnswerMilliseconds &+ 1)
        }
        return wants
    }

    /// Seldom: this home may also run twice.
    private var mayOutdo: Bool {
        network.addresses.addressNews.signedAgain.map {
            time.monotonic - $0 >= Limits.addressAgainMilliseconds
        } ?? true
    }

    /// Signs this device's addresses again when a peer shows a newer record of this device: its
    /// home was restored, or a copy of it runs. A mere claim is not enough, or any member could
    /// push the record's time ahead of other clocks.
    private func outdo(_ shown: AddressRecord) throws(StorageError) {
        guard mayOutdo, shown.hasAllowedSize,
            AddressRecord.isTimely(shown.at, wallMilliseconds: time.wall),
            shown.at > network.addresses.book.record(of: shown.device)?.at ?? 0, shown.isAuthentic
        else { return }
        network.addresses.addressNews.signedAgain = time.monotonic
        try noteSignOfCopy(at: shown.at)
        try renewOwnRecord(after: shown.at)
        planAddressNews()
    }

    // MARK: Learning

    /// Takes over addresses that a member was asked for.
    func learned(
        _ records: [AddressRecord], in workspace: Workspace, from link: PeerLink
    ) throws(StorageError) {
        guard let sync = link.syncs[workspace.number], sync.standing == .full else { return }
        let members = Set(devices(of: workspace))
        var isNews = false
        for record in records
        where members.contains(record.device) && sync.wanted[record.device] == record.at {
            guard record.device != turn.session.ownDevice else {
                try outdo(record)
                continue
            }
            guard
                network.addresses.book.add(
                    record, of: workspace.owner(of: record.device)?.bytes,
                    wallMilliseconds: time.wall) == .added
            else { continue }
            isNews = true
            network.addresses.addressNews.asked[record.device] = nil
            network.registry.add(
                record.device, of: workspace.owner(of: record.device)?.bytes,
                addresses: record.dialable(isAlone: network.addresses.isAlone).map(learnt))
            try keep(record)
        }
        if isNews { planAddressNews() }
    }

    /// News are gathered, and told once: by then many have heard of them from where they come from,
    /// and have said so.
    func planAddressNews() {
        let wait = Limits.bookGatherMilliseconds
        network.addresses.addressNews.plan(
            at: time.monotonic &+ wait &+ environment.random.number(below: 2 * wait))
    }

    /// Compares books with all who may not have what is known here.
    func tellAddressesWhenDue() throws(StorageError) {
        guard let due = network.addresses.addressNews.due, due <= time.monotonic else { return }
        // This device's record is signed again before it expires, even if nothing has changed.
        network.addresses.addressNews.due = time.monotonic &+ Limits.addressRenewalMilliseconds
        try renewOwnRecord()
        var digests: [Int64: AddressBookUpdate] = [:]
        for link in network.ordered where !link.isClosing {
            for sync in link.orderedSyncs
            where sync.standing == .full {
                guard let workspace = core.workspaces[sync.workspace] else { continue }
                let own = digests[workspace.number] ?? AddressBookUpdate(book(of: workspace).digest)
                digests[workspace.number] = own
                if sync.book != own.digest { tell(own, sync, on: link) }
            }
        }
    }
}
