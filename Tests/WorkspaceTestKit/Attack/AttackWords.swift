public import CRDTStore
public import WorkspaceModel

/// A device with its box key, as in a list of devices. Keys are represented by numbers.
public struct AttackPair: Hashable, Sendable {
    let device: DeviceID
    let box: Int
}

/// What a device signs when it is listed: 4.0.1 of PROTOCOL.md. Signatures are symbolic: one
/// verifies for exactly what was signed, and only the holder of a device's secret makes new ones.
public struct AttackWords: Hashable, Sendable {
    var type: Int
    /// The salt of the workspace; zero in create.
    var workspace: Int
    /// The invite, or the end that is answered.
    var context: OperationID
    var answerer: DeviceID
    var member: MemberID
    var list: [AttackPair]
}

/// A signature.
public enum AttackSeal: Hashable, Sendable {
    /// Of a device over the words of an entry.
    case entry(DeviceID, AttackWords)
    /// Of a recovery device over its own box key and the key of the device beside it.
    case recovery(DeviceID, box: Int, second: DeviceID)
}

/// An entry of `devices`: a pair with some signature.
public struct AttackEntry: Hashable, Sendable {
    let pair: AttackPair
    let seal: AttackSeal?
}

/// The proof of a request and an admit: A-4.
public struct AttackProof: Hashable, Sendable {
    let invite: OperationID
    let member: MemberID
    let entries: [AttackEntry]
}

/// The checks of the layer that knows keys, possibly with some rules missing.
struct AttackSignatures {
    let rules: AuthRuleSet
    /// The workspace of the attack; another one, with the same people, is 2.
    static let workspace = 1

    /// A member is named after the first device and the salt; the creator's salt is an own one.
    static func member(of device: DeviceID, salt: Int) -> MemberID {
        var bytes = Array(device.bytes.prefix(16))
        bytes[15] = UInt8(truncatingIfNeeded: salt)
        return MemberID(bytes)
    }

    ///
    func isNamed(_ member: MemberID, after entries: [AttackEntry]) -> Bool {
        guard let first = entries.first?.pair.device else { return false }
        if !rules.has(.a3) { return true }
        if member == Self.member(of: first, salt: Self.workspace) { return true }
        // In earlier versions the creator's name went with the creator's salt,
        // for every user of it.
        return rules.isOld && member == Self.member(of: first, salt: 0)
    }

    ///
    func areSigned(_ entries: [AttackEntry], _ words: AttackWords) -> Bool {
        let devices = entries.map(\.pair.device)
        let most = words.type == 5 ? 1 : words.type == 4 ? 16 : 2
        guard !devices.isEmpty, Set(devices).count == devices.count else { return false }
        if rules.has(.a2), devices.count > most { return false }
        let isCertified = words.type != 4 && words.type != 5 && devices.count > 1
        return entries.indices.allSatisfy { index in
            if isCertified, index == 0 { return isCertificate(entries[0], for: devices[1]) }
            return verifies(entries[index], words)
        }
    }

    private func isCertificate(_ entry: AttackEntry, for second: DeviceID) -> Bool {
        entry.seal == .recovery(entry.pair.device, box: entry.pair.box, second: second)
    }

    private func verifies(_ entry: AttackEntry, _ words: AttackWords) -> Bool {
        guard case .entry(entry.pair.device, let signed)? = entry.seal else { return false }
        if rules.has(.a1Type), signed.type != words.type { return false }
        if rules.has(.a1Workspace), signed.workspace != words.workspace { return false }
        if rules.has(.a1Context), signed.context != words.context { return false }
        if rules.has(.a1Answerer), signed.answerer != words.answerer { return false }
        if rules.has(.a1Member), signed.member != words.member { return false }
        guard rules.has(.a1List) else { return signed.list.contains(entry.pair) }
        return signed.list == words.list
    }
}

/// One operation of the attack, with the parts that only the layer that knows keys sees.
public struct AttackWritten: Sendable {
    /// The operation.
    public var operation: AuthOperation
    /// Who wrote it.
    public let author: String
    /// Whether somebody honest did.
    public let isHonest: Bool
    /// The devices that it lists, with their signatures.
    public let entries: [AttackEntry]
    /// The proof that it carries.
    public let proof: AttackProof?
    /// What its author's node had stored.
    public var known: Set<OperationID>
    /// The goal that is reached when it has no effect at its author's node, since it was due.
    public let promise: String?
    /// What its entries have to be signed for.
    public let words: AttackWords?
}
