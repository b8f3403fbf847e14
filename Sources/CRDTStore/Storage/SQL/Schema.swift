/// The tables of node.db, and what each column means.
///
/// No names or texts are stored in plain: payloads are stored as signed, sealed; everything else is
/// ids, numbers and references. No index covers an operation's hash, because random keys slow down
/// ingest by a multiple: an operation is found by (log, seq).
public enum Schema {
    /// The schema this program reads and writes. A store with another number is refused.
    public static let version: Int32 = 16

    /// The view: for each kind (ViewStore.Register.Kind) and subject (16 bytes; for a setting a
    /// keyed hash of its name) of our own documents, the operation that counts. key_*: how far was
    /// read; for a star the message, and for a reminder when it is due (ms) and 0.
    private static let registers = """
        CREATE TABLE self_register(workspace INTEGER NOT NULL, kind INTEGER NOT NULL,
            subject BLOB NOT NULL, hlc INTEGER NOT NULL, id BLOB NOT NULL, arr INTEGER NOT NULL,
            key_hlc INTEGER, key_id INTEGER, PRIMARY KEY(workspace, kind, subject)) WITHOUT ROWID
        """

    /// The view: every operation of our own documents except read markers, of which `self_register`
    /// has the one that counts. document: its id. hlc, hidden, covered: as in `annotation`.
    private static let settings = [
        """
        CREATE TABLE setting(workspace INTEGER NOT NULL, kind INTEGER NOT NULL,
            subject BLOB NOT NULL, document BLOB NOT NULL, id BLOB NOT NULL, hlc INTEGER NOT NULL,
            arr INTEGER NOT NULL, hidden INTEGER NOT NULL, covered INTEGER NOT NULL,
            PRIMARY KEY(workspace, kind, subject, document, id)) WITHOUT ROWID
        """,
        """
        CREATE INDEX setting_head ON setting(workspace, kind, subject, hlc, id, document, arr)
            WHERE hidden = 0 AND covered = 0
        """,
        """
        CREATE TABLE setting_past(workspace INTEGER NOT NULL, kind INTEGER NOT NULL,
            subject BLOB NOT NULL, document BLOB NOT NULL, id BLOB NOT NULL, cited BLOB NOT NULL,
            PRIMARY KEY(workspace, kind, subject, document, id, cited)) WITHOUT ROWID
        """,
        """
        CREATE INDEX setting_citing
            ON setting_past(workspace, kind, subject, document, cited)
        """,
    ]

    /// The view: annotations of messages. key_*: the name of the message. kind:
    /// ViewStore.Annotation.Kind. member: the author, empty for a pin. tag: for a reaction 16 bytes
    /// of a keyed hash of its emoji. These name a register. hlc: with its highest bit flipped, so
    /// that it sorts. flags: 1 on, 2 this member is mentioned. hidden: 1 if it is not valid.
    /// covered: how many valid operations of the register cite it.
    private static let annotation = """
        CREATE TABLE annotation(did INTEGER NOT NULL, key_hlc INTEGER NOT NULL,
            key_id INTEGER NOT NULL, kind INTEGER NOT NULL, member BLOB NOT NULL,
            tag BLOB NOT NULL, id BLOB NOT NULL, hlc INTEGER NOT NULL, arr INTEGER NOT NULL,
            flags INTEGER NOT NULL, hidden INTEGER NOT NULL, covered INTEGER NOT NULL,
            PRIMARY KEY(did, key_hlc, key_id, kind, member, tag, id)) WITHOUT ROWID
        """
    private static let annotationArrival = "CREATE INDEX annotation_arrival ON annotation(arr)"

    /// The heads of registers.
    private static let annotationHead = """
        CREATE INDEX annotation_head ON annotation(did, key_hlc, key_id, kind, member, tag, hlc, id,
            arr, flags) WHERE hidden = 0 AND covered = 0
        """

    /// The heads of pins.
    private static let annotationPin = """
        CREATE INDEX annotation_pin ON annotation(did, key_hlc, key_id, hlc, id, flags)
            WHERE kind = 3 AND hidden = 0 AND covered = 0
        """

