public import WorkspaceModel

/// Which signatures of a run are needed (PROTOCOL.md, 2 "Authentic" and 5.3).
extension OperationRun {
    /// The places whose signatures vouch for all of the run, ascending: the last one, and whichever lies
    /// too far in front of the one that was found last. Authority operations each stand for themselves.
    ///
    /// - Parameter isGood: whether the signature at a place verifies. It is asked of no more places
    ///   than are given back, where all are good.
    /// - Returns: `nil` where nothing vouches for one of the operations.
    func vouchers(isGood: (Int) -> Bool) -> [Int]? {
        var vouchers: [Int] = []
        var covered = Covered()
        for place in entries.indices.reversed() {
            covered.add(entries[place])
            if let voucher = vouchers.last, !isAuthority(place), isInSegment(place, of: voucher),
                covered.isBounded
            {
                continue
            }
            guard let next = firstGood(from: place, before: vouchers.last, isGood) else {
                return nil
            }
            // What the vouching operation has itself does not count (PROTOCOL.md, 2).
            covered = Covered()
            for entry in entries[place..<next] { covered.add(entry) }
            vouchers.append(next)
        }
        return vouchers.reversed()
    }

    /// The run with as few signatures as vouch for all of it.
    ///
    /// - Parameter isGood: whether the signature at a place was verified, or made, here.
    /// - Returns: the run as it is where these do not vouch for all of it.
    public func sparingSignatures(isGood: (Int) -> Bool) -> OperationRun {
        guard let vouchers = vouchers(isGood: isGood) else { return self }
        var run = self
        var next = vouchers.startIndex
        for place in run.entries.indices {
            if next < vouchers.endIndex, vouchers[next] == place {
                next += 1
            } else {
                run.entries[place].signature = nil
            }
        }
        return run
    }

    /// The first place from `place` on whose signature is good and covers it.
    ///
    /// Almost always that is `place` itself. An author who signs garbage in the middle of a segment
    /// must not get an honest relay, who has other runs than we, refused.
    private func firstGood(
        from place: Int, before voucher: Int?, _ isGood: (Int) -> Bool
    ) -> Int? {
        let end = isAuthority(place) ? place + 1 : voucher ?? entries.count
        var covered = Covered()
        for candidate in place..<end {
            guard isInSegment(candidate, of: place), covered.isBounded else { return nil }
            if entries[candidate].signature != nil, isGood(candidate) { return candidate }
            covered.add(entries[candidate])
        }
        return nil
    }

    private func isAuthority(_ place: Int) -> Bool {
        entries[place].kind == OperationKind.authority.rawValue
    }

    private func isInSegment(_ place: Int, of other: Int) -> Bool {
        (firstSequence + UInt64(place)) / Limits.segmentLength
            == (firstSequence + UInt64(other)) / Limits.segmentLength
    }

    /// What one signature vouches for besides its own operation: so little that all of it goes
    /// through one message, however little was asked for.
    private struct Covered {
        private var payloadBytes = 0
        private var dependencies = 0

        mutating func add(_ entry: OperationRun.Entry) {
            payloadBytes += entry.payloadLength
            dependencies += entry.dependencies.count
        }

        var isBounded: Bool {
            payloadBytes <= Limits.runPayloadBytesMax && dependencies <= Limits.runDependenciesMax
        }
    }
}
