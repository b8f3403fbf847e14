import WorkspaceModel

/// The state that a conversation on a terminal keeps between waits.
extension Chat {
    /// The event stream, and the state of the daemon.
    struct Link {
        /// The last event seen, after which a lost stream resumes.
        var cursor: String?
        /// When to try the daemon again, while it is away.
        var retry: (due: Int64, delay: Int64)?
        /// The last known reason why the daemon does not serve.
        var trouble: String?
    }

    /// Messages entered here.
    struct Outbox {
        /// Messages that nobody accepted yet, with their idempotency keys.
        var unsent: [JSONObject] = []
        /// Messages sent from here, until their events arrive.
        var awaited = AwaitedEvents()
        /// The message that was just asked to be deleted, once.
        var doomed: String?
        /// A message that looks like a shell command, held back once.
        var doubted: String?
    }

    /// The end of the shown text.
    struct Bottom {
        /// The message at the bottom of the screen that may still change.
        var openMessage: String?
        /// The thread of the message above it.
        var openAfter: String?
        /// When to show in a line of its own that some people have the newest message, and not all.
        var tickDue: Int64?
        /// When to ask again who has your newest message.
        var watch: (message: String, due: Int64, delay: Int64)?
        /// Whether something was shown that is not marked as read yet.
        var hasUnmarked = false
    }

    /// The state of our typing indicator.
    struct Typing {
        /// Whether typing is reported at all.
        var tellsTyping = true
        /// Whether keys have changed the line since the last indicator, or since sending.
        var hasTyped = false
        /// When the last indicator was sent, by conversation, as long as that delays the next one.
        var toldTyping: [String: Int64] = [:]
    }

    /// Names of other conversations and people.
    struct Names {
        /// Other conversations by id, with the time of their look-up.
        var others: [String: (channel: JSONValue, at: Int64)] = [:]
        /// The people of new devices that were announced before their names arrived.
        var unnamedDevices: [String: String] = [:]
        /// Your name in the workspace, by your id.
        var ownNames: [String: String] = [:]
    }
}
