extension PieceScheduler {
    /// The messages to send now. Call it at the end of a turn with changes, and at `nextDeadline`.
    public mutating func plan(at now: UInt64) -> [Message] {
        var messages = endStalls(at: now)
        var wants: [PeerID: [BlobRoot: BlobWant]] = [:]
        var resting: Set<PeerID> = []
        while let peer = nextPeer(except: resting, asked: wants.keys, at: now) {
            guard let (root, piece) = nextPiece(for: peer, &wants, at: now) else {
                resting.insert(peer)
                continue
            }
            ask(peer, for: piece, of: root, at: now)
            wants[peer, default: [:]][root, default: BlobWant(root: root)].pieces
                .append(piece..<piece + 1)
        }
        for peer in wants.keys.sorted() {
            for want in wants[peer, default: [:]].values.sorted(by: { $0.root < $1.root }) {
                var want = want
                want.pieces = Self.merged(want.pieces)
                messages.append(Message(peer: peer, message: .want(want)))
            }
        }
        for root in marks.takeChanged() {
            guard let transfer = transfers[root] else { continue }
            let isIdle = transfer.asked.isEmpty && transfer.leavesAsked == nil
            marks.setIdle(isIdle, root, at: now)
        }
        return messages
    }

    /// When `plan` has something to do without further input, `nil` for never.
    public func nextDeadline(after now: UInt64) -> UInt64? {
        var times = peers.compactMap { id, peer -> UInt64? in
            if owes(id) { return peer.pace.heardAt + peer.pace.patience }
            return peer.restsUntil > 0 ? peer.restsUntil : nil
        }
        // Only if there is another source.
        for root in marks.shared {
            let seconds = transfers[root]?.secondAt.values.lazy.filter { $0 > now }
            if let time = seconds?.min() { times.append(time) }
        }
        return times.filter { $0 > now }.min()
    }

    /// Whether a peer owes a requested piece.
    private func owes(_ peer: PeerID) -> Bool {
        if let state = peers[peer], state.owed > 0 { return true }
        return marks.awaitingLeaves.contains { transfers[$0]?.leavesAsked?.peer == peer }
    }

    /// Cancels the requests to stalled peers.
    private mutating func endStalls(at now: UInt64) -> [Message] {
        var messages: [Message] = []
        for peer in peers.keys.sorted() {
            guard let state = peers[peer] else { continue }
            if state.restsUntil > 0, now >= state.restsUntil { peers[peer]?.restsUntil = 0 }
            guard owes(peer), now >= state.pace.heardAt + state.pace.patience else {
                continue
            }
            for root in transfers.keys.sorted() {
                let pieces = drop(peer, from: root)
                guard !pieces.isEmpty else { continue }
                let ranges = Self.merged(pieces.map { $0..<$0 + 1 })
                messages.append(Message(peer: peer, message: .cancel(root, pieces: ranges)))
            }
            peers[peer]?.pace.stall()
            peers[peer]?.restsUntil = now + BlobLimits.stalledRestMilliseconds
        }
        return messages
    }

    /// The peer that owes least among those with room in their window.
    ///
    /// A quarter of the window is requested at a time: each request costs both nodes a turn.
    private func nextPeer(
        except resting: Set<PeerID>, asked: Dictionary<PeerID, [BlobRoot: BlobWant]>.Keys,
        at now: UInt64
    ) -> PeerID? {
        let piece = BlobLimits.pieceBytesMax
        guard bufferBytes + piece <= BlobLimits.bufferBytesMax else { return nil }
        var least: (owed: Int, id: PeerID)?
        for (id, peer) in peers
        where !resting.contains(id) && peer.restsUntil <= now
            && peer.owed + piece <= peer.pace.window
            && (peer.owed <= peer.pace.window / 4 * 3 || asked.contains(id))
        {
            if let least, least < (peer.owed, id) { continue }
            least = (peer.owed, id)
        }
        return least?.id
    }

    /// The next piece to request from a peer: of the chunk that it has begun, then
    /// of the next transfer.
    private mutating func nextPiece(
        for peer: PeerID, _ wants: inout [PeerID: [BlobRoot: BlobWant]], at now: UInt64
    ) -> (BlobRoot, Int)? {
        let turn = peers[peer]?.turn
        if let turn, let transfer = transfers[turn.root], transfer.owners[turn.chunk] == peer,
            !transfer.isPaused, let piece = transfer.nextPiece(of: turn.chunk)
        {
            return (turn.root, piece)
        }
        let roots = marks.askable
        let place = turn.flatMap { turn in roots.firstIndex { $0 > turn.root } } ?? 0
        for root in roots[place...] + roots[..<place] {
            guard let transfer = transfers[root], !transfer.isPaused, !transfer.sources.isEmpty
            else {
                marks.rest(root)
                continue
            }
            guard let map = transfer.sources[peer] else { continue }
            askForLeaves(of: root, from: peer, map, &wants, at: now)
            if let piece = piece(of: root, for: peer, map, at: now) { return (root, piece) }
            // With several sources there may be something to request once the
            // first has taken too long.
            if transfer.sources.count == 1 { marks.rest(root) }
        }
        return nil
    }

