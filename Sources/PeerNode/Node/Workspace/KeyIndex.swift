import WorkspaceModel

/// What the authority document says about keys, indexed by query and updated with each operation,
/// so that no query scans the whole document.
///
/// Everything here is a function of the operations alone. Whether they are valid, and which keys
/// are held, is looked up when needed.
struct KeyIndex {
    /// An operation that introduces an epoch key.
    struct Introduction {
        let operation: OperationID
        let key: KeyID
        let lamport: UInt64
        /// Whether another one in its past introduces the same key: a function of the past alone.
        let isRepeated: Bool

        var rank: (UInt64, OperationID) { (lamport, operation) }
    }

    /// An operation that names a discovery secret.
    struct DiscoveryName {
        let operation: OperationID
        let lamport: UInt64
        /// Whether it names the first one, which is valid whatever becomes of the operation.
        let isFirst: Bool

        var rank: (UInt64, OperationID) { (lamport, operation) }
    }

    /// An older key that was handed on before anything introduced it.
    struct Awaited {
        let newer: KeyID
        let sealed: [UInt8]
    }

    private var introductions: [Introduction] = []
    /// Places in `introductions`, ascending by rank: four bytes are moved where one of 56 would be.
    private var order: [Int32] = []
    /// The first introduction of each key, and the others of those that have several.
    private var firsts: [KeyID: Int32] = [:]
    private var others: [KeyID: [Int32]] = [:]
    /// The changes of keys by the key that they introduce; one key may have several.
    private(set) var carriers: [KeyID: [OperationID]] = [:]
    /// The operations with boxes by the key in them.
    private(set) var boxes: [KeyID: [OperationID]] = [:]
    /// The operations that list devices, in the order of arrival.
    private(set) var deviceLists: [OperationID] = []
    private var awaited: [KeyID: [Awaited]] = [:]
    /// By name, ascending by rank.
    private var discovery: [[UInt8]: [DiscoveryName]] = [:]
    /// Changes that hand on discovery secrets, by their key, and by what they hand on.
    private var discoveryCarriers: [KeyID: [OperationID]] = [:]
    private var handedOn: [[UInt8]: [OperationID]] = [:]
    /// Which older keys of a change were found to be what they say, a bit for each.
    var proven: [OperationID: UInt64] = [:]
    /// The cached ends after which the key has to change, until an operation arrives that may
    /// affect them.
    var ends: [OperationID]?
    /// The cached sealing key, until a key is taken or an input changes; the inner `nil` where
    /// there is none.
    private(set) var sealing: SealingKey??
    /// How often it was forgotten: who goes by what it follows from sees here that it has changed.
    private(set) var generation: UInt64 = 0

    /// How many operations were looked at to answer something; for tests.
    var looks = 0

    /// Takes up an operation that was placed.
    ///
    /// - Parameter knows: whether it has another one in its past.
    mutating func note(
        _ payload: AuthorityPayload, _ id: OperationID, lamport: UInt64,
        knows: (OperationID) -> Bool = { _ in false }
    ) {
        if let boxes = payload.wrappedKeys { self.boxes[boxes.key, default: []].append(id) }
        if !payload.listedDevices.isEmpty { deviceLists.append(id) }
        if let key = payload.newKey {
            introduce(
                .init(
                    operation: id, key: key, lamport: lamport,
                    isRepeated: introductions(of: key).contains(where: knows)))
        }
        if let rekey = payload.carriedRekey {
            carriers[rekey.keyID, default: []].append(id)
            for older in rekey.olderKeys {
                guard let name = KeyID(untrusted: older.id), firsts[name] == nil else { continue }
                awaited[name, default: []].append(
                    Awaited(newer: rekey.keyID, sealed: older.sealed))
            }
        }
        switch payload {
        case .create(let create):
            name(create.discoveryID, .init(operation: id, lamport: lamport, isFirst: true))
        case .rekey(let change):
            if let given = change.discoveryID {
                name(given, .init(operation: id, lamport: lamport, isFirst: false))
            }
            guard let older = change.olderDiscovery else { return }
            discoveryCarriers[change.rekey.keyID, default: []].append(id)
            for secret in older { handedOn[secret.id, default: []].append(id) }
        default: break
        }
    }

