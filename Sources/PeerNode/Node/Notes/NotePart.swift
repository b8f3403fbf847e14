/// A part of the room of notes, which keeps one piece of its state or none.
///
/// A part asks only those that stand before it in the room's list, so calls between parts go one way.
/// What takes several in turn is done by the room.
class NotePart: CorePart {
    unowned let room: Notes

    /// Called by the room when it first needs the part.
    init(_ room: Notes) {
        self.room = room
        super.init(room.core)
    }
}
