/// What stored operations become, and who is told of each.
final class ContentRooms: CorePart {
    private(set) lazy var derivation = Derivation(core)
    private(set) lazy var messages = Messages(core)
    private(set) lazy var notes = Notes(core)
    private(set) lazy var ledgers = Ledgers(core)

    /// What takes up content that is no message, in the order in which it is told.
    var families: [any ContentFamily] { [notes, ledgers] }
}

/// What people say of themselves: to their own devices, to others, and what others prove of it.
final class PersonRooms: CorePart {
    private(set) lazy var own = OwnDocuments(core)
    private(set) lazy var profiles = Profiles(core)
    private(set) lazy var presence = Presences(core)
    private(set) lazy var proofs = Proofs(core)
}

/// What devices meet for: to have the same of a workspace, and to come in.
final class MeetingRooms: CorePart {
    private(set) lazy var syncing = Syncing(core)
    private(set) lazy var enrolment = Enrolment(core)
}

/// What people and programs hear, and what they see.
final class TellingRooms: CorePart {
    private(set) lazy var events = Events(core)
    private(set) lazy var queries = Queries(core)

    /// A control connection has ended: nobody hears its streams, or waits for what it looks for.
    func forget(_ connection: UInt64) {
        events.subscriptions.close(connection: connection)
        queries.forgetSearches(of: connection)
    }
}
