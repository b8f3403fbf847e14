public import WorkspaceModel

/// After a leave, or after a device has revoked itself, somebody still has the device's key and
/// could end the same membership or device once more with an operation dated as if before. An own
/// end is stronger than all else of its device, so it would take back whatever the first end knew,
/// removals and admissions included. If somebody stronger has answered one end, no other end that
/// the answer does not know has effect (PROTOCOL.md, 4.0.3 and 4.3).
extension AuthVerdicts {
    /// Whether a stronger operation answers another end of the same membership or device.
    func answers(_ index: Int, anEndBeside target: AuthExposure) -> Bool {
        records[index].rank < target.rank
            && records[index].cited.answeredEnds.contains { isEnd($0, beside: target) }
    }

    /// Whether a confirmation names one final end of a phrase and passes over another one that it
    /// knows (V-7): its author has chosen between the two.
    func passesOver(_ index: Int, by confirmation: Int) -> Bool {
        let end = placed.original(index)
        guard let phrase = phrase(ofFinalEnd: end),
            records[confirmation].operation.action.isConfirmation,
            !records[confirmation].cited.answeredEnds.contains(end)
        else { return false }
        return records[confirmation].cited.answeredEnds.contains {
            self.phrase(ofFinalEnd: $0) == phrase && !placed.knows(end, $0)
        }
    }

    /// The strongest valid confirmation that names an own end.
    func strongestConfirmation(of end: Int) -> Int? {
        let end = placed.original(end)
        guard let author = records[end].author else { return nil }
        return (placed.reach.revocations[.ownEnd(author)] ?? []).filter {
            records[$0].isValid && records[$0].operation.action.isConfirmation
                && records[$0].cited.answeredEnds.contains(end)
        }.min { placed.isStronger($0, than: $1) }
    }

    /// Whether a confirmation takes nothing from an end because a stronger confirmation names that
    /// end: of ends that were confirmed concurrently the one by the strongest stays, or none would.
    func isAnswered(_ revocation: Int, _ strongest: Int?) -> Bool {
        guard let strongest, records[revocation].operation.action.isConfirmation else {
            return false
        }
        return placed.isStronger(strongest, than: revocation)
    }

    /// The own ends that a confirmation names: weaker confirmations no longer hit them, or may hit
    /// them again.
    func endsNamed(by confirmation: Int) -> [Int] {
        guard records[confirmation].operation.action.isConfirmation else { return [] }
        return records[confirmation].cited.answeredEnds.flatMap { placed.everyRecord(of: $0) }
            .filter { placed.isStronger(confirmation, than: $0) }
    }

    /// Whether one end has ended what another one, which does not know it, would end: a leave all
    /// that its member got since the same admission in no stronger role, and a revocation the same
    /// device under the same grant. An end from before a return, which may have had no effect, does
    /// not keep the member from leaving again.
    private func isEnd(_ end: Int, beside target: AuthExposure) -> Bool {
        // A member who goes on after an end without effect, and then leaves, knows that end.
        if let index = target.index, placed.knows(index, end) { return false }
        guard case .leave = records[end].operation.action else {
            return records[end].rank.author == target.rank.author
                && records[end].operation.device == target.device
                || records[end].again.isFinalEnd && records[end].author == target.author
                    && records[end].operation.device == target.device
        }
        guard records[end].author == target.author, let grant = records[end].grant,
            let role = records[end].actingRole,
            target.rank.author.grant.level >= Int8(role.rawValue)
        else { return false }
        return records[grant].admission == records[target.grant].admission
    }

    /// Private documents have no confirmations: there every operation under a stronger seat answers
    /// the leaves that it knows, the first one of each seat (D-23). Noted for seats that were left
    /// more than once.
    ///
    /// - Cost: constant if nobody leaves a seat twice, else linear in the document for each such
    ///   leave.
    mutating func answerDepartures() {
        let departures = Dictionary(
            grouping: placed.reach.endings.filter { records[$0].operation.isOwnEnd },
            by: { records[$0].rank.author })
        for (seat, unsorted) in departures where unsorted.count > 1 {
            guard let member = records[unsorted[0]].author else { continue }
            let ends = unsorted.sorted { records[$0].rank < records[$1].rank }
            for index in records.indices
            where records[index].fault == nil && records[index].rank.author < seat {
                guard records[index].author != member,
                    let first = ends.first(where: { placed.knows(index, $0) }),
                    ends.contains(where: { !placed.knows(index, $0) })
                else { continue }
                placed.records[index].cited.answeredEnds.append(first)
                placed.reach.revocations[.ownEnd(member), default: []].append(index)
            }
        }
    }

    /// In a private document, the seats of owners and admins who have left and whose leave no
    /// stronger seat has answered (D-24).
    ///
    /// - Cost: linear in what was placed after each such leave, until it is answered.
    var openDepartures: [DeviceRank] {
        placed.reach.endings.filter {
            records[$0].isValid && records[$0].operation.isOwnEnd
                && records[$0].actingRole.map { $0 <= .admin } == true
        }.compactMap { end in
            let seat = records[end].rank.author
            let isAnswered = records.indices[(end + 1)...].contains {
                records[$0].isValid && records[$0].rank.author < seat && placed.knows($0, end)
            }
            return isAnswered ? nil : seat
        }
    }
}

extension PrivateAuthority {
    /// Whether an owner or admin has left whose seat is weaker than that of `member`, who is in,
    /// and no operation under a stronger seat knows of it.
    public func hasOpenDeparture(weakerThan member: MemberID) -> Bool {
        guard !openDepartures.isEmpty, let own = evaluator.strongestNow(member.asDevice, of: member)
        else { return false }
        return openDepartures.contains { own.author < $0 }
    }
}