    /// Requests leaves if some are missing, none are requested, and the peer has chunks.
    private mutating func askForLeaves(
        of root: BlobRoot, from peer: PeerID, _ map: HaveMap,
        _ wants: inout [PeerID: [BlobRoot: BlobWant]], at now: UInt64
    ) {
        guard let transfer = transfers[root], transfer.leavesAsked == nil,
            transfer.shape.chunkCount > 1, !map.isEmpty
        else { return }
        let known = [transfer.held, transfer.judged]
        guard
            let first = HaveMap.first(in: [transfer.urgent], outside: known)
                ?? HaveMap.first(in: [transfer.wanted], outside: known)
        else { return }
        let end = min(
            transfer.shape.chunkCount, first + BlobLimits.leavesPerMessageMax,
            (transfer.wanted.first(from: first, held: false) ?? transfer.shape.chunkCount))
        transfers[root]?.leavesAsked = (peer, first..<end)
        marks.setAwaitsLeaves(true, root)
        if let state = peers[peer], state.owed == 0 { peers[peer]?.pace.begin(at: now) }
        wants[peer, default: [:]][root, default: BlobWant(root: root)].leaves = first..<end
    }

    /// A piece of a transfer to request from a peer.
    private func piece(
        of root: BlobRoot, for peer: PeerID, _ map: HaveMap, at now: UInt64
    ) -> Int? {
        guard let transfer = transfers[root] else { return nil }
        let possible = [map, transfer.judged(from: peer)]
        let past = [transfer.held, transfer.begun]
        for wanted in [transfer.urgent, transfer.wanted] {
            // Chunks of which nothing was requested yet.
            if let chunk = HaveMap.first(in: possible + [wanted], outside: past) {
                return transfer.nextPiece(of: chunk)
            }
        }
        return orphan(of: transfer, for: peer, possible)
            ?? second(of: transfer, for: peer, possible, at: now)
    }

    /// A piece of an unfinished chunk without an owner.
    private func orphan(of transfer: Transfer, for peer: PeerID, _ possible: [HaveMap]) -> Int? {
        for chunk in transfer.begun.runs.joined() where possible.allSatisfy({ $0.contains(chunk) })
        {
            guard let piece = transfer.nextPiece(of: chunk) else { continue }
            let owner = transfer.owners[chunk]
            if owner == nil || owner == peer { return piece }
        }
        return nil
    }

    /// A piece that another peer owes and has not sent in time, once nothing else is left. Doing so
    /// earlier would double the cost of small files.
    private func second(
        of transfer: Transfer, for peer: PeerID, _ possible: [HaveMap], at now: UInt64
    ) -> Int? {
        let left = HaveMap.first(in: [transfer.wanted], outside: [transfer.held, transfer.begun])
        guard left == nil else { return nil }
        return transfer.asked.keys.sorted().first { piece in
            guard let chunk = transfer.shape.chunk(ofPiece: piece),
                let asked = transfer.asked[piece], asked.count == 1, !asked.contains(peer),
                now >= transfer.secondAt[piece] ?? 0
            else { return false }
            return possible.allSatisfy { $0.contains(chunk) }
                && !transfer.exclusive.contains(chunk)
        }
    }

    private mutating func ask(_ peer: PeerID, for piece: Int, of root: BlobRoot, at now: UInt64) {
        // Changed in place: copying a transfer copies everything in it.
        guard let shape = transfers[root]?.shape, var state = peers[peer],
            let chunk = shape.chunk(ofPiece: piece)
        else { return }
        if state.owed == 0 { state.pace.begin(at: now) }
        state.owed += shape.byteCount(ofPiece: piece)
        state.pace.ask(owing: state.owed, at: now)
        state.calledOff.remove(PieceName(root: root, piece: piece))
        state.turn = (root, chunk)
        peers[peer] = state
        marks.ask(root)
        if transfers[root]?.asked[piece] == nil {
            transfers[root]?.secondAt[piece] = now + state.pace.expectation(owing: state.owed)
        }
        transfers[root]?.asked[piece, default: []].append(peer)
        transfers[root]?.begun.insert(chunk)
        if transfers[root]?.owners[chunk] == nil { transfers[root]?.owners[chunk] = peer }
    }

    /// Merges numbers into ascending ranges with a gap between any two.
    static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, last.upperBound >= range.lowerBound {
                merged[merged.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}
