import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Who has a file: asked of those who are connected, and else as it was heard last.
extension Files {
    /// A question that devices have not all answered.
    struct HolderQuestion {
        let call: CallID
        /// The short number of the blob.
        let number: Int64
        let blob: BlobName
        /// The links on which it was asked. The other ends tell of changes until they are told to stop.
        let links: [LinkID]
        /// Whether they are to go on: a channel asks for copies of the blob.
        let isForCopies: Bool
        /// Who was asked and has not answered.
        var waiting: Set<DeviceID>
        /// What those hold who have.
        var found: [DeviceID: HaveMap] = [:]
        /// Who has answered, also that they hold nothing.
        var answered: Set<DeviceID> = []
        /// When it is answered without the others.
        let due: UInt64
    }

    /// Asks the other end of a link what it holds of a blob, and to tell of changes from then on.
    func askWhatIsHeld(of root: BlobRoot, on link: PeerLink) {
        link.session.send(raw: BlobMessage.want(BlobWant(root: root)).encoded(), in: .control)
    }

    /// A device said what it holds.
    func noteAnswer(
        _ holding: BlobHolding?, of root: BlobRoot, from device: DeviceID
    ) throws(StorageError) {
        for index in holderQuestions.indices.reversed() {
            guard holderQuestions[index].blob.root == root,
                holderQuestions[index].waiting.remove(device) != nil
            else { continue }
            holderQuestions[index].answered.insert(device)
            if let holding, holding.shape == holderQuestions[index].blob.shape {
                holderQuestions[index].found[device] = holding.map
            }
            if holderQuestions[index].waiting.isEmpty {
                try answer(holderQuestions.remove(at: index))
            }
        }
    }

    /// Answers without those who have not answered in time.
    func answerDueQuestions() throws(StorageError) {
        for index in holderQuestions.indices.reversed()
        where holderQuestions[index].due <= time.monotonic {
            try answer(holderQuestions.remove(at: index))
        }
    }

    private func answer(_ question: HolderQuestion) throws(StorageError) {
        stopWatching(question)
        turn.emit(.answer(question.call, .success(try holders(question).json)))
    }

    /// Ends the questions of a connection that is gone, or all, without an answer.
    func takeQuestions(of connection: UInt64? = nil) -> [HolderQuestion] {
        let ended = holderQuestions.filter {
            connection == nil || $0.call.connection == connection
        }
        holderQuestions.removeAll { connection == nil || $0.call.connection == connection }
        for question in ended { stopWatching(question) }
        return ended
    }

    /// Has those who were asked tell of no more changes, where nothing else wants to hear of them.
    private func stopWatching(_ question: HolderQuestion) {
        let root = question.blob.root
        guard !question.isForCopies, !holderQuestions.contains(where: { $0.blob.root == root })
        else { return }
        for link in question.links.compactMap({ network.links[$0] }) where mayTransfer(on: link) {
            guard services[link.id]?.asked.contains(root) != true else { continue }
            link.session.send(
                raw: BlobMessage.cancel(root, pieces: nil).encoded(), in: .control)
        }
    }

    func holders(_ question: HolderQuestion) throws(StorageError) -> Page<FileHolderObject> {
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
        for holder in try store.blobs.holders(of: question.number) {
            guard let device = DeviceID(untrusted: holder.device),
                !question.answered.contains(device),
                let map = try? HaveMap(chunkCount: shape.chunkCount, decoding: holder.map)
            else { continue }
            add(device, map, at: holder.heardAt, isLive: false)
        }
        return Page(objects)
    }
}
