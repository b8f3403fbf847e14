import CRDTStore
import WorkspaceModel

/// Tells the owner about wrong clocks, first of all this machine's.
extension Links {
    /// The finding of `doctor` about clocks.
    var clockFinding: FindingObject {
        let verdict = clocks.verdict(at: time)
        switch verdict {
        case .unknown:
            return .init(
                id: "clock", state: "ok",
                message: "no peer has connected since the start, so clocks were not compared")
        case .fine(let count):
            return .init(
                id: "clock", state: "ok",
                message: count == 1
                    ? "the clock of 1 peer is within 2 min of this one"
                    : "the clocks of \(count) peers are within 2 min of this one")
        case .own(let difference, _), .doubtful(_, let difference):
            return .init(
                id: "clock", state: isLoud(difference) ? "fail" : "warn",
                message: clockSentence(verdict), hint: "timedatectl set-ntp true")
        case .others:
            return .init(
                id: "clock", state: "warn", message: clockSentence(verdict),
                hint: "ask them to check their clock; this one agrees with others")
        }
    }

    /// The warning for `status` and the home screen: that this clock is wrong, or is off by a day
    /// from the only one that it can be compared with.
    var clockWarnings: [StatusObject.Warning] {
        let verdict = clocks.verdict(at: time)
        guard let kind = warningKind(of: verdict) else { return [] }
        return [
            .init(
                kind: kind, message: clockSentence(verdict), hint: "timedatectl set-ntp true")
        ]
    }

    /// Compares the clock of the peer, as it was in the handshake. Only members' clocks: a former
    /// member is not a witness.
    func compareClocks(on link: PeerLink) throws(StorageError) {
        guard let peer = link.peer, !isFormer(peer.device),
            let person = person(of: peer.device)
        else { return }
        clocks.note(
            peer.device, of: person, showed: peer.wallMilliseconds, at: link.openedAt)
        try warnOfClocks()
    }

    /// The id of the person whose device that is, in the first workspace that knows it.
    private func person(of device: DeviceID) -> [UInt8]? {
        workspaces.values.sorted { $0.number < $1.number }.lazy
            .compactMap { $0.owner(of: device) }.first?.bytes
    }

    /// Records `node.warning` for what `clockWarnings` begins to say, once a kind and start.
    func warnOfClocks() throws(StorageError) {
        guard !turn.session.lock.isLocked, mayWrite else { return }
        let verdict = clocks.verdict(at: time)
        guard let kind = warningKind(of: verdict), toldClocks.insert(kind).inserted else { return }
        try core.warn(["kind": .string(kind.rawValue), "message": .string(clockSentence(verdict))])
        turn.emit(.log(.warning, "\(kind.rawValue) \(clockMinutes(verdict)) min"))
    }

    private func warningKind(of verdict: PeerClocks.Verdict) -> WarningKind? {
        switch verdict {
        case .own: .clockWrong
        case .doubtful(_, let difference): isLoud(difference) ? .clockDoubtful : nil
        case .unknown, .fine, .others: nil
        }
    }

    private func clockMinutes(_ verdict: PeerClocks.Verdict) -> Int64 {
        switch verdict {
        case .own(let difference, _), .doubtful(_, let difference), .others(_, let difference, _):
            -difference / 60_000
        case .unknown, .fine: 0
        }
    }

    private func isLoud(_ difference: Int64) -> Bool {
        difference.magnitude >= PeerClocks.day.magnitude
    }

    private func clockSentence(_ verdict: PeerClocks.Verdict) -> String {
        func amount(_ difference: Int64) -> String {
            AgeText.of(Int64(clamping: difference.magnitude))
        }
        switch verdict {
        case .own(let difference, let count):
            let side = difference > 0 ? "behind" : "ahead of"
            return "this clock is wrong: it shows \(UTCMinute.text(time.wall)), "
                + "\(amount(difference)) \(side) \(count) peers that agree"
        case .doubtful(let device, let difference):
            let side = difference > 0 ? "ahead of" : "behind"
            return "the clock of \(peerName(device)) is \(amount(difference)) \(side) this one, "
                + "which shows \(UTCMinute.text(time.wall)); one of the two is wrong"
        case .others(let device, let difference, let count):
            let side = difference > 0 ? "ahead of" : "behind"
            let more = count == 1 ? "" : "; \(count) peers' clocks are off"
            return "the clock of \(peerName(device)) is \(amount(difference)) \(side) this one"
                + more
        case .unknown, .fine: return ""
        }
    }

    private func peerName(_ device: DeviceID) -> String {
        let known = workspaces.values.sorted { $0.number < $1.number }.lazy.compactMap {
            workspace in
            workspace.members.first { $0.devices.contains(device) }
                .map { workspace.displayName(of: $0.member) }
        }
        return known.first ?? PublicID.device(device)
    }
}

/// A duration in its largest unit, as findings show it.
enum AgeText {
    static func of(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7_200 { return "\(seconds / 60) min" }
        if seconds < 172_800 { return "\(seconds / 3_600) h" }
        let days = seconds / 86_400
        return days < 730 ? "\(days) days" : "\(days / 365) years"
    }
}
