import PeerNode
import WorkspaceModel

/// File commands: attaching files to a message, fetching and saving them.
struct FileMoving: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// The result of adding a message's files.
    struct AddedFiles {
        /// The ids for the message.
        var ids: [JSONValue] = []
        /// Whether some were left out; the reason was shown already.
        var isPartial = false
        /// Bytes of the files embedded in the message.
        var inlineBytes: Int64 = 0
    }

    /// The size up to which a file is embedded, and the limit for all of them.
    private static let inlineMax = Int64(Limits.inlineFileBytesMax)
    private static let inlineInAllMax = Int64(Limits.inlineFileBytesInAllMax)
    /// This many files are allowed in every message, whatever the policy says.
    private static let filesUsual = Limits.filesPerMessageUsual

    /// Adds files to the daemon. Duplicates and files that are too large are left
    /// out, with a warning.
    ///
    /// - Parameter isNeeded: whether the message is empty without a file.
    /// - Throws: why the only file cannot be sent, or if there are too many files.
    func added(
        _ files: [String], isNeeded: Bool, _ client: inout ControlClient
    ) throws(NodeError) -> AddedFiles {
        var added = AddedFiles()
        var paths: Set<String> = []
        var wanted: [String] = []
        for path in files {
            if path == "-" || paths.insert(io.absolutePath(path)).inserted {
                wanted.append(path)
            } else {
                added.isPartial = true
                io.tell("\(sanitised(path)) was given twice; sent once\n")
            }
        }
        try checkCount(wanted.count, &client)
        var first: NodeError?
        for path in wanted {
            do throws(NodeError) {
                let file = try add(path, &client, besides: added.inlineBytes)
                added.ids.append(file["id"] ?? .null)
                let size = file["size"]?.integerValue ?? 0
                if size <= Self.inlineMax, added.inlineBytes + size <= Self.inlineInAllMax {
                    added.inlineBytes += size
                }
            } catch {
                guard error.kind == .tooLarge else { throw error }
                first = first ?? error
                added.isPartial = true
                if wanted.count > 1 { io.tell("not sent: \(sanitised(error.message))\n") }
            }
        }
        if let first, added.ids.isEmpty, isNeeded || wanted.count == 1 { throw first }
        return added
    }

    /// Adds one file, as a blob if the message has no room to embed it. A small one goes with the
    /// call, so the daemon need not open it; any other, or an unreadable one, is left to the daemon.
    private func add(
        _ path: String, _ client: inout ControlClient, besides inlineBytes: Int64
    ) throws(NodeError) -> JSONValue {
        guard path != "-" else { return try handedIn() }
        let path = io.absolutePath(path)
        guard inlineBytes <= Self.inlineInAllMax - Self.inlineMax else {
            return try client.call("blob.add", ["path": .string(path), "apart": true])
        }
        guard let bytes = io.smallFile(path, limit: Int(Self.inlineMax)) else {
            return try client.call("blob.add", ["path": .string(path)])
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return try client.call(
            "blob.put", ["bytes": .integer(Int64(bytes.count)), "name": .string(name)],
            file: bytes)
    }

    /// Checks the number of files before any is read.
    private func checkCount(_ count: Int, _ client: inout ControlClient) throws(NodeError) {
        guard count > Self.filesUsual else { return }
        let given: JSONObject = workspace.map { ["workspace": .string($0)] } ?? [:]
        let most = try client.call("policy.get", given)["attachments"]?.integerValue
        guard let most, count > most else { return }
        throw .tooManyFiles(most: Int(clamping: most))
    }

    /// Warns of files that the daemon left out.
    func tellRefused(_ message: JSONValue) {
        for file in message["refused"]?.arrayValue ?? [] {
            let name = sanitised(file["name"]?.stringValue ?? "")
            io.tell(
                file["reason"] == .string(KnownReason.fileTwice.rawValue)
                    ? "\(name) is in the message twice; it is sent once\n"
                    : "not sent: \(name) is larger than files may be\n")
        }
    }

    /// Makes the daemon read the pictures that a command names by path.
    func addPictures(
        to values: inout JSONObject, of command: Command
    ) throws(NodeError) {
        for parameter in command.parameters {
            guard let target = parameter.pictureTarget,
                let text = values[parameter.name]?.stringValue, !text.isEmpty,
                !text.hasPrefix("preset:"), !isBlobID(text)
            else { continue }
            guard target == parameter.name || values[target] == nil else { continue }
            var client = try client()
            let file = try client.call(
                "blob.add", ["path": .string(io.absolutePath(text)), "picture": true])
            values[parameter.name] = nil
            values[target] = file["id"]
        }
    }

    /// Whether a word is the id of a file and not a path: `./b_…` is a path.
    private func isBlobID(_ text: String) -> Bool {
        text.hasPrefix("b_")
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
            }
    }

    /// Refuses two uses of standard input, and a file name for something that has one.
    func checkInput() throws(NodeError) {
        let files = scan.values["file"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let count = files.count { $0 == "-" } + (scan.values["text"]?.stringValue == "-" ? 1 : 0)
        guard count < 2 else {
            throw .usage(
                "there is only one standard input",
                hint: "give '-' once, and the others by their paths")
        }
        guard scan.values["name"] == nil || files.contains("-") else {
            throw Self.nameWithoutInput(hint: "--file -")
        }
    }

    private static func nameWithoutInput(hint: String) -> NodeError {
        .usage("'--name' is for a file from standard input", hint: hint)
    }

    /// A connection for the bytes of one file.
    private func carrier() throws(NodeError) -> FileCarrier {
        FileCarrier(
            try io.connect(try paths().socket), timeoutMilliseconds: answerMilliseconds)
    }

    /// Uploads standard input as a file, and returns the daemon's answer.
    private func handedIn() throws(NodeError) -> JSONValue {
        if io.isInputTerminal { io.tell("Ctrl-D on a line of its own ends the file.\n") }
        let folder = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/var/tmp"
        let source = try io.inputFile(folder: folder)
        var carrier = try carrier()
        return try carrier.put(source, name: scan.values["name"]?.stringValue ?? "file")
    }

    /// `file put`: uploads a file, and prints the id for use in a message.
    func addFile(_ command: Command) throws(NodeError) -> Int32 {
        let path = scan.values["path"]?.stringValue
        guard path == "-" || scan.values["name"] == nil else {
            throw Self.nameWithoutInput(hint: "file put -")
        }
        var session = self
        session.scan.values["path"] = path.map { .string(io.absolutePath($0)) }
        let parameters = try session.parameters(for: command)
        let file: JSONValue
        if path == "-" {
            file = try handedIn()
        } else {
            var client = try client()
            file = try client.call(command.name, parameters)
        }
        guard !globals.json else {
            show(rendering.text(file, of: command.name))
            return 0
        }
        io.print(sanitised(file["id"]?.stringValue ?? "") + "\n")
        return 0
    }

    /// `saveFile` with the path `-`: the file goes to standard output.
    func printFile(_ command: Command) throws(NodeError) -> Int32 {
        guard !io.isOutputTerminal else {
            throw .usage("a file is not printed on a terminal", hint: "redirect it: … > FILE")
        }
        var session = self
        // The method requires a folder, though none is used.
        session.scan.values["folder"] = "/"
        let parameters = try session.parameters(for: command)
        var client = try client()
        let blob = try blob(parameters, &client)
        let limit = parameters["timeout_ms"]?.integerValue
        let isHere = try fetch(blob, for: limit, &client)
        var carrier = try carrier()
        try carrier.get(blob.stringValue ?? "", isAwaited: isHere) { io.printBytes($0) }
        return 0
    }

    /// `file get` and `attachment save`: fetches, showing progress, then saves.
    func saveFile(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        let place = place(scan.values["path"]?.stringValue)
        var folder = io.absolutePath(scan.values["folder"]?.stringValue ?? place.folder)
        for end in ["/.", "/"] where folder.utf8.count > end.utf8.count && folder.hasSuffix(end) {
            folder.removeLast(end.utf8.count)
        }
        session.scan.values["folder"] = .string(folder)
        if scan.values["name"] == nil {
            session.scan.values["name"] = place.name.map { .string($0) }
        }
        var parameters = try session.parameters(for: command)
        var client = try client()
        let limit = parameters["timeout_ms"]?.integerValue
        if try !fetch(try blob(parameters, &client), for: limit, &client) {
            // The wait is over. The daemon explains what is missing.
            parameters["timeout_ms"] = 0
        }
        return try callAndPrint(command, parameters)
    }

    /// The target of a path: an existing folder, or a new file in one.
    private func place(_ path: String?) -> (folder: String, name: String?) {
        guard let path, !path.isEmpty else { return (".", nil) }
        // Only a folder has entries.
        if path.utf8.last == UInt8(ascii: "/") || io.exists(path + "/.") { return (path, nil) }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    /// The id of a command's file.
    ///
    /// - Throws: `not_found` if the message does not exist, or has no file at that place.
    private func blob(
        _ parameters: JSONObject, _ client: inout ControlClient
    ) throws(NodeError) -> JSONValue {
        if let blob = parameters["blob"] { return blob }
        let id = parameters["message"]?.stringValue ?? ""
        var given: JSONObject = ["ids": [.string(id)]]
        given["workspace"] = parameters["workspace"]
        guard let message = try client.call("message.get", given)["items"]?[0] else {
            throw .notFound("message", id, field: "message", hint: "wsx-node log CHANNEL")
        }
        let index = Int(clamping: parameters["index"]?.integerValue ?? 1) - 1
        let files = message["attachments"]?.arrayValue ?? []
        guard files.indices.contains(index), let blob = files[index]["blob"] else {
            throw .noFile(in: id, count: files.count)
        }
        return blob
    }
}