    // MARK: Epoch keys

    /// Keeps which key seals, until a key is taken or what it follows from changes.
    mutating func keep(sealing: SealingKey?) { self.sealing = .some(sealing) }

    /// Schedules a new search for the sealing key.
    mutating func forgetSealing() {
        sealing = nil
        generation &+= 1
    }

    private mutating func introduce(_ new: Introduction) {
        let place = Int32(truncatingIfNeeded: introductions.count)
        introductions.append(new)
        let index = order.firstPlace { new.rank < introductions[Int($0)].rank }
        order.insert(place, at: index)
        guard let known = firsts[new.key] else {
            firsts[new.key] = place
            return
        }
        let isFirst = new.rank < introductions[Int(known)].rank
        firsts[new.key] = isFirst ? place : known
        others[new.key, default: []].append(isFirst ? known : place)
    }

    /// All introductions, the newest first: the one with the largest (depth, id).
    var newestFirst: some Sequence<Introduction> {
        order.lazy.reversed().map { introductions[Int($0)] }
    }

    /// Whether any operation introduces the key.
    func introduces(_ key: KeyID) -> Bool { firsts[key] != nil }

    /// The first introduction of each key, in no order.
    var firstIntroductions: some Collection<Introduction> {
        firsts.values.lazy.map { introductions[Int($0)] }
    }

    /// The first introduction of a key.
    func firstIntroduction(of key: KeyID) -> Introduction? {
        firsts[key].map { introductions[Int($0)] }
    }

    /// The operations that introduce a key: one as a rule.
    private func introductions(of key: KeyID) -> [OperationID] {
        guard let first = firsts[key] else { return [] }
        return ([first] + (others[key] ?? [])).map { introductions[Int($0)].operation }
    }

    /// Takes out what was handed on of a key before it was introduced, for one look.
    mutating func takeAwaited(_ key: KeyID) -> [Awaited] {
        awaited.removeValue(forKey: key) ?? []
    }

    // MARK: Discovery secrets

    private mutating func name(_ name: [UInt8], _ new: DiscoveryName) {
        let place = (discovery[name] ?? []).firstPlace { new.rank < $0.rank }
        discovery[name, default: []].insert(new, at: place)
    }

    /// The operations that name a discovery secret, ascending by (depth, id).
    func discoveryNames(_ name: [UInt8]) -> [DiscoveryName] { discovery[name] ?? [] }

    /// The operations that give other discovery secrets than those, in the order of their ids.
    func givers(besides names: Set<[UInt8]>) -> [OperationID] {
        discovery.filter { !names.contains($0.key) }.values.joined().map(\.operation).sorted()
    }

    /// Takes out, for one pass, the changes under a key that hand on discovery secrets. One that
    /// does not count yet is looked at when it does.
    mutating func takeDiscoveryCarriers(of key: KeyID) -> [OperationID] {
        discoveryCarriers.removeValue(forKey: key) ?? []
    }

    /// The same by what they hand on.
    mutating func takeCarriers(ofDiscovery name: [UInt8]) -> [OperationID] {
        handedOn.removeValue(forKey: name) ?? []
    }

    /// Puts back a change that handed on a secret which nothing names so far.
    mutating func putBack(_ id: OperationID, handingOnDiscovery name: [UInt8]) {
        handedOn[name, default: []].append(id)
    }
}

extension AuthorityPayload {
    /// Whether it can affect after which ends the group key has to change: who is in, with which
    /// role, and who no longer is.
    var bearsOnEnds: Bool {
        switch self {
        case .rekey, .createDocument, .setDocument, .deleteDocument, .setWorkspace, .invite: false
        default: true
        }
    }
}