    /// The citations of an annotation.
    private static let annotationPast = """
        CREATE TABLE annotation_past(did INTEGER NOT NULL, key_hlc INTEGER NOT NULL,
            key_id INTEGER NOT NULL, id BLOB NOT NULL, cited BLOB NOT NULL,
            PRIMARY KEY(did, key_hlc, key_id, id, cited)) WITHOUT ROWID
        """
    private static let annotationCiting =
        "CREATE INDEX annotation_citing ON annotation_past(did, key_hlc, key_id, cited)"

    /// Absent payloads by arrival number: their length and hash. missing: 1 if nobody has deleted
    /// it, so that it is requested from peers. The operation's row contains zeros.
    private static let absent = [
        """
        CREATE TABLE absent(arr INTEGER PRIMARY KEY, plen INTEGER NOT NULL, phash BLOB NOT NULL,
            missing INTEGER NOT NULL)
        """,
        "CREATE INDEX absent_missing ON absent(arr) WHERE missing = 1",
    ]

    /// The view: the targets of redactions. target: the id of an operation to erase, or of a
    /// redaction to undo. by: arrival number of the redaction. undo: 1 if it withdraws one. gid:
    /// the grant that it cites.
    private static let redactions = [
        """
        CREATE TABLE redaction(did INTEGER NOT NULL, target BLOB NOT NULL, by INTEGER NOT NULL,
            undo INTEGER NOT NULL DEFAULT 0, gid INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(did, target, by)) WITHOUT ROWID
        """,
        "CREATE INDEX redaction_by ON redaction(by)", redactionGrant,

        // What is deleted, by arrival number. by: the redaction that counts. due: when the payload
        // is erased, ms; NULL once it is.
        """
        CREATE TABLE redacted(arr INTEGER PRIMARY KEY, did INTEGER NOT NULL, by INTEGER NOT NULL,
            due INTEGER)
        """,
        "CREATE INDEX redacted_due ON redacted(due) WHERE due IS NOT NULL",
        "CREATE INDEX redacted_document ON redacted(did)",
    ]

    /// The statements that a store of an older schema lacks, by its schema.
    ///
    /// Schema 8 is the first whose operations have header version 2: operations of older stores
    /// follow other rules, so those stores are refused. It has no citations.
    static let additions: [Int64: [String]] = [
        8: citations + lateBasis + unheard + citingWords + notes + newBlobs + unreadFiles
            + countingLogs,
        9: lateBasis + unheard + citingWords + notes + newBlobs + unreadFiles + countingLogs,
        10: unheard + citingWords + notes + newBlobs + unreadFiles + countingLogs,
        11: ["DROP TABLE unheard", "DELETE FROM meta WHERE name = 'following.unread'"] + unheard
            + citingWords + notes + newBlobs + unreadFiles + countingLogs,
        12: citingWords + notes + newBlobs + unreadFiles + countingLogs,
        13: notes + newBlobs + unreadFiles + countingLogs, 14: unreadFiles + countingLogs,
        15: countingLogs,
    ]

    /// From schema 16 on the rows of logs contain the counters, because nearly every COMMIT writes
    /// one of them anyway: a row of `counter` costs another page. Changed logs are known from
    /// memory, where all of them are.
    private static let countingLogs =
        ["DROP INDEX log_changed"] + logCounters.map { "ALTER TABLE log ADD COLUMN \($0)" }

    /// In the form in which `ALTER TABLE` adds them to the table's text.
    private static let logCounters = ["arrivals", "events", "commits"].map {
        "\($0) INTEGER NOT NULL DEFAULT 0"
    }

    private static let earlierLog = """
        CREATE TABLE log(lid INTEGER PRIMARY KEY, did INTEGER NOT NULL, device BLOB NOT NULL,
            inc INTEGER NOT NULL, parent INTEGER, fork INTEGER NOT NULL,
            tip_seq INTEGER NOT NULL, tip_id BLOB NOT NULL, tip_hlc INTEGER NOT NULL,
            tip_sort INTEGER NOT NULL, kept_seq INTEGER, kept_id BLOB,
            changed INTEGER NOT NULL
        """

