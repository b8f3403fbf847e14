import WorkspaceModel

/// What a conversation on a terminal remembers from one wait to the next.
extension Chat {
    /// The stream of events, and how the daemon is.
    struct Link {
        /// The last event that was seen, after which a lost stream goes on.
        var cursor: String?
        /// When to look for the daemon again, while it is away.
        var retry: (due: Int64, delay: Int64)?
        /// Why the daemon does not serve, as it was told last.
        var trouble: String?
    }

    /// What was said here.
    struct Outbox {
        /// What was said while nobody took it, with the keys that make it count once.
        var unsent: [JSONObject] = []
        /// What was sent from here, until the stream tells of it.
        var awaited = AwaitedEvents()
        /// What somebody else said, and was asked to be deleted just now.
        var doomed: String?
        /// What was about to be said and looks like a command for the shell.
        var doubted: String?
    }

    /// The end of what is shown.
    struct Bottom {
        /// The message that may still change at the bottom of the screen.
        var openMessage: String?
        /// The thread of the message above it.
        var openAfter: String?
        /// When it is told in a line of its own that some have the newest message, and not all.
        var tickDue: Int64?
        /// When to ask again who has the newest message of one's own.
        var watch: (message: String, due: Int64, delay: Int64)?
        /// Whether something was shown that is not marked as read.
        var hasUnmarked = false
    }

    /// Whether others are told that somebody writes here.
    struct Typing {
        /// Whether that is told at all.
        var tellsTyping = true
        /// Whether keys have changed the line since it was last told that somebody writes, or sent.
        var hasTyped = false
        /// When that was told last, by conversation, as far as that keeps it from being told again.
        var toldTyping: [String: Int64] = [:]
    }

    /// What others are called.
    struct Names {
        /// Conversations besides this one, by their ids, and when they were looked up.
        var others: [String: (channel: JSONValue, at: Int64)] = [:]
        /// Whose the new devices are that were told of before they had said what they are called.
        var unnamedDevices: [String: String] = [:]
        /// What one is called in the workspace, by one's id.
        var ownNames: [String: String] = [:]
    }
}
