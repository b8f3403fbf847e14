/// The rooms that fold stored operations into views and notify about them.
final class ContentRooms: CorePart {
    private(set) lazy var derivation = Derivation(core)
    private(set) lazy var messages = Messages(core)
    private(set) lazy var notes = Notes(core)
    private(set) lazy var ledgers = Ledgers(core)

    /// The rooms for content other than messages, in the order in which they are called.
    var families: [any ContentFamily] { [notes, ledgers] }
}

/// The rooms for a person's own data: settings for their own devices, the profile for others, and
/// proofs of what it says.
final class PersonRooms: CorePart {
    private(set) lazy var own = OwnDocuments(core)
    private(set) lazy var profiles = Profiles(core)
    private(set) lazy var presence = Presences(core)
    private(set) lazy var proofs = Proofs(core)
}

/// The rooms that work between devices: linking them, syncing a workspace, and joining one.
final class MeetingRooms: CorePart {
    private(set) lazy var links = Links(core)
    private(set) lazy var syncing = Syncing(core)
    private(set) lazy var enrolment = Enrolment(core)
}

/// The rooms that produce what people and programs hear and see.
final class TellingRooms: CorePart {
    private(set) lazy var events = Events(core)
    private(set) lazy var queries = Queries(core)

    /// A control connection has ended: nobody hears its streams, or waits for what it looks for.
    func forget(_ connection: UInt64) {
        events.subscriptions.close(connection: connection)
        queries.forgetSearches(of: connection)
    }
}
