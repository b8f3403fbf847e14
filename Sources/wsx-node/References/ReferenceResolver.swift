import PeerNode
import WorkspaceModel

/// Resolves `last` and partial ids to ids by asking the daemon.
///
/// Only the command line accepts them: a script should name a thing exactly, a person need not.
struct ReferenceResolver {
    /// The connection to the daemon.
    var client: ControlClient
    /// The workspace named by the call, used in every request.
    let workspace: String?
    /// Whether a person is there to see how a partial name was resolved.
    var takesParts = false
    /// Partial names, with the full names they were resolved to.
    private(set) var taken: [(typed: String, name: String)] = []
    /// The conversation assumed for `last`, by name, if none was given.
    private(set) var conversation: String?

    /// Letters and digits of an id: base32 of 16 bytes.
    static let idLength = 26
    /// The minimum number of letters.
    static let prefixLengthMin = 6
    /// How many pages of one list are searched at most.
    static let pagesMax = 50
    /// How many candidates are listed at most.
    private static let candidatesMax = 10

    /// Whether only this type resolves `text`.
    ///
    /// - Parameter letter: the type, such as `m`; `nil` for any that can be looked up.
    static func isShort(_ text: String, _ letter: Character? = nil) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2 + prefixLengthMin, bytes.count < 2 + idLength,
            bytes[1] == UInt8(ascii: "_"), let first = text.first,
            letter.map({ $0 == first }) ?? (listing(first) != nil || first == "m")
        else { return false }
        return bytes.dropFirst(2).allSatisfy(Base32Letters.contains)
    }

    /// Whether `values` contain any reference that needs resolving.
    static func needed(_ values: JSONObject, _ command: Command) -> Bool {
        command.parameters.contains { parameter in
            texts(values[parameter.name]).contains { kind($0, parameter) != nil }
        }
    }

    /// Whether a parameter accepts this partial reference.
    static func resolves(_ text: String, _ parameter: ParameterDefinition) -> Bool {
        kind(text, parameter) != nil
    }

    private static func texts(_ value: JSONValue?) -> [String] {
        value?.stringValue.map { [$0] } ?? value?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    /// The type's letter for a text in a parameter, or `nil` if it needs no resolving.
    private static func kind(_ typed: String, _ parameter: ParameterDefinition) -> Character? {
        let text = whole(typed)
        var shape = parameter.shape
        if case .list(let element, _) = shape { shape = element }
        switch shape {
        case .identifier("m_"):
            return text == "last" || isShort(text, "m") || isEnding(text, "m") ? "m" : nil
        case .identifier("r_"):
            // People know a request by its person, hardly by its id.
            return isShort(text, "r") || isEnding(text, "r") || !text.hasPrefix("r_") ? "r" : nil
        case .identifier(let prefix):
            return prefix.first.flatMap { isShort(text, $0) || isEnding(text, $0) ? $0 : nil }
        // A text without letter and `_` is a name.
        case .channel: return isPart(text, "c") ? "c" : nil
        case .member: return isPart(text, "u") ? "u" : nil
        case .workspace: return isPart(text, "w") ? "w" : nil
        case .note: return isPart(text, "n") ? "n" : nil
        case .text where ["before", "after", "around"].contains { $0 == parameter.name }:
            return text == "last" || isPart(text, "m") ? "m" : nil
        case .text where parameter.name == "subject":
            return ["m", "c", "u"].first { isPart(text, $0) }
        case .text where parameter.name == "peer": return isPart(text, "d") ? "d" : nil
        case .text where parameter.name == "device":
            return isPart(text, "d") || isEnding(text, "d") ? "d" : nil
        default: return nil
        }
    }

    /// `values` with whole ids.
    ///
    /// - Throws: `ambiguous` with the candidates, or `bad_request` for `last` without a channel.
    mutating func resolved(_ values: JSONObject, _ command: Command) throws(NodeError)
        -> JSONObject
    {
        var values = values
        let channel = values["channel"] ?? values["in"]
        let newest = Newest(of: command, values)
        for parameter in command.parameters {
            guard let value = values[parameter.name] else { continue }
            if let list = value.arrayValue {
                var items: [JSONValue] = []
                for item in list { items.append(try one(item, parameter, channel, newest)) }
                values[parameter.name] = .array(items)
            } else {
                values[parameter.name] = try one(value, parameter, channel, newest)
            }
        }
        return values
    }

    private mutating func one(
        _ value: JSONValue, _ parameter: ParameterDefinition, _ channel: JSONValue?,
        _ newest: Newest
    ) throws(NodeError) -> JSONValue {
        guard let typed = value.stringValue, let letter = Self.kind(typed, parameter) else {
            return value
        }
        let text = Self.ending(ofShown: typed) ?? typed
        let found =
            switch letter {
            case "m" where text == "last": [try last(newest, in: channel, parameter)]
            case "m": try messages(text, in: channel)
            case "d" where parameter.name == "device": ownDevices(text)
            default: try listed(text, letter)
            }
        // Without a match the daemon explains the failure.
        guard let first = found.first else {
            guard letter != "r" || text.hasPrefix("r_") else {
                throw .notFound(
                    "request of", text, field: parameter.name, hint: "wsx-node request list")
            }
            if let error = Self.noEnding(text, letter, parameter) { throw error }
            return value
        }
        guard found.count == 1 || found.contains(where: { $0.id == text }) else {
            throw .ambiguous(
                text, candidates: found.map(\.candidate), naming: Self.candidatesMax,
                field: parameter.name)
        }
        return .string(found.count == 1 ? first.id : text)
    }

    // MARK: Looking things up

    /// An item of a list.
    struct Found {
        let id: String
        let candidate: JSONValue
        /// Its name.
        var name: String?
        /// For a request: whether it is undecided.
        var isWaiting = false
        /// For a request: whose it is.
        var member: String?
        /// For a request: which device is to be let in.
        var device: String?
        /// For a request: when it was made, milliseconds since 1970.
        var at: Int64 = 0
    }

    /// The method that lists the items of this letter's type.
    static func listing(_ letter: Character) -> (method: String, given: JSONObject)? {
        switch letter {
        case "c": ("channel.list", ["scope": "all"])
        case "w": ("workspace.list", [:])
        case "i": ("invite.list", [:])
        case "r": ("join.requests", [:])
        case "d": ("peer.list", [:])
        case "u": ("member.list", [:])
        case "y": ("reminder.list", [:])
        case "n": ("note.list", [:])
        case "b": ("blob.list", [:])
        case "p": ("store.orders", [:])
        case "s": ("coin.spends", ["all": true])
        default: nil
        }
    }

    private mutating func listed(_ text: String, _ letter: Character) throws(NodeError) -> [Found] {
        guard let (method, given) = Self.listing(letter) else { return [] }
        var all = try all(letter, by: method, given)
        // Direct conversations have channel ids, and a list of their own.
        if letter == "c" { all += try self.all(letter, by: "dm.list", [:]) }
        // Deleted ones can be meant too.
        if letter == "n" { all += try self.all(letter, by: "note.list", ["deleted": true]) }
        if letter == "r", !text.hasPrefix("r_") {
            let found = requests(ofSomebody: text, among: all)
            if !found.isEmpty { return found }
        }
        return Self.meant(text, letter, among: all)
    }

    /// The caller's devices that match. If they cannot be listed, the daemon says why.
    private mutating func ownDevices(_ text: String) -> [Found] {
        Self.meant(text, "d", among: (try? all("d", by: "device.list", [:])) ?? [])
    }

    /// The pending requests of people with this name, with or without `@`; if there is none, of
    /// those whose names begin so. A name means a person with one device: of its
    /// requests it is the newest, and what is decided about it answers the others.
    private mutating func requests(ofSomebody text: String, among all: [Found]) -> [Found] {
        let name = text.hasPrefix("@") ? String(text.dropFirst()) : text
        let waiting = Self.newestOfEach(all.filter { $0.isWaiting })
        let found = waiting.filter { $0.name.map { NameFolding.matches($0, name) } == true }
        guard found.isEmpty, takesParts else { return found }
        let parts = waiting.filter { $0.name.map { PartOfName.is(name, in: $0) } == true }
        if parts.count == 1, let called = parts.first?.name { taken.append((text, called)) }
        return parts
    }

    /// The newest request of each person and device, in the order of the list; of two of one time
    /// the last. Another device may be a thief's, so a name does not choose between devices.
    static func newestOfEach(_ requests: [Found]) -> [Found] {
        var newest: [Found] = []
        for request in requests {
            let place = newest.firstIndex {
                $0.member != nil && $0.member == request.member && $0.device == request.device
            }
            guard let place else {
                newest.append(request)
                continue
            }
            if newest[place].at <= request.at { newest[place] = request }
        }
        return newest
    }

    /// The items of a list, without duplicates.
    private mutating func all(
        _ letter: Character, by method: String, _ given: JSONObject
    ) throws(NodeError) -> [Found] {
        var parameters = given
        if let workspace, letter != "w" { parameters["workspace"] = .string(workspace) }
        var found: [Found] = []
        var seen: Set<String> = []
        for _ in 0..<Self.pagesMax {
            let page = try client.call(method, parameters)
            for item in page["items"]?.arrayValue ?? [] {
                guard let id = item["id"]?.stringValue, seen.insert(id).inserted else { continue }
                let name = item["name"] ?? item["title"]
                let candidate: JSONValue = ["id": .string(id), "name": name ?? .null]
                found.append(
                    Found(
                        id: id, candidate: candidate, name: name?.stringValue,
                        isWaiting: item["state"] == "pending",
                        member: item["member"]?.stringValue,
                        device: item["device"]?.stringValue, at: item["at"]?.integerValue ?? 0))
            }
            guard let next = page["next"], !next.isNull else { break }
            parameters["cursor"] = next
        }
        return found
    }

    func scoped(_ parameters: JSONObject) -> JSONObject {
        var parameters = parameters
        if let workspace { parameters["workspace"] = .string(workspace) }
        return parameters
    }

    /// Which newest message `last` means.
    private enum Newest: String {
        /// Any: as a place in the channel.
        case any = "the channel is empty"
        /// One that is not deleted.
        case said = "there are no messages left there"
        /// One of the caller's.
        case own = "you have no messages there"
        /// One that can be restored.
        case deleted = "nothing was deleted there"

        init(of command: Command, _ values: JSONObject) {
            switch command.line?.last ?? .said {
            case .own: self = values["undo"]?.boolValue == true ? .deleted : .own
            case .place: self = .any
            case .said: self = .said
            }
        }

        func includes(_ message: JSONValue) -> Bool {
            let isDeleted = message["deleted"]?.isNull == false
            return switch self {
            case .any: true
            case .said: !isDeleted
            case .own: !isDeleted && message["self"] == true
            case .deleted: isDeleted
            }
        }
    }

    private mutating func last(
        _ newest: Newest, in channel: JSONValue?, _ parameter: ParameterDefinition
    ) throws(NodeError) -> Found {
        var place = channel
        if place == nil, takesParts, let used = try lastUsed() {
            place = used["id"]
            conversation = ChannelNames.shown(used)
        }
        guard let channel = place else {
            throw .usage("'last' needs a channel", hint: "add --in CHANNEL")
        }
        // It is nearly always the very last one.
        var parameters = scoped(["channel": channel, "limit": 1])
        for _ in 0..<Self.pagesMax {
            let page = try client.call("message.history", parameters)
            let found = (page["items"]?.arrayValue ?? []).last { newest.includes($0) }
            if let id = found?["id"]?.stringValue { return Found(id: id, candidate: .null) }
            guard let older = page["older"], !older.isNull else { break }
            parameters["before"] = older
            parameters["limit"] = 100
        }
        throw .notFound("message", "last", field: parameter.name, hint: newest.rawValue)
    }

    /// The messages whose ids begin with the text, else recent ones whose ids end with it.
    private mutating func messages(_ text: String, in channel: JSONValue?) throws(NodeError)
        -> [Found]
    {
        let found = Self.isShort(text, "m") ? try messages(beginning: text, in: channel) : []
        guard found.isEmpty, Self.isEnding(text, "m") else { return found }
        return try messages(ending: text, in: channel)
    }

    /// A message's id begins with its time, so only messages of that time are requested.
    private mutating func messages(
        beginning text: String, in channel: JSONValue?
    ) throws(NodeError) -> [Found] {
        var channels: [JSONValue] = []
        if let channel { channels = [channel] } else { channels = try allChannels() }
        let (since, until) = Base32Letters.milliseconds(of: text.utf8.dropFirst(2))
        var found: [Found] = []
        for channel in channels {
            let parameters: JSONObject = [
                "channel": channel, "since": .integer(since), "until": .integer(until),
                "limit": 100,
            ]
            found += try messages(parameters, pages: Self.pagesMax) {
                $0.utf8.starts(with: text.utf8)
            }
        }
        return found
    }

    /// The messages of a history whose ids are meant, of at most so many pages.
    mutating func messages(
        _ parameters: JSONObject, pages: Int, where isMeant: (String) -> Bool
    ) throws(NodeError) -> [Found] {
        var parameters = scoped(parameters)
        var found: [Found] = []
        for _ in 0..<pages {
            let page = try client.call("message.history", parameters)
            for item in page["items"]?.arrayValue ?? [] {
                guard let id = item["id"]?.stringValue, isMeant(id) else { continue }
                let candidate: JSONValue = ["id": .string(id), "text": item["text"] ?? .null]
                found.append(Found(id: id, candidate: candidate))
            }
            guard let older = page["older"], !older.isNull else { break }
            parameters["before"] = older
        }
        return found
    }

    mutating func allChannels() throws(NodeError) -> [JSONValue] {
        try conversations(["scope": "all"]).compactMap { $0["id"] }
    }

    /// The channels, then the direct conversations.
    mutating func conversations(_ given: JSONObject) throws(NodeError) -> [JSONValue] {
        try items(by: "channel.list", given) + items(by: "dm.list", [:])
    }

    private mutating func items(
        by method: String, _ given: JSONObject
    ) throws(NodeError) -> [JSONValue] {
        var items: [JSONValue] = []
        var parameters = scoped(given)
        for _ in 0..<Self.pagesMax {
            let page = try client.call(method, parameters)
            items += page["items"]?.arrayValue ?? []
            guard let next = page["next"], !next.isNull else { break }
            parameters["cursor"] = next
        }
        return items
    }
}

/// The alphabet of ids, as numbers.
enum Base32Letters {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// The letters that contain the 48 bits of a message's time, and two more bits.
    private static let timeLetters = 10

    static func contains(_ letter: UInt8) -> Bool { alphabet.contains(letter) }

    /// The range of times of messages whose ids begin with these letters.
    static func milliseconds(of letters: Substring.UTF8View) -> (since: Int64, until: Int64) {
        var number: Int64 = 0
        var rest = letters[...]
        var unknown: Int64 = 1
        for _ in 0..<timeLetters {
            let digit = rest.popFirst().flatMap { alphabet.firstIndex(of: $0) }
            if digit == nil { unknown *= 32 }
            number = number * 32 + Int64(digit ?? 0)
        }
        return (number >> 2, (number + unknown - 1) >> 2)
    }
}
