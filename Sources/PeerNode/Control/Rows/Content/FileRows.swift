import WorkspaceModel

/// Files in messages.
enum FileMethods {
    /// In the order of the documentation.
    static let all: [Command] =
        [
            fileAdd, fileList, fileShow, fileFetch, fileGet, attachmentSave, fileHolders, fileKeep,
            fileDrop, fileVerify,
        ] + FileBodyMethods.all

    /// Files of a message to send.
    static let attachments = Parameter<[String]>.list(
        of: Parameter.identifier(
            "attachments", "Files to send with it: ids from 'blob.add'.", prefix: "b_"),
        count: 0...Limits.filesPerMessageMax
    ).defaulting(to: [])
    /// The same on the command line, which takes paths.
    static let file = Parameter<[String]>.list(
        of: Parameter.text(
            "file", "A file to send with it, '-' for standard input; can be repeated.",
            bytes: 1...4_096),
        count: 0...Limits.filesPerMessageMax
    ).defaulting(to: []).local()
    /// The name of a file that the command line reads from standard input.
    static let inputName = Parameter.text(
        "name", "The name for a file from standard input.", bytes: 1...255
    ).optional().local()

    private static let fileID = Parameter.identifier("blob", "Which file.", prefix: "b_")
    private static let folder = Parameter.text(
        "folder", "The folder to save into. On the socket, an absolute path.", bytes: 1...4_096)
    private static let target = folder.optional()
    /// The method that saves a file, or without a folder reads it.
    static let readOrSave = "blob.get"
    private static let fileName = Parameter.text(
        "name", "The name to save it under; it must not exist yet.", bytes: 1...255
    ).optional()
    private static let path = Parameter.text(
        "path",
        "A new file, a folder, or '-' for standard output. Without it, the folder you are in.",
        bytes: 1...4_096
    ).called("file").optional().local()
    private static let output = path.flag("output").short("o")

    private static let fileAdd = {
        let file = Parameter.text(
            "path", "The file. On the socket, an absolute path.", bytes: 1...4_096
        ).called("file")
        let apart = Parameter.flag(
            "apart",
            "Keep it beside its message, even if it is small: a message has room for 64 KiB.")
        let picture = Parameter.flag(
            "picture",
            "Add it as a picture of you, a workspace or a channel: PNG, JPEG, GIF or WebP, 1 MiB.")
        return Command(
            "blob.add",
            line: CommandLineForm(
                "file put", ["path"],
                examples: ["file put plan.pdf", "file put - --name plan.pdf < plan.pdf"],
                flow: .addFile),
            """
            Add a file, so that 'message.send' takes its id in 'attachments'. It is forgotten after \
            a day, or at a restart, if no message has it by then.
            """,
            parameters: [file, inputName, apart, picture], result: "blob", shape: .file,
            effect: .writes, scope: .node,
            failures: [.badRequest, .notFound, .conflict, .tooLarge, .storageFull, .busy],
            example: ["path": "/home/mina/plan.pdf"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.files.addFile(
                    call[file],
                    as: call[picture] ? .picture : call[apart] ? .besideMessage : .message,
                    call.scope)
            })
    }()

    private static let fileList = {
        let channel = Parameter.channel(
            "channel", "Only files in this channel, the newest first."
        ).optional()
        return Command(
            "blob.list",
            line: CommandLineForm(
                "file list", ["channel"], examples: ["file list", "file list general"]),
            "List the files in messages.",
            parameters: [channel, Command.limit, Command.cursor], result: "list of blob",
            shape: .files, emptiness: "no files", effect: .reads, scope: .workspace,
            failures: [.notFound, .ambiguous], example: ["channel": "general"],
            run: .answer { (call) throws(NodeError) in
                try call.node.files.files(of: call[channel], call.page, call.scope)
            })
    }()

    private static let fileShow = Command(
        "blob.stat",
        line: CommandLineForm(
            "file show", ["blob"], examples: ["file show b_01hx9t4c"], flow: .askHolders),
        "Show a file, and how much of it is here. The command line first asks connected devices "
            + "whether they have it.",
        parameters: [fileID], result: "blob", shape: .file, effect: .reads, scope: .node,
        failures: [.notFound], example: ["blob": .string(exampleID)],
        run: .answer { (call) throws(NodeError) in try call.node.files.file(call[fileID]) })

    private static let fileFetch = Command(
        "blob.fetch",
        line: CommandLineForm("file fetch", ["blob"], examples: ["file fetch b_01hx9t4c"]),
        """
        Fetch a file from the devices that have it. It continues by itself, even after a restart.
        """,
        parameters: [fileID], result: "blob", shape: .file, effect: .writes, scope: .node,
        failures: [.notFound, .storageFull], example: ["blob": .string(exampleID)],
        run: .answer { (call) throws(NodeError) in try call.node.files.fetchFile(call[fileID]) })

