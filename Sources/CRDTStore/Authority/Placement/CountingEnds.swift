import WorkspaceModel

/// The final ends of a member's phrases that count in a past: of several of one phrase those that
/// the strongest confirmation names, if another member has confirmed any (PROTOCOL.md, 4.0). A
/// thief with the old phrase can write such ends too.
///
/// - Cost: `looks`: one for each of the ends; for a phrase with several, one for each confirmation
///   of them up to the one that decides, and for each operation that this one names; and those of
///   `EndedSupports`. None for each pair of an end and a confirmation.
struct CountingEnds {
    private let all: Set<Int>
    /// For each phrase, what any of its counting final ends knows.
    private(set) var known: [DeviceID: CausalPast] = [:]
    /// How many others were examined to find them.
    private(set) var looks: Int

    init(of member: MemberID, before record: AuthRecord, _ placed: PlacedOperations) {
        let ends = placed.further.finalEnds[member] ?? []
        looks = ends.count
        var counting = ends.filter { record.knows(placed.records[$0].place) }
        if counting.count > 1 {
            var ended = EndedSupports(placed, before: record)
            // For each phrase, what the deciding confirmation names.
            var named: [DeviceID: Set<Int>] = [:]
            var asked: Set<DeviceID> = []
            for end in counting {
                let device = placed.records[end].operation.device
                guard asked.insert(device).inserted else { continue }
                let choices = placed.further.choices[.init(member: member, device: device)] ?? []
                let place = choices.firstIndex {
                    record.knows(placed.records[$0].place) && placed.records[$0].author != member
                        && !ended.contains($0)
                }
                looks &+= place.map { $0 + 1 } ?? choices.count
                guard let place else { continue }
                let confirmed = placed.records[choices[place]].cited.confirmed
                looks &+= confirmed.count
                named[device] = Set(confirmed)
            }
            looks &+= ended.looks
            counting = counting.filter {
                named[placed.records[$0].operation.device]?.contains($0) ?? true
            }
        }
        all = Set(counting)
        for end in counting {
            known[placed.records[end].operation.device, default: CausalPast()]
                .formUnion(placed.records[end].past)
        }
    }

    func contains(_ end: Int) -> Bool { all.contains(end) }
}

extension PlacedOperations {
    /// The phrase of a final end, under whatever grant the record counts.
    func phrase(ofFinalEnd index: Int) -> OwnDevice? {
        guard records[index].again.isFinalEnd, let member = records[index].author else {
            return nil
        }
        return OwnDevice(member: member, device: records[index].operation.device)
    }

    /// Indexes a confirmation by the phrases whose final ends it names, each once.
    mutating func registerChoice(_ confirmation: Int) {
        for phrase in phrases(namedBy: confirmation) {
            let place = place(of: confirmation, among: further.choices[phrase] ?? [])
            further.choices[phrase, default: []].insert(confirmation, at: place)
        }
    }

    /// Reverts `registerChoice`.
    mutating func unregisterChoice(_ confirmation: Int) {
        for phrase in phrases(namedBy: confirmation) {
            further.choices[phrase]?.removeAll { $0 == confirmation }
            if further.choices[phrase]?.isEmpty == true { further.choices[phrase] = nil }
        }
    }

    private func phrases(namedBy confirmation: Int) -> Set<OwnDevice> {
        Set(records[confirmation].cited.confirmed.compactMap { phrase(ofFinalEnd: $0) })
    }
}
