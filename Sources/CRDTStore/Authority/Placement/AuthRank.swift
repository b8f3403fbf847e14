public import WorkspaceModel

/// How strong a grant is: its role first, then its age. Smaller is stronger.
///
/// A grant is always weaker than its issuer's, because its role is lower or it is younger.
public struct GrantRank: Hashable, Comparable, Sendable {
    /// What the grant allows; -1 stands for the root of the workspace, above every owner.
    let level: Int8
    /// The causal depth of the grant.
    let lamport: UInt64
    /// Orders concurrent grants of one depth.
    let id: OperationID

    /// The role; `nil` for what stands above every owner.
    public var role: Role? { UInt64(exactly: level).flatMap { Role(rawValue: $0) } }

    init(role: Role, lamport: UInt64, id: OperationID) {
        level = Int8(role.rawValue)
        self.lamport = lamport
        self.id = id
    }

    private init(aboveAll id: OperationID) {
        level = -1
        lamport = 0
        self.id = id
    }

    static func root(_ id: OperationID) -> Self { Self(aboveAll: id) }

    /// Stronger first.
    public static func < (left: Self, right: Self) -> Bool {
        if left.level != right.level { return left.level < right.level }
        if left.lamport != right.lamport { return left.lamport < right.lamport }
        return left.id < right.id
    }
}

extension Role {
    /// What is left of a role that was given up by a transfer.
    var dropped: Role {
        switch self {
        case .owner: .admin
        case .admin: .member
        case .member, .guest: self
        }
    }
}

/// How strong a device is under a grant: earlier in the grant's list is stronger, which is why
/// the recovery device is listed first.
///
/// A recovery device that took the place of another one stands where that one does, right behind
/// it: (depth, id) of the addition. Of a chain of those the last is enough, for it is the deepest.
struct DeviceRank: Hashable, Comparable, Sendable {
    let grant: GrantRank
    let index: Int
    /// 0 where no addition took a place.
    private(set) var successionLamport: UInt64 = 0
    private(set) var succession = OperationID.zero

    init(grant: GrantRank, index: Int) {
        self.grant = grant
        self.index = index
    }

    /// The rank of a device that takes this place.
    func succeeded(by id: OperationID, at lamport: UInt64) -> Self {
        var next = self
        next.successionLamport = lamport
        next.succession = id
        return next
    }

    static func < (left: Self, right: Self) -> Bool {
        if left.grant != right.grant { return left.grant < right.grant }
        if left.index != right.index { return left.index < right.index }
        if left.successionLamport != right.successionLamport {
            return left.successionLamport < right.successionLamport
        }
        return left.succession < right.succession
    }
}

/// The rank of an operation: a strict total order over the operations of one document.
///
/// An admission is never stronger than the invite it rests on; content is weaker than everything
/// else of its device.
struct AuthRank: Hashable, Comparable, Sendable {
    /// The depth that is weaker than every real one.
    static let infinity = UInt64.max

    let author: DeviceRank
    /// Whether the author's device ends its own part by it: stronger than all else of that device, for
    /// who has left writes nothing any more as if from before that.
    var isOwnEnd = false
    /// How many phrases its device stands behind the one in whose place it counts: weaker than all that
    /// this one's device writes there, with what comes before it. Less than 0 where that one stands behind it.
    var generation: Int8 = 0
    let lamport: UInt64
    let id: OperationID
    /// 1 for what the author of a transfer keeps: judged behind the transfer itself.
    var part: UInt8 = 0

    static func < (left: Self, right: Self) -> Bool {
        if left.author != right.author { return left.author < right.author }
        if left.generation != right.generation { return left.generation < right.generation }
        if left.isOwnEnd != right.isOwnEnd { return left.isOwnEnd }
        if left.lamport != right.lamport { return left.lamport < right.lamport }
        return left.id == right.id ? left.part < right.part : left.id < right.id
    }
}