    /// Objects of stores of earlier schemas, which such a backup may contain; a new
    /// store has other ones.
    static let former = [earlierLog + ")", "CREATE INDEX log_changed ON log(changed)"]

    /// From schema 15 on `blob_reference` also has the files embedded in messages, and those of all
    /// messages. Only the messages list them, so they are read when the key is available.
    private static let unreadFiles = [
        "INSERT OR REPLACE INTO meta VALUES('\(BlobTable.unreadFiles)', x'01')"
    ]

    /// From schema 14 on there are notes. A note's creation, title and deletion are rows of
    /// `annotation`, with the note's own key. This table has the edits of notes, by arrival number.
    /// state: ViewStore.NoteEditRow.State. And snapshots of some notes. upto: the largest arrival
    /// number among its edits. sums: identifies its version (ViewStore.NoteSums). page, runs:
    /// NoteSnapshot, each sealed under the home's key.
    private static let notes = [
        """
        CREATE INDEX annotation_note ON annotation(did, key_hlc, key_id)
            WHERE kind = \(ViewStore.Annotation.Kind.note.rawValue)
        """,
        """
        CREATE TABLE note_edit(did INTEGER NOT NULL, key_hlc INTEGER NOT NULL,
            key_id INTEGER NOT NULL, arr INTEGER NOT NULL, state INTEGER NOT NULL,
            PRIMARY KEY(did, key_hlc, key_id, arr)) WITHOUT ROWID
        """,
        "CREATE INDEX note_edit_arrival ON note_edit(arr)",
        """
        CREATE TABLE note_snapshot(did INTEGER NOT NULL, key_hlc INTEGER NOT NULL,
            key_id INTEGER NOT NULL, upto INTEGER NOT NULL, sums BLOB NOT NULL,
            page BLOB NOT NULL, runs BLOB NOT NULL, PRIMARY KEY(did, key_hlc, key_id))
            WITHOUT ROWID
        """,
    ]

    /// Tables that a store before schema 14 lacks.
    private static let newBlobs =
        ["blob", "blob_reference", "blob_holder"].map { "DROP TABLE IF EXISTS \($0)" } + blobs

    /// Blobs, whose chunks are in separate files.
    private static let blobs = [
        // root: 32 bytes. size: of the file; a root named with another size is another row, and
        // never held. map: the held chunks (Enc, PROTOCOL.md). bytes: their ciphertext. used: when
        // it was last read, sent or received, ms. wanted: 1 while it is being fetched. kept: 1 if
        // kept by request. own: 1 if it was put here.
        """
        CREATE TABLE blob(bid INTEGER PRIMARY KEY, root BLOB NOT NULL, size INTEGER NOT NULL,
            map BLOB NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL,
            wanted INTEGER NOT NULL, kept INTEGER NOT NULL, own INTEGER NOT NULL,
            UNIQUE(root, size))
        """,
        "CREATE INDEX blob_wanted ON blob(bid) WHERE wanted = 1",

        // The view: the messages that refer to a blob, or embed a file (bid 0). arr: arrival
        // number. item: index in the manifest. Name, type and key are only in the message, so
        // erasing it leaves none behind.
        """
        CREATE TABLE blob_reference(arr INTEGER NOT NULL, item INTEGER NOT NULL,
            bid INTEGER NOT NULL, did INTEGER NOT NULL, PRIMARY KEY(arr, item)) WITHOUT ROWID
        """,
        "CREATE INDEX blob_reference_blob ON blob_reference(bid, arr)",
        "CREATE INDEX blob_reference_document ON blob_reference(did, arr)",

        // Other devices that announced holding all of a blob. map: as in `blob`. heard: when, ms.
        """
        CREATE TABLE blob_holder(bid INTEGER NOT NULL, device BLOB NOT NULL, map BLOB NOT NULL,
            heard INTEGER NOT NULL, PRIMARY KEY(bid, device)) WITHOUT ROWID
        """,
    ]

