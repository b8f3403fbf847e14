/// The sentences of the failures that more than one place makes.
extension NodeError {
    /// Bytes that are no JSON.
    public static func badJSON(_ error: JSONError) -> Self {
        Self(
            .parseError, "byte \(error.offset): \(error.reason.rawValue)",
            hint: "send one JSON object per line, in UTF-8", reason: "control.bad_json")
    }

    /// JSON that is no request.
    public static func invalidRequest(_ what: String) -> Self {
        Self(
            .invalidRequest, what,
            hint: "send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"node.version\"}",
            reason: "control.bad_request")
    }

    /// A method or command that this build does not have.
    public static func unknownCommand(_ name: String, similar: String?) -> Self {
        Self(
            .unknownOperation, "there is no method \(quoted(name))",
            hint: similar.map { "did you mean '\($0)'?" } ?? "list them with 'wsx-node rpc --list'",
            reason: "control.unknown_op")
    }

    /// A line longer than `Limits.controlLineBytesMax`.
    public static var lineTooLong: Self {
        Self(
            .tooLarge, "a line is longer than \(Limits.controlLineBytesMax) bytes",
            hint: "send it in parts", reason: "control.too_long")
    }

    /// A text of a note that is longer than notes are.
    public static var noteTooLarge: Self {
        Self(
            .tooLarge, "a note holds at most 16 MiB of text", hint: "split it into several notes",
            reason: "note.size")
    }

    /// A place in a message at which it has no file.
    ///
    /// - Parameter count: how many it has.
    public static func noFile(in message: String, count: Int) -> Self {
        let what =
            switch count {
            case 0: "the message has no files"
            case 1: "the message has only one file"
            default: "the message has only \(count) files"
            }
        return Self(
            .notFound, what, hint: "wsx-node message show \(message)", reason: "file.not_found",
            fields: [Field(name: "index", reason: "not_found")])
    }

    /// More files than a message may have in a workspace.
    ///
    /// - Parameter most: how many it may have.
    public static func tooManyFiles(most: Int) -> Self {
        Self(
            .tooLarge, "a message has at most \(most) \(most == 1 ? "file" : "files") here",
            hint: "send the others in another message, or: wsx-node policy set attachments "
                + "\(Limits.filesPerMessageMax)",
            reason: "file.too_many")
    }

    /// The text of a message that is longer than messages are.
    ///
    /// - Parameter isMore: whether it is even longer than `bytes`, and nobody has counted on.
    public static func textTooLarge(
        _ field: String, bytes: Int, bytesMax: Int, isMore: Bool = false
    ) -> Self {
        Self(
            .tooLarge,
            "'\(field)' is too long: \(isMore ? "more than " : "")\(bytes) bytes, "
                + "at most \(bytesMax) allowed",
            hint: "send it in parts", reason: "text.too_long",
            fields: [Field(name: field, reason: "too_long")],
            details: ["bytes": .integer(Int64(bytes)), "bytes_max": .integer(Int64(bytesMax))])
    }

    /// An answer that does not fit into a line.
    public static var answerTooLong: Self {
        Self(
            .tooLarge, "the answer is longer than \(Limits.controlLineBytesMax) bytes",
            hint: "ask for less with 'limit'", reason: "control.too_long")
    }

    /// So much was answered that was not read that a long answer is not kept besides.
    public static var unreadAnswers: Self {
        Self(
            .slowReader, "too many unread answers are waiting",
            hint: "read the answers, then ask again", reason: "control.unread")
    }

    /// A connection more than `Limits.controlClientsMax`.
    public static var tooManyClients: Self {
        Self(
            .busy, "\(Limits.controlClientsMax) connections are open already",
            hint: "close one and try again", reason: "control.busy")
    }

    /// A method whose file goes over the connection itself, where there is no place for one.
    public static var carriesFile: Self {
        Self(
            .unsupported, "this method carries a file, and there is no place for one here",
            hint: "call it on a line of the socket, or by GET /files/BLOB or PUT /files?name=NAME",
            reason: "control.carries_file")
    }

    /// A request was begun and not finished within `Limits.controlRequestMilliseconds`.
    public static var requestTooSlow: Self {
        Self(
            .timeout,
            "a request was started and not finished within "
                + "\(Limits.controlRequestMilliseconds / 1_000) s",
            hint: "send it in one go", reason: "control.request_timeout")
    }

    /// Nothing has the name or the id that was given for `field`.
    public static func notFound(
        _ what: String, _ name: String, field: String? = nil, hint: String? = nil
    ) -> Self {
        Self(
            .notFound, "there is no \(what) \(quoted(name))", hint: hint,
            reason: what + ".not_found",
            fields: field.map { [Field(name: $0, reason: "not_found")] } ?? [])
    }

