import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The requests to one link.
struct BlobSource {
    /// The blobs that the other end was asked about.
    var asked: Set<BlobRoot> = []
    /// Bytes of a piece whose rest has not arrived yet.
    var unfinishedBytes = 0
    /// Pieces that came and that nobody had asked for.
    var unasked = 0
}

/// The scheduler's numbers for devices, for as long as the process runs.
struct DeviceNumbers {
    private var numbers: [DeviceID: PieceScheduler.PeerID] = [:]
    private var devices: [PieceScheduler.PeerID: DeviceID] = [:]

    /// The number of a device, if it has one.
    func number(of device: DeviceID) -> PieceScheduler.PeerID? { numbers[device] }

    func device(numbered number: PieceScheduler.PeerID) -> DeviceID? { devices[number] }

    /// The number of a device, which gets one unless it has.
    mutating func enter(_ device: DeviceID) -> PieceScheduler.PeerID {
        if let known = numbers[device] { return known }
        let number = PieceScheduler.PeerID(numbers.count + 1)
        numbers[device] = number
        devices[number] = device
        return number
    }
}

/// Requests pieces from other devices.
extension FileTransfers {
    /// Sends what the scheduler wants. To a device without a link nothing can be sent, nor is owed.
    func send(_ messages: [PieceScheduler.Message]) {
        for message in messages {
            guard let device = numbers.device(numbered: message.peer),
                let link = network.links(to: device).last(where: \.mayCarryBlobs)
            else { continue }
            link.session.send(raw: message.message.encoded(), in: .control)
        }
    }

    /// Asks for what is missing, before links are flushed.
    func plan() throws(StorageError) {
        try askHolders()
        send(scheduler.plan(at: time.monotonic))
        claimGathered()
        for forgotten in scheduler.takeForgotten() {
            try room.jobs.ask(.forget(chunk: forgotten.chunk, of: forgotten.blob))
        }
    }

    /// Asks everybody who may know of a blob what they hold of it.
    private func askHolders() throws(StorageError) {
        guard !transfers.isEmpty else { return }
        let links = network.ordered.filter(\.mayCarryBlobs)
        let questions = rounds.takeQuestions(
            of: transfers.keys, over: links.map(\.id), at: time.monotonic)
        for root in questions.roots {
            guard var transfer = transfers[root] else { continue }
            if questions.isAnew || questions.fresh.contains(root) {
                (transfer.readers, transfer.workspace) = try room.mentions.readers(
                    of: transfer.number)
                transfers[root] = transfer
            }
            for link in links {
                guard let device = link.peer?.device, transfer.readers.contains(device),
                    sources[link.id, default: BlobSource()].asked.insert(root).inserted
                else { continue }
                link.askWhatIsHeld(of: root)
            }
        }
    }

    /// Whether the other end of a link is to tell what it holds of a blob.
    func hasAsked(_ link: LinkID, about root: BlobRoot) -> Bool {
        sources[link]?.asked.contains(root) == true
    }

    /// A message about a blob comes from a device.
    func met(_ device: DeviceID) { _ = numbers.enter(device) }

    /// Why a link ends over which too many pieces came that nobody had asked for.
    func ending(of link: PeerLink) -> LinkEnding? {
        let unasked = sources[link.id]?.unasked ?? 0
        return unasked >= Limits.unaskedPiecesMax
            ? LinkEnding("sync.unasked", "pieces that nobody asked for") : nil
    }

    /// Bytes came on a link: a part of a piece shows that the other end is slow and not stalled.
    func heard(_ link: PeerLink) {
        guard !transfers.isEmpty, let source = sources[link.id], !source.asked.isEmpty,
            let device = link.peer?.device
        else { return }
        let unfinished = link.session.unfinishedBlobBytes
        if unfinished > 0, unfinished != source.unfinishedBytes {
            scheduler.hear(numbers.enter(device), at: time.monotonic)
        }
        sources[link.id]?.unfinishedBytes = unfinished
    }

    /// A link is gone.
    func left(_ link: PeerLink) {
        sources[link.id] = nil
        guard let device = link.peer?.device, let number = numbers.number(of: device),
            !network.links(to: device).contains(where: { $0 !== link })
        else { return }
        scheduler.leave(number)
    }
}
