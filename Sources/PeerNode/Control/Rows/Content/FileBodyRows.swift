import WorkspaceModel

/// Methods that transfer files over the connection itself: as HTTP bodies, or after a line.
enum FileBodyMethods {
    /// In the order of the documentation.
    static let all: [Command] = [fileRead, filePut]

    /// The method that hands a file in.
    static let putName = "blob.put"

    /// The first byte that is read.
    static let offset = Parameter.integer(
        "offset", "The first byte, from 0. A negative number counts from the end.",
        -Limits.filePositionMax...Limits.filePositionMax
    ).defaulting(to: 0)
    /// How many are.
    static let length = Parameter.integer(
        "length", "At most this many bytes. Without it, all up to the end.",
        1...Limits.filePositionMax
    ).optional()

    /// How long a call waits for a file that nobody sends.
    static let timeout = Parameter.duration(
        "timeout_ms",
        "How long to wait while nobody sends the file. Without it, until no device that is connected "
            + "has it.", 0...600_000
    ).optional().flag("timeout")

    static func patience(_ call: CommandCall) -> UInt64? {
        call[timeout].map { UInt64(clamping: $0) }
    }

    private static let fileRead = {
        let file = Parameter.identifier("blob", "Which file.", prefix: "b_")
        return Command(
            "blob.read",
            """
            Read bytes of a file: they follow the line of the answer. Its 'bytes' says how many. Over \
            HTTP: 'GET /files/BLOB'. Parts that are not here are fetched first, if they are needed.
            """,
            parameters: [file, offset, length, timeout], result: "blob", shape: .fileBody,
            effect: .writesBeside, scope: .node,
            failures: [.badRequest, .notFound, .blobMissing, .storageFull, .busy],
            example: ["blob": "b_01hx9t4c"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.files.readFile(
                    ReadRequest(
                        file: call[file], offset: call[offset], length: call[length],
                        patience: patience(call)), call.scope)
            })
    }()

    private static let filePut = {
        let name = Parameter.text("name", "The name of the file.", bytes: 1...255)
            .defaulting(to: "file")
        let bytes = Parameter.integer(
            "bytes", "The size of the file.", 0...Limits.filePositionMax)
        return Command(
            putName,
            """
            Add a file: its bytes follow the line of the request. Its 'bytes' says how many. Over HTTP: \
            'PUT /files?name=NAME'. As after 'blob.add', 'message.send' then takes its id.
            """,
            parameters: [bytes, name], result: "blob", shape: .fileBody, effect: .writes,
            scope: .node, failures: [.badRequest, .tooLarge, .storageFull, .busy],
            example: ["bytes": 3, "name": "plan.pdf"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.files.putFile(
                    PutRequest(
                        name: call[name], byteCount: call[bytes], content: call.context.file),
                    call.scope)
            })
    }()
}
