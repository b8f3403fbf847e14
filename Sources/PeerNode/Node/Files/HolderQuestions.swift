import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A query that not all devices have answered yet.
struct HolderQuestion {
    let call: CallID
    /// The short number of the blob.
    let number: Int64
    let blob: BlobName
    /// The links on which it was asked. The other ends report changes until they are told to stop.
    let links: [LinkID]
    /// Whether it is part of keeping copies, because a channel asks for copies of the blob.
    let isForCopies: Bool
    /// The devices that were asked and have not answered.
    var waiting: Set<DeviceID>
    /// What devices with a part of the blob hold.
    var found: [DeviceID: HaveMap] = [:]
    /// The devices that have answered, even if they hold nothing.
    var answered: Set<DeviceID> = []
    /// When it is answered without the others.
    let due: UInt64
}

/// Who has a file: connected devices are asked, for others the last known answer is used.
final class HolderQuestions: FilePart {
    /// Questions that are not answered.
    private var questions: [HolderQuestion] = []

    var nextDeadline: UInt64? { questions.lazy.map(\.due).min() }
    /// Whether one more may be asked.
    var hasRoom: Bool { questions.count < Limits.fileTasksMax }

    /// Asks devices, each over its link.
    func ask(_ question: HolderQuestion, on links: [PeerLink]) {
        for link in links { link.askWhatIsHeld(of: question.blob.root) }
        questions.append(question)
    }

    /// A device said what it holds.
    func answered(
        _ holding: BlobHolding?, of root: BlobRoot, from device: DeviceID
    ) throws(StorageError) {
        for index in questions.indices.reversed() {
            guard questions[index].blob.root == root,
                questions[index].waiting.remove(device) != nil
            else { continue }
            questions[index].answered.insert(device)
            if let holding, holding.shape == questions[index].blob.shape {
                questions[index].found[device] = holding.map
            }
            if questions[index].waiting.isEmpty {
                try answer(questions.remove(at: index))
            }
        }
    }

    /// Answers without those who have not answered in time.
    func answerDue() throws(StorageError) {
        for index in questions.indices.reversed()
        where questions[index].due <= time.monotonic {
            try answer(questions.remove(at: index))
        }
    }

    private func answer(_ question: HolderQuestion) throws(StorageError) {
        stopWatching(question)
        turn.emit(.answer(question.call, .success(try found(question).json)))
    }

    /// Ends the questions of a connection that is gone, or all, without an answer.
    private func take(of connection: UInt64? = nil) -> [HolderQuestion] {
        let ended = questions.filter {
            connection == nil || $0.call.connection == connection
        }
        questions.removeAll { connection == nil || $0.call.connection == connection }
        for question in ended { stopWatching(question) }
        return ended
    }

    /// Answers all of them.
    func endAll(because error: NodeError) {
        for question in take() { turn.emit(.answer(question.call, .failure(error))) }
    }

    /// A client's queries are no longer awaited.
    func forget(of connection: UInt64) { _ = take(of: connection) }

    /// Asks the queried devices to report no more changes, where nothing else needs them.
    private func stopWatching(_ question: HolderQuestion) {
        let root = question.blob.root
        guard !question.isForCopies, !questions.contains(where: { $0.blob.root == root })
        else { return }
        for link in question.links.compactMap({ network.links[$0] }) where link.mayCarryBlobs {
            if !room.transfers.hasAsked(link.id, about: root) { link.cancel(nil, of: root) }
        }
    }

    /// The devices that have the blob, this device first.
    func found(_ question: HolderQuestion) throws(StorageError) -> Page<FileHolderObject> {
        var objects: [FileHolderObject] = []
        let shape = question.blob.shape
        let now = Int64(clamping: time.wall)
        func add(_ device: DeviceID, _ map: HaveMap, at moment: Int64, isLive: Bool) {
            var object = FileHolderObject(device: PublicID.device(device), at: moment)
            object.have = Int64(clamping: map.plaintextByteCount(of: shape))
            object.isComplete = map.isWhole
            object.isLive = isLive
            for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number })
            where object.member == nil {
                object.member = workspace.owner(of: device).map {
                    core.membership.person($0, in: workspace)
                }
            }
            object.isSelf = device == turn.session.ownDevice
            objects.append(object)
        }
        if let own = turn.session.ownDevice, let row = try store.blobs.row(question.number),
            !row.held.isEmpty
        {
            add(own, row.held, at: now, isLive: true)
        }
        for (device, map) in question.found.sorted(by: { $0.key < $1.key }) where !map.isEmpty {
            add(device, map, at: now, isLive: true)
        }
        for holder in try room.heldElsewhere.holders(of: question.number) {
            guard let device = DeviceID(untrusted: holder.device),
                !question.answered.contains(device),
                let map = try? HaveMap(chunkCount: shape.chunkCount, decoding: holder.map)
            else { continue }
            add(device, map, at: holder.heardAt, isLive: false)
        }
        return Page(objects)
    }
}
