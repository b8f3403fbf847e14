import PeerNode
import WorkspaceModel

/// `invite create` and `device link` on a terminal: shows who uses the link.
struct Inviting: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// Events about an invite.
    private static let inviteEvents: [EventType] = [
        .memberJoined, .inviteUsed, .inviteRevoked, .requestCreated,
    ]

    /// Whether a person is there to see who uses a link.
    private var waitsForUse: Bool {
        io.isInputTerminal && io.isOutputTerminal && !globals.noInput && !globals.json
            && !globals.plain && !globals.quiet
    }

    /// `device link` without a link: makes one, and shows the device that uses it.
    func makeDeviceLink(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        guard waitsForUse else { return try callAndPrint(command, parameters) }
        var client = try client()
        // A wildcard, since an older daemon may refuse an unknown event name.
        try client.subscribe(["types": ["device.*"]])
        let link = try client.call(command.name, parameters)
        io.print(rendering.text(link, of: command.name))
        let waiting = "waiting for the other device; ctrl-C stops waiting, the link keeps working"
        io.print(rendering.dim(rendering.flowed(waiting)) + "\n")
        let expiry = link["expires_at"]?.integerValue ?? .max
        let end = min(expiry, globals.timeoutMilliseconds.map { io.now &+ $0 } ?? .max)
        while true {
            do throws(NodeError) {
                guard let event = try client.nextEvent(within: max(0, end - io.now)) else {
                    throw ControlClient.ended
                }
                guard EventName(of: event) == .kept(.deviceAdded), event["backfill"] != true else {
                    continue
                }
                let name = nameOfLinked(event, &client)
                io.print(rendering.flowed("linked: \(name)\n", isOwn: false))
                return 0
            } catch {
                guard error.kind == .timeout else { throw error }
                if io.now < end { continue }
                if end == expiry { io.print("the link has expired\n") }
                return 0
            }
        }
    }

    /// How long to wait for the name of a new device, in milliseconds.
    private static let namePatience: Int64 = 5_000

    /// The name of a new device, which it sends a moment after it was added.
    ///
    /// - Returns: its name, or the beginning of its id if none arrives in time.
    private func nameOfLinked(_ event: JSONValue, _ client: inout ControlClient) -> String {
        var device = event["data"] ?? .null
        let end = io.now &+ Self.namePatience
        while Rendering.isNameless(device), io.now < end {
            do throws(NodeError) {
                guard let event = try client.nextEvent(within: end - io.now) else { break }
                guard EventName(of: event) == .kept(.deviceRenamed), let now = event["data"],
                    now["id"] == device["id"]
                else { continue }
                device = now
            } catch {
                // The loop condition checks whether there is time left.
                guard error.kind == .timeout else { break }
            }
        }
        return rendering.shown(device["name"])
    }

    func invite(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        guard waitsForUse else { return try callAndPrint(command, parameters) }
        var client = try client()
        var wanted: JSONObject = ["types": JSONValue(texts: Self.inviteEvents.map(\.word))]
        wanted["workspace"] = parameters["workspace"]
        // Subscribed first, so that nobody can join unseen.
        try client.subscribe(wanted)
        let invite = try client.call(command.name, parameters)
        io.print(rendering.text(invite, of: command.name))
        // An invite made earlier with the same idempotency key may be over.
        guard invite["state"] == "open" else { return 0 }
        let waiting = "waiting for them to join; ctrl-C stops waiting, the link keeps working"
        io.print(rendering.dim(rendering.flowed(waiting)) + "\n")
        try awaitUse(of: invite, &client)
        return 0
    }

    /// Shows who joins, until the invite is used up, revoked or expired.
    private func awaitUse(
        of invite: JSONValue, _ client: inout ControlClient
    ) throws(NodeError) {
        let expiry = invite["expires_at"]?.integerValue ?? .max
        let end = min(expiry, globals.timeoutMilliseconds.map { io.now &+ $0 } ?? .max)
        var newcomer: JSONValue?
        while true {
            let event: JSONValue?
            do throws(NodeError) {
                event = try client.nextEvent(within: max(0, end - io.now))
            } catch {
                guard error.kind == .timeout else { throw error }
                // A single wait is limited.
                if io.now < end { continue }
                if end == expiry { io.print("the invite has expired\n") }
                return
            }
            guard let event else { throw ControlClient.ended }
            let data = event["data"]
            switch EventName(of: event) {
            case .kept(.memberJoined): newcomer = data
            case .kept(.requestCreated) where data?["invite"] == invite["id"]:
                let who = sanitised(data?["name"]?.stringValue ?? data?["id"]?.stringValue ?? "")
                let how = NodeError.shellWord("@" + who)
                let command = rendering.hints.text("wsx-node request approve \(how)")
                io.print(rendering.flowed("\(who) is asking to join: \(command)\n"))
            case .kept(.inviteUsed) where data?["id"] == invite["id"]:
                let role = rendering.shown(newcomer?["role"])
                io.print("\(rendering.person(newcomer)) joined as \(role)\n")
                if data?["state"] != "open" { return }
            case .kept(.inviteRevoked) where data?["id"] == invite["id"]:
                return io.print("the invite was revoked\n")
            default: break
            }
        }
    }
}