    /// From schema 13 on follow and settings operations cite what they overwrite, and
    /// `covered` counts the overwriting operations; before, it only told whether there is one,
    /// or one is in the past.
    private static let citingWords =
        ["DROP TABLE IF EXISTS following", "DROP TABLE subscription"] + following + settings + [
            // Of earlier settings the operation that counts is known. The others are read when the
            // key is available (ViewStore.owedSettings).
            """
            INSERT OR REPLACE INTO meta SELECT 'settings.owed.' || did, x'01' FROM document
                WHERE did = workspace
            """,
            """
            INSERT INTO setting SELECT r.workspace, r.kind, r.subject, d.id, r.id,
                (r.hlc | \(Int64.min)) - (r.hlc & \(Int64.min)), r.arr, 0, 0
                FROM self_register r JOIN operation o ON o.arr = r.arr JOIN log l USING(lid)
                JOIN document d USING(did) WHERE r.kind <> 1
            """,
            """
            UPDATE annotation AS t SET covered = (
                SELECT count(*) FROM annotation_past p INDEXED BY annotation_citing
                    CROSS JOIN annotation a ON a.did = p.did AND a.key_hlc = p.key_hlc
                    AND a.key_id = p.key_id AND a.kind = t.kind AND a.member = t.member
                    AND a.tag = t.tag AND a.id = p.id
                    WHERE p.did = t.did AND p.key_hlc = t.key_hlc AND p.key_id = t.key_id
                    AND p.cited = t.id AND a.hidden = 0)
            """,
        ]

    /// Derived from `operation.deps`: citations of a branch's own operations by other branches. Not
    /// for authority documents.
    private static let citations = [
        """
        CREATE TABLE citation(lid INTEGER NOT NULL, seq INTEGER NOT NULL, by_lid INTEGER NOT NULL,
            by_seq INTEGER NOT NULL, PRIMARY KEY(lid, seq, by_lid, by_seq)) WITHOUT ROWID
        """,
        "CREATE INDEX citation_by ON citation(by_lid, by_seq)",
    ]

    /// The view: every operation about whether a member follows a channel. hlc: with its
    /// highest bit flipped, so that it sorts. own: 1 if the member wrote it. hidden, covered:
    /// as in `annotation`. And the operation that counts for each member, if any. arr: the
    /// first one that says so.
    private static let following = [
        """
        CREATE TABLE following(did INTEGER NOT NULL, member BLOB NOT NULL,
            joined INTEGER NOT NULL, id BLOB NOT NULL, hlc INTEGER NOT NULL,
            arr INTEGER NOT NULL, own INTEGER NOT NULL, hidden INTEGER NOT NULL,
            covered INTEGER NOT NULL, PRIMARY KEY(did, member, joined, id)) WITHOUT ROWID
        """,
        "CREATE INDEX following_arrival ON following(arr)",
        """
        CREATE INDEX following_head ON following(did, member, own, hlc, id, arr, joined)
            WHERE hidden = 0 AND covered = 0
        """,
        """
        CREATE INDEX following_first ON following(did, member, own, joined, hlc, id, arr)
            WHERE hidden = 0 AND covered = 0
        """,
        """
        CREATE TABLE following_past(did INTEGER NOT NULL, member BLOB NOT NULL, id BLOB NOT NULL,
            cited BLOB NOT NULL, PRIMARY KEY(did, member, id, cited)) WITHOUT ROWID
        """,
        "CREATE INDEX following_citing ON following_past(did, member, cited)",
        """
        CREATE TABLE subscription(did INTEGER NOT NULL, member BLOB NOT NULL,
            joined INTEGER NOT NULL, arr INTEGER NOT NULL, PRIMARY KEY(did, member)) WITHOUT ROWID
        """,
    ]

    private static let lateBasis = [
        // The basis of a document's rows in `late`: when this member joined (hlc as a bit pattern),
        // and the conversation whose markers count. Without a row they are computed again before
        // they are reported.
        """
        CREATE TABLE late_basis(did INTEGER PRIMARY KEY, hlc INTEGER NOT NULL,
            subject BLOB NOT NULL)
        """
    ]