    private static let fileGet = Command(
        readOrSave,
        line: CommandLineForm(
            "file get", ["blob"],
            examples: [
                "file get b_01hx9t4c", "file get b_01hx9t4c -o plan.pdf",
                "file get b_01hx9t4c -o - | less",
            ], flow: .saveFile),
        """
        Save a file to a folder. It is fetched first, and never replaces another file. On the socket, \
        without a folder, its bytes follow the answer, as with 'blob.read'.
        """,
        parameters: [
            fileID, output, target, fileName, FileBodyMethods.offset, FileBodyMethods.length,
            FileBodyMethods.timeout,
        ],
        result: "saved file", shape: .savedFile, effect: .writes, scope: .node,
        failures: [.badRequest, .notFound, .blobMissing, .duplicate, .storageFull, .busy],
        example: ["blob": .string(exampleID), "folder": "/home/mina"],
        run: .outcome { (call) throws(NodeError) in
            let (offset, length) = (call[FileBodyMethods.offset], call[FileBodyMethods.length])
            let patience = FileBodyMethods.patience(call)
            guard let folder = call[target] else {
                return try call.node.files.readFile(
                    ReadRequest(
                        file: call[fileID], offset: offset, length: length, patience: patience),
                    call.scope)
            }
            guard offset == 0, length == nil else {
                throw NodeError(
                    .badRequest, "a file is saved as a whole",
                    hint: "leave out 'offset' and 'length'", reason: ReadRequest.badRange,
                    fields: [.init(name: length == nil ? "offset" : "length", reason: "form")])
            }
            return try call.node.files.saveFile(
                SaveRequest(
                    file: .blob(call[fileID]), folder: folder, name: call[fileName],
                    patience: patience), call.scope)
        })

    private static let attachmentSave = {
        let message = Parameter.identifier("message", "Which message.", prefix: "m_")
        let index = Parameter.integer("index", "Which of its files, from 1.", 1...20)
            .defaulting(to: 1)
        return Command(
            "attachment.save",
            line: CommandLineForm(
                "attachment save", ["message", "path"],
                examples: [
                    "attachment save last --in general", "attachment save m_01hx9t4c plan.pdf",
                ], flow: .saveFile),
            "Save a file from a message. It is fetched first, and never replaces another file.",
            parameters: [
                message, path, index, Command.inChannel, folder, fileName, FileBodyMethods.timeout,
            ],
            result: "saved file", shape: .savedFile, effect: .writes, scope: .conversation,
            failures: [.notFound, .ambiguous, .blobMissing, .duplicate, .storageFull, .busy],
            example: ["message": "m_01hx9t4c", "folder": "/home/mina"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.files.saveFile(
                    SaveRequest(
                        file: .attachment(
                            message: call[message], index: Int(clamping: call[index])),
                        folder: call[folder], name: call[fileName],
                        patience: FileBodyMethods.patience(call)), call.scope)
            })
    }()

    private static let fileHolders = Command(
        "blob.holders",
        line: CommandLineForm("file who", ["blob"], examples: ["file who b_01hx9t4c"]),
        "List the devices that have a file, all of it or a part. Those that are connected are asked now; "
            + "of others it is what they said last.",
        parameters: [fileID], result: "list of file holder", shape: .fileHolders,
        emptiness: "no device is known to have it", effect: .reads, scope: .node,
        failures: [.notFound, .unsupported], example: ["blob": .string(exampleID)],
        run: .outcome { (call) throws(NodeError) in
            try call.node.files.fileHolders(call[fileID], call.scope)
        })

    private static let fileKeep = {
        let off = Parameter.flag("off", "Let it be removed again when space is needed.")
        return Command(
            "blob.keep",
            line: CommandLineForm("file keep", ["blob"], examples: ["file keep b_01hx9t4c"]),
            "Fetch a file and keep it on this device, even if others have it.",
            parameters: [fileID, off], result: "blob", shape: .file, effect: .writes, scope: .node,
            failures: [.notFound, .unsupported, .storageFull],
            example: ["blob": .string(exampleID)],
            run: .answer { (call) throws(NodeError) in
                try call.node.files.keepFile(call[fileID], isOn: !call[off])
            })
    }()

    private static let fileDrop = {
        let force = Parameter.flag(
            "force", "Even if it was added on this device, or is the only known copy.")
        return Command(
            "blob.drop",
            line: CommandLineForm(
                "file drop", ["blob"], examples: ["file drop b_01hx9t4c"], flow: .askHolders),
            "Remove a file from this device. Messages still show it. The command line first asks "
                + "connected devices whether they have it.",
            parameters: [fileID, force], result: "blob", shape: .file, effect: .writes,
            scope: .node, failures: [.notFound, .unsupported, .forbidden],
            example: ["blob": .string(exampleID)],
            run: .answer { (call) throws(NodeError) in
                try call.node.files.dropFile(call[fileID], isForced: call[force])
            })
    }()

    private static let fileVerify = Command(
        "blob.verify",
        line: CommandLineForm("file verify", ["blob"], examples: ["file verify b_01hx9t4c"]),
        "Check a file on this device. Damaged parts are fetched again.",
        parameters: [fileID], result: "blob", shape: .file, effect: .writes, scope: .node,
        failures: [.notFound, .unsupported, .blobMissing, .busy],
        example: ["blob": .string(exampleID)],
        run: .outcome { (call) throws(NodeError) in
            try call.node.files.verifyFile(call[fileID], call.scope)
        })

    private static let exampleID = "b_01hx9t4c"
}
