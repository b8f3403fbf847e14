import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// A private document of which this node holds a key: who is in it, what it is called, and the
/// keys of its epochs. A relay holds the operations and has nothing of this.
///
/// Its keys are its own: none of them opens anything else of the workspace, nor the other way
/// round. Everything here can be made again from the store.
final class PrivateDocument {
    let id: DocumentID
    /// Its short number in the store.
    let number: Int64
    /// Epoch keys that are held.
    private(set) var keys: [KeyID: SymmetricKey] = [:]
    /// What opens the membership operations of an epoch. Of an epoch whose key is held the first
    /// is its own; what was handed on proves itself by what it opens, so there may be several.
    private(set) var authorityKeys: [KeyID: [PrivateAuthorityKey]] = [:]
    /// Who may do what, made anew when anything below changes.
    var authority: PrivateAuthority
    /// The stored membership operations, opened or not, by id.
    private(set) var records: [OperationID: Record] = [:]
    /// The ids of `records` in the order of arrival.
    private(set) var order: [OperationID] = []
    /// Those of `records` that no key has opened so far.
    var closed: Set<OperationID> = []
    /// Everybody whom an operation that could be opened ever let in.
    private(set) var everIn: Set<MemberID> = []
    /// What ended memberships in the workspace of people who were ever in, as it was judged with.
    var ends: [MemberID: Set<OperationID>] = [:]
    /// What people see of it, once it was worked out from the rest.
    var shown: Workspace.Channel??
    /// What events have told of it.
    var told: Workspace.Channel?
    /// The keys under which content was folded.
    var foldedKeys: Set<KeyID> = []
    /// Notices that the own member is out, by the operation that says so.
    var notices: Set<OperationID> = []
    /// How far content of a log is valid, until authority changes.
    var limits: [LimitPlace: PrivateContentLimit] = [:]
    /// How far a log has a right over what others wrote, of those that redactions made one ask
    /// about.
    private var deletionLimits: [LimitPlace: [PrivateContentLimit]] = [:]
    /// Members whose undos were passed over because they never had a right here.
    private var passedOver: Set<MemberID> = []
    /// Whether redactions have to be judged anew: at first, and whenever those limits change.
    var hasOtherRights = true
    /// Whether `limits` has every stretch that is stored, and not only those asked for since the
    /// start.
    var hasAllLimits = false
    /// Up to where removals and departures leave each log.
    private var cuts: [LogName: [CutEntry]] = [:]
    private var documentKeys: [KeyID: SymmetricKey] = [:]

    /// One membership operation.
    struct Record {
        /// `nil` until it was opened, and where it means nothing to this version.
        var change: PrivateChange?
        /// The member whose device wrote it, `nil` where it cites no grant.
        let author: MemberID?
        let log: LogName
        let sequence: UInt64
        let timestamp: HybridTimestamp
        /// The workspace grant that it cites.
        let grant: OperationID
        let keyID: KeyID
        let arrival: Int64
        let branch: Int64
        /// The nearest membership operation before it in its log.
        let previous: OperationID?
        let dependencies: [OperationID]
    }

    /// One stretch of a log.
    struct LimitPlace: Hashable {
        let log: LogName
        let member: MemberID
        let key: KeyID
    }

    init(id: DocumentID, number: Int64) {
        self.id = id
        self.number = number
        authority = PrivateAuthority(of: id, [])
    }

    /// The operation that made it.
    var rootID: OperationID { OperationID(sameBytesAs: id) }

    /// How it began, `nil` until that could be read.
    var root: PrivateRoot? { authority.root }

    /// The key for the content of one epoch, or `nil` while it is not held.
    func contentKey(_ keyID: KeyID) -> SymmetricKey? {
        if let known = documentKeys[keyID] { return known }
        guard let key = keys[keyID]?.documentKey(for: id) else { return nil }
        documentKeys[keyID] = key
        return key
    }

    /// Takes an epoch key.
    ///
    /// - Returns: whether it was new.
    func take(_ key: SymmetricKey) -> Bool {
        let name = key.keyID
        guard keys[name] == nil else { return false }
        keys[name] = key
        authorityKeys[name, default: []].insert(PrivateAuthorityKey(of: key), at: 0)
        return true
    }

    /// Takes what was handed on of an epoch.
    ///
    /// - Returns: whether it was new.
    func take(_ key: PrivateAuthorityKey, of name: KeyID) -> Bool {
        guard keys[name] == nil else { return false }
        let known = authorityKeys[name] ?? []
        // Told by their hashes: a copy of a key to compare would have to be wiped.
        let hash = key.key.keyID
        guard known.count < Limits.unprovenKeysMax,
            !known.contains(where: { $0.key.keyID == hash })
        else { return false }
        authorityKeys[name] = known + [key]
        return true
    }

    func enter(_ id: OperationID, _ record: Record) {
        guard records.updateValue(record, forKey: id) == nil else { return }
        order.append(id)
        closed.insert(id)
    }

    /// The right of an owner, and of an admin.
    func deletionLimits(at place: LimitPlace) -> [PrivateContentLimit] {
        if let known = deletionLimits[place] { return known }
        let limits = [Role.owner, .admin].map {
            authority.contentLimit(
                of: place.member, in: place.log, under: place.key, leastRole: $0)
        }
        deletionLimits[place] = limits
        return limits
    }

    /// Whether a member ever had a right to delete what others wrote here.
    func everMayDelete(_ member: MemberID) -> Bool {
        guard root?.subtype == .channel, authority.hasSeated(member, asAtLeast: .admin) else {
            passedOver.insert(member)
            return false
        }
        return true
    }

    /// Called when `authority` was made anew.
    func noteRights() {
        if passedOver.contains(where: { authority.hasSeated($0, asAtLeast: .admin) }) {
            hasOtherRights = true
        }
        passedOver = []
        let before = deletionLimits
        deletionLimits = [:]
        for (place, limits) in before where deletionLimits(at: place) != limits {
            hasOtherRights = true
        }
    }

    /// Whether a removal or departure leaves the log of an operation up to exactly that one.
    func isCut(at operation: CheckedOperation) -> Bool {
        guard !cuts.isEmpty else { return false }
        let header = operation.header
        let log = LogName(document: id, device: header.device, incarnation: header.incarnation)
        return (cuts[log] ?? []).contains {
            $0.sequence == header.sequence && $0.id == Identifier16(prefixOf: operation.id)
        }
    }

    /// Called when operations came or were opened.
    func noteCuts() {
        cuts = [:]
        for record in records.values {
            for cut in record.change?.action.cuts ?? [] { cuts[cut.log, default: []].append(cut) }
        }
    }

    /// Notes what an operation says, and by which key it was opened: what comes first is tried
    /// first.
    func opened(_ id: OperationID, _ change: PrivateChange?, by place: Int) {
        closed.remove(id)
        records[id]?.change = change
        switch change?.action {
        case .root(let root): everIn.formUnion(root.seats.map(\.member))
        case .add(let addition): everIn.formUnion(addition.seats.map(\.member))
        default: break
        }
        guard place > 0, let name = records[id]?.keyID, keys[name] == nil else { return }
        authorityKeys[name]?.swapAt(0, place)
    }
}