    /// Follow operations to read again. due: 0 while some named members are not admitted, and
    /// ViewStore.PendingAssertion.Telling when it is to be read now. names: the first bytes of each
    /// of those members, concatenated; empty when it is to be read.
    private static let unheard = [
        """
        CREATE TABLE unheard(arr INTEGER PRIMARY KEY, due INTEGER NOT NULL, names BLOB NOT NULL)
        """,
        "CREATE INDEX unheard_due ON unheard(arr) WHERE due > 0",
    ]

    /// The view: how many operations of each log had arrived when this member read a conversation.
    /// subject: its name. log: 8 bytes of a hash of the log's name. And the messages that arrived
    /// later and sort before the read position. seq: their place in that log. And own messages
    /// rejected by others, of all conversations.
    private static let late = [
        """
        CREATE TABLE read_frontier(workspace INTEGER NOT NULL, subject BLOB NOT NULL,
            log INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(workspace, subject, log))
            WITHOUT ROWID
        """,
        """
        CREATE TABLE late(did INTEGER NOT NULL, sort INTEGER NOT NULL, arr INTEGER NOT NULL,
            log INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(did, sort, arr)) WITHOUT ROWID
        """,
        "CREATE INDEX late_log ON late(did, log, seq)",
        "CREATE INDEX message_refused ON message(did) WHERE hidden = 2",
    ]

    private static let redactionGrant = "CREATE INDEX redaction_grant ON redaction(did, gid, by)"

    /// Everything, in the order of creation.
    static let statements =
        tables + absent + redactions + late + citations + following
        + lateBasis + unheard + settings + notes + blobs

