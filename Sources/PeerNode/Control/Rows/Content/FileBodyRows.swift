import WorkspaceModel

/// Methods whose files go over the connection itself: over HTTP as bodies, else behind a line.
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

    static func patience(_ given: Arguments) -> UInt64? {
        given[timeout].map { UInt64(clamping: $0) }
    }

    private static let fileRead = {
        let file = Parameter.identifier("blob", "Which file.", prefix: "b_")
        return Command(
            "blob.read",
            """
            Read bytes of a file: they follow the line of the answer. Its 'bytes' says how many. Over \
            HTTP: 'GET /files/BLOB'. Parts that are not here are fetched first, if they are needed.
            """,
            parameters: [
                file.definition, offset.definition, length.definition, timeout.definition,
            ],
            result: "blob", shape: .fileBody, effect: .writesBeside, scope: .node,
            failures: [.badRequest, .notFound, .blobMissing, .storageFull, .busy],
            example: ["blob": "b_01hx9t4c"],
            run: { (context, given) throws(NodeError) in
                try context.node.files.readFile(
                    ReadRequest(
                        file: given[file], offset: given[offset], length: given[length],
                        patience: patience(given)), context.scope(given))
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
            parameters: [bytes.definition, name.definition],
            result: "blob", shape: .fileBody, effect: .writes, scope: .node,
            failures: [.badRequest, .tooLarge, .storageFull, .busy],
            example: ["bytes": 3, "name": "plan.pdf"],
            run: { (context, given) throws(NodeError) in
                try context.node.files.putFile(
                    PutRequest(name: given[name], byteCount: given[bytes]), context.scope(given))
            })
    }()
}
