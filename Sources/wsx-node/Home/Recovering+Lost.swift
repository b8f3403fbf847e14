import PeerNode
import WorkspaceModel

/// A lost or stolen device: choosing it, and revoking its access.
extension Recovering {
    /// `device lost`: asks for the device and the recovery phrase if they are missing.
    func loseDevice(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        var client = try client()
        if scan.values["device"] == nil, mayAsk {
            session.scan.values["device"] = .string(try lostDevice(&client))
        } else if let wanted = scan.values["device"]?.stringValue, mayAsk {
            session.scan.values["device"] = .string(try lostDevice(called: wanted))
        }
        if scan.values["phrase"] == nil, mayAsk {
            session.scan.values["phrase"] = .string(try askPhrase())
        }
        let parameters = try session.parameters(for: command)
        try Asking(session).ask(before: command, parameters)
        let result = try client.call(command.name, parameters)
        show(rendering.text(result, of: "device.revoke"))
        guard !globals.json, !globals.plain else { return 0 }
        io.print(
            rendering.flowed(
                """
                Nothing written from now on can be read with it. What it held until then, its \
                finder can read, unless its home has a passphrase that they do not know.

                """))
        return 0
    }

    /// Revokes a device, asking for the recovery phrase if that is needed.
    func revokeDevice(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        try Asking(self).ask(before: command, parameters)
        do throws(NodeError) {
            return try callAndPrint(command, parameters)
        } catch {
            guard error.isBecause(of: .olderDevice), parameters["phrase"] == nil, mayAsk else {
                throw error
            }
            io.tell("\(error.message)\n", isOwn: false)
            var again = parameters
            again["phrase"] = .string(try askPhrase())
            return try callAndPrint(command, again)
        }
    }

    /// `identity phrase new`: asks for the current words, and shows the new ones at the end.
    func renewPhrase(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        if scan.values["phrase"] == nil, mayAsk,
            let answer = io.ask("Your current 24 words: "), !answer.isEmpty
        {
            session.scan.values["phrase"] = .string(answer)
        }
        let parameters = try session.parameters(for: command)
        var client = try client()
        let result = try client.call(command.name, parameters)
        show(rendering.text(result, of: command.name))
        try tellPhrase(result, &client)
        if !showsPhrase, !globals.json, !globals.plain {
            Starting(self).say(next: "wsx-node identity show --phrase")
        }
        return 0
    }

    /// A device heard from within this time counts as online.
    private static let onlineMilliseconds: Int64 = 60_000

    /// Lists the person's other devices, and asks which one is meant.
    private func lostDevice(_ client: inout ControlClient) throws(NodeError) -> String {
        var given = JSONObject()
        given["workspace"] = workspace.map { .string($0) }
        let page = try client.call("device.list", given)
        let devices = (page["items"]?.arrayValue ?? []).filter {
            $0["self"] == false && $0["recovery"] == false && $0["revoked"] == false
        }
        guard !devices.isEmpty else {
            throw NodeError(
                .notFound, "you have no other device here", hint: "wsx-node device list",
                reason: "device.not_found", fields: [.init(name: "device", reason: "not_found")])
        }
        for (number, device) in devices.enumerated() {
            let seen = device["last_seen"]?.integerValue.map {
                io.now - $0 < Self.onlineMilliseconds
                    ? "online now" : "last seen \(TimeText.ago(max(0, io.now - $0))) ago"
            }
            let name = rendering.fitting(sanitised(device["name"]?.stringValue ?? ""))
            io.tell(
                "  \(number + 1)  \(name), added \(rendering.momentInSentence(device["added_at"]))"
                    + "\(seen.map { ", " + $0 } ?? "")\n")
        }
        let answer = io.ask("Which one is lost? ") ?? ""
        let numbered = Int(answer).flatMap { number in
            (1...devices.count).contains(number) ? devices[number - 1] : nil
        }
        let named = devices.filter { NameFolding.matches($0["name"]?.stringValue ?? "", answer) }
        // Revocation is permanent, so an ambiguous name is not guessed.
        guard numbered != nil || named.count < 2 else {
            throw .usage(
                "nothing was revoked: \(named.count) devices are called that",
                hint: "give the number of the device")
        }
        guard let id = (numbered ?? named.first)?["id"]?.stringValue else {
            throw .usage("nothing was revoked", hint: "give the number or the name of a device")
        }
        return id
    }

    /// The named device, resolved before anybody types 24 words for it.
    private func lostDevice(called wanted: String) throws(NodeError) -> String {
        var given = JSONObject()
        given["workspace"] = workspace.map { .string($0) }
        let found = Asking.devices(wanted, among: try Asking(self).ownDevices(given))
        guard let device = found.first, let id = device["id"]?.stringValue else {
            throw .notFound("device", wanted, field: "device", hint: "wsx-node device list")
        }
        guard found.count == 1 else {
            throw .ambiguous(
                wanted,
                candidates: found.map { ["id": $0["id"] ?? .null, "name": $0["name"] ?? .null] },
                field: "device")
        }
        guard device["self"] != true else {
            throw .usage(
                "that is this device, which is not lost", hint: "wsx-node device list")
        }
        return id
    }

    /// Asks for the words of the phrase.
    private func askPhrase() throws(NodeError) -> String {
        guard let answer = io.ask("Your 24 words: "), !answer.isEmpty else {
            throw .usage("nothing was revoked", hint: "this needs your recovery phrase")
        }
        return answer
    }
}
