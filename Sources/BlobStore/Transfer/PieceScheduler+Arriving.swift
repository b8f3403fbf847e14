public import WorkspaceModel

extension PieceScheduler {
    /// Handles a piece from a peer.
    ///
    /// - Parameter now: milliseconds, as everywhere here.
    /// - Returns: what to do with it, and what to send to other peers that were asked for it.
    public mutating func take(
        _ piece: BlobPiece, from peer: PeerID, at now: UInt64
    ) -> (Arrival, [Message]) {
        let name = PieceName(root: piece.root, piece: piece.number)
        let isAsked = transfers[piece.root]?.asked[piece.number]?.contains(peer) == true
        let isCalledOff = peers[peer]?.calledOff.remove(name) != nil
        guard isAsked || isCalledOff else { return (.unasked, []) }
        guard let place = place(of: piece, isAsked: isAsked), !isBanned(peer, from: piece.root)
        else { return (.late, []) }
        guard piece.bytes.count == place.blob.shape.byteCount(ofPiece: piece.number) else {
            return (.unasked, [ban(peer, from: piece.root)])
        }
        peers[peer]?.pace.note(piece.bytes.count, at: now)
        var messages: [Message] = []
        for other in place.asked {
            release(piece.number, of: piece.root, by: other)
            guard other != peer else {
                peers[peer]?.calledOff.remove(name)
                continue
            }
            let pieces = [piece.number..<piece.number + 1]
            messages.append(Message(peer: other, message: .cancel(piece.root, pieces: pieces)))
        }
        guard place.isWanted else { return (.late, messages) }
        transfers[piece.root]?.arrived[piece.number] = peer
        transfers[piece.root]?.begun.insert(place.chunk)
        if transfers[piece.root]?.owners[place.chunk] == nil {
            transfers[piece.root]?.owners[place.chunk] = peer
        }
        noteUnsettled(piece.bytes.count)
        return (.store(place.blob, leaf: place.leaf), messages)
    }

    /// Facts about an arrived piece, copied so that the transfer can be changed in place.
    private struct Place {
        let blob: BlobName
        let chunk: Int
        let leaf: TreeHash?
        /// The peers that were asked for it.
        let asked: [PeerID]
        /// Whether it is useful.
        let isWanted: Bool
    }

    private func place(of piece: BlobPiece, isAsked: Bool) -> Place? {
        guard let transfer = transfers[piece.root],
            let chunk = transfer.shape.chunk(ofPiece: piece.number)
        else { return nil }
        // A cancelled piece that arrives late is still useful if nobody was faster; of an exclusive
        // chunk only the owner's pieces are.
        let isWanted =
            transfer.arrived[piece.number] == nil && !transfer.held.contains(chunk)
            && transfer.judged.contains(chunk)
            && (isAsked || !transfer.exclusive.contains(chunk))
        return Place(
            blob: transfer.blob, chunk: chunk, leaf: transfer.leaves[chunk],
            asked: transfer.asked[piece.number, default: []].sorted(), isWanted: isWanted)
    }

    /// Records the result of storing a piece.
    ///
    /// - Returns: what to send to the sender of a wrong chunk.
    public mutating func settle(
        _ piece: Int, of blob: BlobName, _ outcome: PieceOutcome
    ) -> [Message] {
        noteUnsettled(-blob.shape.byteCount(ofPiece: piece))
        switch outcome {
        case .more: return []
        case .whole(let chunk):
            transfers[blob.root]?.held.insert(chunk)
            transfers[blob.root]?.exclusive.remove(chunk)
            _ = transfers[blob.root]?.discard(chunk)
            return []
        case .wrong(let chunk):
            let senders = transfers[blob.root]?.discard(chunk) ?? []
            if transfers[blob.root] != nil { marks.change(blob.root) }
            // Which of several senders lied is unknown; a chunk from a single peer will tell.
            if senders.count > 1 { transfers[blob.root]?.exclusive.insert(chunk) }
            return senders.count == 1 ? senders.map { ban($0, from: blob.root) } : []
        }
    }

