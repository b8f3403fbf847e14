/// What the parts of a node's loop wait with. Its jobs look up the addresses of names.
typealias NodeDriver = LoopDriver<LookedUp, NodeAlarm>

/// What a job of the node's loop ends with.
typealias LookedUp = Result<[SocketAddress], NameResolution.Failure>

/// The only timer: the next deadline of any part.
enum NodeAlarm: Hashable { case next }
