public import WorkspaceModel

/// The rank of a grant: its role first, then its age. Smaller is stronger.
///
/// A grant is always weaker than its issuer's, because its role is lower or it is younger.
public struct GrantRank: Hashable, Comparable, Sendable {
    /// What the grant allows; -1 stands for the root of the workspace, above every owner.
    let level: Int8
    /// The causal depth of the grant.
    let lamport: UInt64
    /// Orders concurrent grants of one depth.
    let id: OperationID

    /// The role; `nil` for the root, which is above every owner.
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
    /// The role that remains after a transfer.
    var dropped: Role {
        switch self {
        case .owner: .admin
        case .admin: .member
        case .member, .guest: self
        }
    }
}

/// The rank of a device under a grant: earlier in the grant's list is stronger, which is why the
/// recovery device is listed first.
///
/// A recovery device that took the place of another one ranks right behind it: by (depth, id) of
/// the adddev. In a chain of those the last suffices, since it is the deepest.
struct DeviceRank: Hashable, Comparable, Sendable {
    let grant: GrantRank
    let index: Int
    /// 0 if no adddev took a place.
    private(set) var successionLamport: UInt64 = 0
    private(set) var succession = OperationID.zero

    /// The rank of a device that takes this one's place.
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
/// An admission is never stronger than the invite that it rests on; content is weaker than
/// everything else of its device.
struct AuthRank: Hashable, Comparable, Sendable {
    /// A depth that is weaker than every real one.
    static let infinity = UInt64.max

    let author: DeviceRank
    /// Whether it is an own end of its author: stronger than all else of that device, so that
    /// nothing written after the end counts as written before it.
    var isOwnEnd = false
    /// How many phrases its device stands behind the one in whose place it counts (V-12): weaker
    /// than all that the device in front writes there. Less than 0 if it counts by V-13.
    var generation: Int8 = 0
    let lamport: UInt64
    let id: OperationID
    /// 1 for what the author of a transfer keeps: judged after the transfer itself.
    var part: UInt8 = 0

    static func < (left: Self, right: Self) -> Bool {
        if left.author != right.author { return left.author < right.author }
        if left.generation != right.generation { return left.generation < right.generation }
        if left.isOwnEnd != right.isOwnEnd { return left.isOwnEnd }
        if left.lamport != right.lamport { return left.lamport < right.lamport }
        return left.id == right.id ? left.part < right.part : left.id < right.id
    }
}