    private static let tables = [
        // Single values by name. They are described where they are written.
        "CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",

        // Monotonic counters: arrival (of operations), event and commit. Not rowids, so
        // that deleting the newest row does not free its number. As of the last COMMIT that
        // wrote no row of `log`.
        "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",

        // did: short number. id: 32 bytes. workspace: did of the authority document it belongs
        // to, its own for an authority document. kind: DocumentKind. One id may name a
        // document in each workspace.
        """
        CREATE TABLE document(did INTEGER PRIMARY KEY, id BLOB NOT NULL,
            workspace INTEGER NOT NULL, kind INTEGER NOT NULL, UNIQUE(workspace, id))
        """,

        // One branch of a log. fork: its first own place. tip*: the last stored operation. kept*:
        // the last kept one, NULL if there is none. changed: arrival number of the last change of
        // kept. arrivals, events, commits: as in `counter`, as of the row's last write. The maximum
        // over all rows counts.
        earlierLog + logCounters.map { ", " + $0 }.joined() + ")",
        "CREATE INDEX log_name ON log(did, device, inc)",

        // One operation. arr: arrival number. kind: header field 1. hlc: header field 7 as its bit
        // pattern. seen: wall clock at arrival, ms. sort: display order, ms. gid: grant, 0 for
        // none. kid: epoch key, NULL if nothing is sealed. deps: Enc array of refs, NULL for none.
        // sigok: whether this signature was verified. payload: as signed.
        """
        CREATE TABLE operation(arr INTEGER PRIMARY KEY, lid INTEGER NOT NULL,
            seq INTEGER NOT NULL, kind INTEGER NOT NULL, hlc INTEGER NOT NULL,
            seen INTEGER NOT NULL, sort INTEGER NOT NULL, gid INTEGER NOT NULL, kid INTEGER,
            id BLOB NOT NULL, deps BLOB, sig BLOB NOT NULL, sigok INTEGER NOT NULL,
            payload BLOB NOT NULL)
        """,
        "CREATE UNIQUE INDEX operation_place ON operation(lid, seq)",
        // The few operations with citations, from which the citations are rebuilt.
        "CREATE INDEX operation_citing ON operation(lid, seq) WHERE deps IS NOT NULL",

        // Operations with damaged rows, which no longer give their ids.
        """
        CREATE TABLE damaged(lid INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(lid, seq))
            WITHOUT ROWID
        """,

        // Where a branch changes to another grant. first: place. valid: the last valid place, -1
        // for unbounded, NULL for none.
        """
        CREATE TABLE grant_span(lid INTEGER NOT NULL, first INTEGER NOT NULL,
            gid INTEGER NOT NULL, valid INTEGER, PRIMARY KEY(lid, first)) WITHOUT ROWID
        """,

        // Grants by number, so that a million operations do not repeat 32 bytes each.
        "CREATE TABLE grant_name(gid INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE)",

        // Secrets, sealed under the home's own key: nonce 24, ct. kind: SecretKind. workspace: of
        // a private document's keys the did of that document. secret NULL: cited but not held.
        """
        CREATE TABLE epoch_key(kid INTEGER PRIMARY KEY, workspace INTEGER NOT NULL,
            kind INTEGER NOT NULL, id BLOB NOT NULL, secret BLOB,
            UNIQUE(workspace, kind, id))
        """,

        // A workspace of this home. state: WorkspaceStanding. joined: ms. member: our own.
        """
        CREATE TABLE workspace(did INTEGER PRIMARY KEY, state INTEGER NOT NULL,
            member BLOB NOT NULL, joined INTEGER NOT NULL)
        """,

        // Two operations at one place of a log: the evidence that a device forked.
        """
        CREATE TABLE evidence(lid INTEGER NOT NULL, seq INTEGER NOT NULL, branch INTEGER NOT NULL,
            found INTEGER NOT NULL, PRIMARY KEY(lid, seq, branch)) WITHOUT ROWID
        """,

        // The view: the position of each message. key_*: its name (hlc, first 8 bytes of the id).
        // thread_*: the name of what it replies to. hidden: ViewStore.Visibility, or 3, hidden
        // after it was shown. mention: 1 if its current text mentions this member.
        """
        CREATE TABLE message(did INTEGER NOT NULL, sort INTEGER NOT NULL, arr INTEGER NOT NULL,
            key_hlc INTEGER NOT NULL, key_id INTEGER NOT NULL, gid INTEGER NOT NULL,
            thread_hlc INTEGER, thread_id INTEGER, hidden INTEGER NOT NULL,
            mention INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(did, sort, arr)) WITHOUT ROWID
        """,
        "CREATE INDEX message_key ON message(key_hlc, key_id)",
        """
        CREATE INDEX message_thread ON message(thread_hlc, thread_id, did, sort, arr)
            WHERE thread_hlc IS NOT NULL
        """,

        registers, annotation, annotationArrival, annotationHead, annotationPin, annotationPast,
        annotationCiting,

        // Events, by reference only. type: EventType. arr: the operation, or NULL. extra: Enc of
        // data that no operation contains. backfill: it belongs to a first sync.
        """
        CREATE TABLE event(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type INTEGER NOT NULL,
            workspace INTEGER, did INTEGER, arr INTEGER, extra BLOB, backfill INTEGER NOT NULL)
        """,

        // The position of each named reader.
        """
        CREATE TABLE reader(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL)
            WITHOUT ROWID
        """,

        // Idempotent answers: a keyed hash of (method, key) and of the parameters, and a
        // reference to the result.
        """
        CREATE TABLE request(key BLOB PRIMARY KEY, body BLOB NOT NULL, made BLOB NOT NULL,
            at INTEGER NOT NULL) WITHOUT ROWID
        """,

        // Peers: an encoded entry of the address book.
        "CREATE TABLE peer(name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",

        // The last state that this node and a peer agreed on: root, and our arrival number then.
        """
        CREATE TABLE agreed(device BLOB NOT NULL, workspace INTEGER NOT NULL, root BLOB NOT NULL,
            arr INTEGER NOT NULL, PRIMARY KEY(device, workspace)) WITHOUT ROWID
        """,

        // The tips a peer is known to hold, for receipts across restarts: Enc, as in `tips`.
        """
        CREATE TABLE held(device BLOB NOT NULL, lid INTEGER NOT NULL, seq INTEGER NOT NULL,
            PRIMARY KEY(device, lid)) WITHOUT ROWID
        """,
    ]
}
