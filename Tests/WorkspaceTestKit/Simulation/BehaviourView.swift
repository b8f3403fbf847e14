import CRDTStore

/// A derived table as rows that are comparable between two stores: documents, operations, grants
/// and logs are represented by their names, not by a store's numbers.
struct BehaviourView {
    let name: String
    /// Expressions over the row `t`; they order the rows, and together are all that the row says.
    private let columns: [String]

    private init(_ name: String, _ columns: [String]) {
        self.name = name
        self.columns = columns
    }

    /// Lends every row as one line, in the order of the lines.
    func forEachRow(
        of store: NodeStore, _ body: ([UInt8]) -> Void
    ) throws(StorageError) {
        let line = columns.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
        try store.connection.statement("SELECT \(line) FROM \(name) AS t ORDER BY 1")
            .forEachRow { (row) throws(StorageError) in body(Array(try row.text(0).utf8)) }
    }

    private static func document(_ number: String) -> String {
        "(SELECT id FROM document WHERE document.did = t.\(number))"
    }

    private static func operation(_ arrival: String) -> String {
        "(SELECT id FROM operation WHERE operation.arr = t.\(arrival))"
    }

    private static func log(_ number: String) -> [String] {
        ["device", "inc", "fork"].map {
            "(SELECT \($0) FROM log WHERE log.lid = t.\(number))"
        }
    }

    private static let grant = "(SELECT id FROM grant_name WHERE grant_name.gid = t.gid)"
    private static let workspace = document("workspace")

    static let all = logs + contents + ownWords + reading

    private static let logs = [
        BehaviourView("document", ["t.id", workspace, "t.kind"]),
        BehaviourView(
            "log",
            [
                document("did"), "t.device", "t.inc", "t.fork", "t.tip_seq", "t.tip_id",
                "t.tip_hlc", "t.tip_sort", "t.kept_seq", "t.kept_id",
            ]),
        BehaviourView("grant_span", log("lid") + ["t.first", grant, "t.valid"]),
        BehaviourView("citation", log("lid") + ["t.seq"] + log("by_lid") + ["t.by_seq"]),
        BehaviourView("evidence", log("lid") + ["t.seq", "t.found"]),
        BehaviourView("absent", [operation("arr"), "t.plen", "t.phash", "t.missing"]),
    ]

    private static let contents = [
        BehaviourView(
            "message",
            [
                document("did"), "t.sort", operation("arr"), "t.key_hlc", "t.key_id", grant,
                "t.thread_hlc", "t.thread_id", "t.hidden", "t.mention",
            ]),
        BehaviourView(
            "annotation",
            [
                document("did"), "t.key_hlc", "t.key_id", "t.kind", "t.member", "t.tag", "t.id",
                "t.hlc", "t.flags", "t.hidden", "t.covered",
            ]),
        BehaviourView(
            "annotation_past", [document("did"), "t.key_hlc", "t.key_id", "t.id", "t.cited"]),
        BehaviourView(
            "redaction", [document("did"), "t.target", operation("by"), "t.undo", grant]),
        BehaviourView("redacted", [operation("arr"), document("did"), operation("by"), "t.due"]),
    ]

    private static let ownWords = [
        BehaviourView(
            "following",
            [
                document("did"), "t.member", "t.joined", "t.id", "t.hlc", "t.own", "t.hidden",
                "t.covered",
            ]),
        BehaviourView("following_past", [document("did"), "t.member", "t.id", "t.cited"]),
        BehaviourView(
            "subscription", [document("did"), "t.member", "t.joined", operation("arr")]),
        BehaviourView("unheard", [operation("arr"), "t.due", "t.names"]),
        BehaviourView(
            "self_register",
            [workspace, "t.kind", "t.subject", "t.hlc", "t.id", "t.key_hlc", "t.key_id"]),
        BehaviourView(
            "setting",
            [
                workspace, "t.kind", "t.subject", "t.document", "t.id", "t.hlc", "t.hidden",
                "t.covered",
            ]),
        BehaviourView(
            "setting_past",
            [workspace, "t.kind", "t.subject", "t.document", "t.id", "t.cited"]),
    ]

    private static let reading = [
        BehaviourView("read_frontier", [workspace, "t.subject", "t.log", "t.count"]),
        BehaviourView("late", [document("did"), "t.sort", operation("arr"), "t.log", "t.seq"]),
        BehaviourView("late_basis", [document("did"), "t.hlc", "t.subject"]),
    ]
}