    /// A piece could not be stored because the disk is full or bad: its chunk has to be fetched
    /// again, and nothing is requested until `resume`.
    public mutating func fail(_ piece: Int, of blob: BlobName) {
        noteUnsettled(-blob.shape.byteCount(ofPiece: piece))
        guard let chunk = blob.shape.chunk(ofPiece: piece) else { return }
        _ = transfers[blob.root]?.discard(chunk)
        transfers[blob.root]?.isPaused = true
        if transfers[blob.root] != nil { marks.change(blob.root) }
    }

    /// A part of a piece arrived: a slow peer must not count as stalled.
    public mutating func hear(_ peer: PeerID, at now: UInt64) {
        peers[peer]?.pace.hear(at: now)
    }

    /// Handles leaves from a peer.
    ///
    /// - Returns: what to send to the sender of wrong ones.
    public mutating func take(
        _ proof: TreeProof, of root: BlobRoot, from peer: PeerID, at now: UInt64
    ) -> [Message] {
        // Unrequested leaves are ignored before any hashing.
        guard var transfer = transfers[root], let asked = transfer.leavesAsked,
            asked.peer == peer, let chunks = proof.chunks
        else { return [] }
        transfer.leavesAsked = nil
        transfers[root] = transfer
        marks.setAwaitsLeaves(false, root)
        guard proof.shape == transfer.shape, asked.chunks.contains(chunks.lowerBound),
            proof.isValid(for: root)
        else { return [ban(peer, from: root)] }
        peers[peer]?.pace.hear(at: now)
        transfer.know(proof.leaves, from: chunks.lowerBound)
        transfers[root] = transfer
        return []
    }

    /// Gives a transfer the hashes of all chunks, from the stored tree.
    public mutating func know(_ tree: BlobTree) {
        guard transfers[tree.root]?.shape == tree.shape else { return }
        transfers[tree.root]?.know(tree.leaves, from: 0)
        marks.change(tree.root)
    }

    /// The tree of a transfer, once all its leaves are known, for storing.
    public func tree(of root: BlobRoot) -> BlobTree? {
        guard let transfer = transfers[root], transfer.leaves.count == transfer.shape.chunkCount
        else { return nil }
        let leaves = (0..<transfer.shape.chunkCount).compactMap { transfer.leaves[$0] }
        return BlobTree(shape: transfer.shape, leaves: leaves, root: root)
    }
}

/// The progress of a transfer, for people.
public struct TransferState: Hashable, Sendable {
    /// Bytes of the file in complete chunks: it never decreases unless chunks are lost.
    public let byteCount: UInt64
    /// Bytes of the file.
    public let byteCountInAll: UInt64
    /// Whether everything wanted is here.
    public let isComplete: Bool
    /// Peers that are being asked.
    public let sources: [PieceScheduler.PeerID]
    /// Since when no peer is asked, `nil` while one is.
    public let waitingSince: UInt64?
    /// Whether it waits for disk space.
    public let isPaused: Bool
}

extension PieceScheduler {
    /// The progress of a transfer, `nil` if there is none.
    public func state(of root: BlobRoot) -> TransferState? {
        guard let transfer = transfers[root] else { return nil }
        return TransferState(
            byteCount: transfer.held.plaintextByteCount(of: transfer.shape),
            byteCountInAll: transfer.shape.byteCount, isComplete: transfer.isComplete,
            sources: Set(transfer.asked.values.joined()).sorted(),
            waitingSince: marks.idleSince[root], isPaused: transfer.isPaused)
    }

    /// Whether everything wanted of a blob is stored; `false` without a transfer.
    public func isComplete(_ root: BlobRoot) -> Bool { transfers[root]?.isComplete == true }

    /// Whether a connected peer says that it holds some of a blob being fetched.
    public func isOffered(_ root: BlobRoot) -> Bool {
        transfers[root]?.sources.values.contains { !$0.isEmpty } ?? false
    }

    /// The transfers of which no peer has been asked for anything since `moment` or longer, by
    /// root.
    public func idle(since moment: UInt64) -> [BlobRoot] {
        marks.idleSince.filter { $0.value <= moment }.keys.sorted()
    }

    /// Whether no requested piece is outstanding, or waiting to be stored.
    public var isQuiet: Bool {
        unsettledBytes == 0 && marks.awaitingLeaves.isEmpty
            && peers.values.allSatisfy { $0.owed == 0 }
    }

    /// All transfers, by root.
    public var roots: [BlobRoot] { transfers.keys.sorted() }
}
