/// The driver of a node's loop. Its jobs resolve names.
typealias NodeDriver = LoopDriver<LookedUp, NodeAlarm>

/// The result of a job of the node's loop.
typealias LookedUp = Result<[SocketAddress], NameResolution.Failure>

/// The only timer: the next deadline of any part.
enum NodeAlarm: Hashable { case next }
