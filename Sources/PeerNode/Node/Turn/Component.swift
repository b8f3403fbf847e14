import CRDTStore
import WorkspaceModel

/// The core as a room sees it here: something that has a turn.
protocol TurnHolder: AnyObject {
    var turn: NodeTurn { get }
}

/// A part of the core: `CorePart` is one of `NodeCore`. A part that is not a room either belongs to
/// a room or is stateless and made where it is used.
class PartOf<Core: TurnHolder>: CoreMember {
    unowned let core: Core
    let turn: NodeTurn

    init(_ core: Core) {
        self.core = core
        turn = core.turn
    }
}

/// A room of the core: a part with state of its own. `Component` is one of `NodeCore`, which
/// creates it on first use.
class ComponentOf<Core: TurnHolder>: PartOf<Core> {
    /// When it has something to do next, on the monotonic clock. No moment at which that would be in vain,
    /// which would keep the loop awake. Asked twice a turn: it makes no list.
    var nextDeadline: UInt64? { nil }

    /// Does what is due.
    func tick() throws(StorageError) {}

    /// Drops all secrets that a lock removes.
    func forgetSecrets() {}

    /// Drops what it knows about workspaces: the node is about to be closed.
    func forgetWorkspaces() {}

    /// Goes on in the place of a room whose core was discarded, with what is not stored and with what the
    /// loop says only once.
    ///
    /// - Parameter former: the room of the same kind.
    func goOn(after former: ComponentOf<Core>) {}
}

/// A part of a room that is a list of parts; it holds one piece of the room's state, or none.
///
/// A part calls only those before it in the room's list, so calls between parts go one way. The
/// room itself does what involves several of them.
class RoomPartOf<Room: CoreMember>: PartOf<Room.Core> {
    unowned let room: Room

    /// Called by the room when it first needs the part.
    init(_ room: Room) {
        self.room = room
        super.init(room.core)
    }
}

/// What every room uses of the turn.
protocol CoreMember: AnyObject {
    associatedtype Core: TurnHolder

    var core: Core { get }
    var turn: NodeTurn { get }
}

extension CoreMember {
    var environment: NodeEnvironment { turn.environment }
    var store: NodeStore { turn.store }
    var time: TurnTime { turn.time }
    var mayWrite: Bool { turn.mayWrite }
    var home: HomeIdentity? { turn.session.home }
    var storeIdentity: StoreIdentity? { turn.session.storeIdentity }

    func write() throws(StorageError) { try turn.write() }

    func stored<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(NodeError) -> Value {
        try turn.stored(body)
    }
}