    /// Nobody is called that, or has that id.
    ///
    /// - Parameter field: the parameter that named them.
    public static func unknownUser(_ name: String, field: String, hint: String? = nil) -> Self {
        Self(
            .unknownUser, "nobody here is called \(quoted(name))",
            hint: hint ?? "wsx-node member list", reason: "member.not_found",
            fields: [Field(name: field, reason: "not_found")])
    }

    /// No workspace is selected, and none was named.
    public static var noWorkspace: Self {
        Self(
            .notFound, "no workspace is selected", hint: "wsx-node up --workspace NAME",
            reason: "workspace.none")
    }

    /// The home has no identity yet.
    public static var noIdentity: Self {
        Self(
            .notFound, "this home has no identity yet",
            hint: "wsx-node identity create --name NAME", reason: "identity.none")
    }

    /// Several things have the name that was given for `field`.
    ///
    /// - Parameters:
    ///   - candidates: all of them, each with its `id`.
    ///   - most: how many of them are named; all are counted.
    public static func ambiguous(
        _ name: String, candidates: [JSONValue], naming most: Int = .max, field: String
    ) -> Self {
        let arePeople = candidates.allSatisfy { candidate in
            candidate["id"]?.stringValue?.utf8.starts(with: "u_".utf8) == true
        }
        // A part of a name can be written out. Of two with the same name each is meant by the id alone.
        let names = candidates.compactMap { $0["name"]?.stringValue.flatMap(NameFolding.key(of:)) }
        let isWholeEnough = names.count == candidates.count && Set(names).count == names.count
        let wayToName =
            isWholeEnough
            ? "give the full name of one, or the id"
            : "give the id; 'wsx-node why ID' says who let each in"
        return Self(
            .ambiguous,
            "\(quoted(name)) could be any of \(candidates.count) "
                + (arePeople ? "people" : "things"),
            hint: arePeople ? wayToName : "give the id",
            reason: "name.ambiguous", fields: [Field(name: field, reason: "ambiguous")],
            details: ["candidates": .array(Array(candidates.prefix(most)))])
    }

    /// Another process holds the home.
    public static func homeInUse(pid: Int32?) -> Self {
        Self(
            .inUse,
            "wsx-node is already running for this home" + (pid.map { " (process \($0))" } ?? ""),
            hint: "wsx-node down", reason: "store.locked",
            details: ["pid": JSONValue(orNull: pid.map(Int64.init))])
    }

    /// A position of an events reader that the table no longer knows.
    public static func cursorExpired(oldest: String) -> Self {
        Self(
            .cursorExpired, "the events after this cursor are gone",
            hint: "continue from data.oldest and read the state again",
            reason: "events.cursor_expired",
            details: ["oldest": .string(oldest)])
    }

    /// The caller may not do this; `reason` names the rule.
    public static func forbidden(_ message: String, reason: String, hint: String? = nil) -> Self {
        Self(.forbidden, message, hint: hint, reason: reason)
    }

    /// The daemon is going down.
    public static var stopping: Self {
        Self(.stopping, "wsx-node is stopping", hint: "wsx-node up", reason: "node.stopping")
    }

    /// Something that cannot be, told without what it was about.
    public static func internalFailure(reason: String) -> Self {
        Self(
            .internal, "wsx-node had an internal error",
            hint: "read daemon.log in the home of this node and report what it says",
            reason: reason)
    }

    /// Nobody listens on the control socket. Made by the command line.
    public static func notRunning(socket: String) -> Self {
        Self(
            .notRunning, "wsx-node is not running (socket \(quotedPath(socket)))",
            hint: "wsx-node up", reason: "control.no_daemon")
    }

    /// A call line that cannot be understood. Made by the command line.
    public static func usage(_ message: String, hint: String? = nil) -> Self {
        Self(.badRequest, message, hint: hint, reason: "usage")
    }

    /// Settings that cannot be used, with the line where it stands.
    public static func badConfiguration(_ message: String, line: Int? = nil, hint: String? = nil)
        -> Self
    {
        Self(
            .badConfiguration, line.map { "line \($0): \(message)" } ?? message, hint: hint,
            reason: "config.invalid", details: ["line": JSONValue(orNull: line.map(Int64.init))])
    }

    /// A path in quotes: like `quoted(_:)`, cut after 200 scalars, since people need all of it.
    public static func quotedPath(_ path: String) -> String {
        var text = "'"
        for scalar in path.unicodeScalars.prefix(200) {
            if scalar.properties.generalCategory == .control {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text + "'"
    }

    /// `word` as a shell reads it back as one word: a hint is copied, and names in it are anybody's.
    /// Control characters are the reader's to show.
    public static func shellWord(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+:@%,".utf8.contains(byte)
            }
        }
        if isPlain, !word.isEmpty { return word }
        var made = "'"
        for scalar in word.unicodeScalars {
            if scalar == "'" { made += "'\\''" } else { made.unicodeScalars.append(scalar) }
        }
        return made + "'"
    }
}
