/// The tables of node.db, and what each column means.
///
/// Names and texts are nowhere: payloads are stored as they were signed, sealed; everything else
/// is ids, numbers and references. No column holds an index on an operation's hash, because a
/// random key costs a multiple of the ingest rate: an operation is found by (log, seq).
public enum Schema {
    /// The schema this program reads and writes. A store with another number is refused.
    public static let version: Int32 = 16

    /// The view: what the own documents say, of each kind (ViewStore.Register.Kind) and subject
    /// (16 bytes; of a setting a keyed hash of its name) the operation that counts. key_*: up to
    /// where was read; of a star the message, and of a reminder when it is due (ms) and 0.
    private static let registers = """
        CREATE TABLE self_register(workspace INTEGER NOT NULL, kind INTEGER NOT NULL,
            subject BLOB NOT NULL, hlc INTEGER NOT NULL, id BLOB NOT NULL, arr INTEGER NOT NULL,
            key_hlc INTEGER, key_id INTEGER, PRIMARY KEY(workspace, kind, subject)) WITHOUT ROWID
        """

    /// The view: every word of the own documents but read markers, of which `self_register` has the one
    /// that counts. document: its id. hlc, hidden, covered: as in `annotation`.
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

    /// The view: what is said about messages. key_*: the name of the message. kind:
    /// ViewStore.Annotation.Kind. member: whose word it is, empty of a pin. tag: of a reaction 16
    /// bytes of a keyed hash of its sign. These name a register. hlc: with its highest bit turned,
    /// so that it orders. flags: 1 on, 2 the own member is mentioned. hidden: 1 where it is not
    /// valid. covered: how many valid ones of the register cite it.
    private static let annotation = """
        CREATE TABLE annotation(did INTEGER NOT NULL, key_hlc INTEGER NOT NULL,
            key_id INTEGER NOT NULL, kind INTEGER NOT NULL, member BLOB NOT NULL,
            tag BLOB NOT NULL, id BLOB NOT NULL, hlc INTEGER NOT NULL, arr INTEGER NOT NULL,
            flags INTEGER NOT NULL, hidden INTEGER NOT NULL, covered INTEGER NOT NULL,
            PRIMARY KEY(did, key_hlc, key_id, kind, member, tag, id)) WITHOUT ROWID
        """
    private static let annotationArrival = "CREATE INDEX annotation_arrival ON annotation(arr)"

    /// What counts, or counts as much as something else.
    private static let annotationHead = """
        CREATE INDEX annotation_head ON annotation(did, key_hlc, key_id, kind, member, tag, hlc, id,
            arr, flags) WHERE hidden = 0 AND covered = 0
        """

    /// The pins that count, or count as much as others of their message.
    private static let annotationPin = """
        CREATE INDEX annotation_pin ON annotation(did, key_hlc, key_id, hlc, id, flags)
            WHERE kind = 3 AND hidden = 0 AND covered = 0
        """

    /// What an annotation cites, whatever that is.
    private static let annotationPast = """
        CREATE TABLE annotation_past(did INTEGER NOT NULL, key_hlc INTEGER NOT NULL,
            key_id INTEGER NOT NULL, id BLOB NOT NULL, cited BLOB NOT NULL,
            PRIMARY KEY(did, key_hlc, key_id, id, cited)) WITHOUT ROWID
        """
    private static let annotationCiting =
        "CREATE INDEX annotation_citing ON annotation_past(did, key_hlc, key_id, cited)"

    /// Payloads that are not there, by arrival number: what is left of them. missing: 1 where
    /// nobody has deleted it, so that it is asked of peers. The operation's row holds zeros.
    private static let absent = [
        """
        CREATE TABLE absent(arr INTEGER PRIMARY KEY, plen INTEGER NOT NULL, phash BLOB NOT NULL,
            missing INTEGER NOT NULL)
        """,
        "CREATE INDEX absent_missing ON absent(arr) WHERE missing = 1",
    ]

    /// The view: what redactions name. target: the id of an operation that is to be erased, or of
    /// a redaction that is undone. by: arrival number of the redaction. undo: 1 where it takes one
    /// back. gid: the grant that it cites.
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

    /// What a store of an older schema lacks. By the schema that it has.
    ///
    /// Schema 8 is the first whose operations have header version 2: what older stores hold follows
    /// other rules, so nothing is added to them and they are refused. It has no citations.
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

    /// From schema 16 on the rows of logs hold what is counted, because nearly every COMMIT writes one
    /// of them anyway: a row of `counter` is a page more. And which logs have changed is known from
    /// memory, where all of them are.
    private static let countingLogs =
        ["DROP INDEX log_changed"] + logCounters.map { "ALTER TABLE log ADD COLUMN \($0)" }

    /// As `ALTER TABLE` writes them into the text of the table.
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

    /// What stores of earlier schemas have, which such a backup may hold, and a new store has not so.
    static let former = [earlierLog + ")", "CREATE INDEX log_changed ON log(changed)"]

    /// From schema 15 on `blob_reference` has the files that lie in messages, too, and those of all
    /// messages. Which these are the messages say, so they are read when there is a key for that.
    private static let unreadFiles = [
        "INSERT OR REPLACE INTO meta VALUES('\(BlobTable.unreadFiles)', x'01')"
    ]

    /// From schema 14 on there are notes. That there is one, its title and its deletion are rows of
    /// `annotation`, with the note's own key. Here stand the edits of notes, each by its arrival number.
    /// state: ViewStore.NoteEditRow.State. And of some notes a snapshot. upto: the largest arrival number
    /// among its edits. sums: what names its version (ViewStore.NoteSums). page, runs: NoteSnapshot,
    /// each sealed under the home's key.
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

    /// What a store of before schema 14 lacks.
    private static let newBlobs =
        ["blob", "blob_reference", "blob_holder"].map { "DROP TABLE IF EXISTS \($0)" } + blobs

    /// What is known of blobs, whose chunks lie in files of their own.
    private static let blobs = [
        // root: 32 bytes. size: of the file; a root that somebody named with another size is another
        // row, and never holds anything. map: which chunks are held (Enc, PROTOCOL.md). bytes: of
        // ciphertext that these have. used: when it was read, sent or received last, ms. wanted: 1
        // while it is being fetched. kept: 1 where it stays on purpose. own: 1 where it was put here.
        """
        CREATE TABLE blob(bid INTEGER PRIMARY KEY, root BLOB NOT NULL, size INTEGER NOT NULL,
            map BLOB NOT NULL, bytes INTEGER NOT NULL, used INTEGER NOT NULL,
            wanted INTEGER NOT NULL, kept INTEGER NOT NULL, own INTEGER NOT NULL,
            UNIQUE(root, size))
        """,
        "CREATE INDEX blob_wanted ON blob(bid) WHERE wanted = 1",

        // The view: which messages name a blob, or hold a file, of which bid is 0. arr: arrival number.
        // item: place in the manifest. Name, type and key are in the message, so that an erased one leaves none behind.
        """
        CREATE TABLE blob_reference(arr INTEGER NOT NULL, item INTEGER NOT NULL,
            bid INTEGER NOT NULL, did INTEGER NOT NULL, PRIMARY KEY(arr, item)) WITHOUT ROWID
        """,
        "CREATE INDEX blob_reference_blob ON blob_reference(bid, arr)",
        "CREATE INDEX blob_reference_document ON blob_reference(did, arr)",

        // The other devices that said to hold all of a blob. map: that, as in `blob`. heard: when, ms.
        """
        CREATE TABLE blob_holder(bid INTEGER NOT NULL, device BLOB NOT NULL, map BLOB NOT NULL,
            heard INTEGER NOT NULL, PRIMARY KEY(bid, device)) WITHOUT ROWID
        """,
    ]

    /// From schema 13 on words about following and settings cite what they overwrite, and what is
    /// overwritten counts by how many words; so far it was noted whether it is by any, or is in its past.
    private static let citingWords =
        ["DROP TABLE IF EXISTS following", "DROP TABLE subscription"] + following + settings + [
            // Of what was set so far the word that counts is known. The others are read when there is
            // a key for that (ViewStore.owedSettings).
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

    /// What follows from `operation.deps`: which own operation of a branch an operation of another
    /// one cites. Not of authority documents.
    private static let citations = [
        """
        CREATE TABLE citation(lid INTEGER NOT NULL, seq INTEGER NOT NULL, by_lid INTEGER NOT NULL,
            by_seq INTEGER NOT NULL, PRIMARY KEY(lid, seq, by_lid, by_seq)) WITHOUT ROWID
        """,
        "CREATE INDEX citation_by ON citation(by_lid, by_seq)",
    ]

    /// The view: every word about whether a member follows a channel. hlc: with its highest bit
    /// turned, so that it orders. own: 1 where it is the member's own. hidden, covered: as in
    /// `annotation`. And of each member what counts, if anything does. arr: the first word that says so.
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
        // What the rows of `late` of a document rest on: when the own member came in (hlc as a bit
        // pattern), and the conversation whose markers count. Without a row they are looked for
        // anew before anybody is told of them.
        """
        CREATE TABLE late_basis(did INTEGER PRIMARY KEY, hlc INTEGER NOT NULL,
            subject BLOB NOT NULL)
        """
    ]

    /// The words about following that are read again. due: 0 where nothing admits some of those whom
    /// the word names, and ViewStore.OwedWord.Telling where it is owed now. names: the first bytes
    /// of each of those names, one after another; empty where it is owed.
    private static let unheard = [
        """
        CREATE TABLE unheard(arr INTEGER PRIMARY KEY, due INTEGER NOT NULL, names BLOB NOT NULL)
        """,
        "CREATE INDEX unheard_due ON unheard(arr) WHERE due > 0",
    ]

    /// The view: how many operations of each log were there when the own member read a
    /// conversation. subject: its name. log: 8 bytes of a hash of the log's name. And the messages
    /// that came later and stand before what was read. seq: their place in that log. And own
    /// messages that others do not take, of all conversations.
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
        // What there is one of, by name. Values are described where they are written.
        "CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",

        // Numbers that only rise: arrival (of operations), event and commit. Never taken from rowids,
        // so that deleting the newest row does not give its number to another. As of the last
        // COMMIT that wrote no row of `log`.
        "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",

        // did: short number. id: 32 bytes. workspace: did of the authority document it belongs
        // to, its own for an authority document. kind: DocumentKind. One id may stand for a
        // document in each workspace.
        """
        CREATE TABLE document(did INTEGER PRIMARY KEY, id BLOB NOT NULL,
            workspace INTEGER NOT NULL, kind INTEGER NOT NULL, UNIQUE(workspace, id))
        """,

        // One branch of a log. fork: its first own place. tip*: the last stored operation.
        // kept*: the last kept one, NULL while there is none. changed: arrival number of the
        // last change of kept. arrivals, events, commits: as in `counter`, when the row was written
        // last. The largest of all rows counts.
        earlierLog + logCounters.map { ", " + $0 }.joined() + ")",
        "CREATE INDEX log_name ON log(did, device, inc)",

        // One operation. arr: arrival number. kind: header field 1. hlc: header field 7 as its
        // bit pattern. seen: wall clock at arrival, ms. sort: display order, ms. gid: grant, 0
        // for none. kid: epoch key, NULL where nothing is sealed. deps: Enc array of refs, NULL
        // for none. sigok: whether this very signature was verified. payload: as signed.
        """
        CREATE TABLE operation(arr INTEGER PRIMARY KEY, lid INTEGER NOT NULL,
            seq INTEGER NOT NULL, kind INTEGER NOT NULL, hlc INTEGER NOT NULL,
            seen INTEGER NOT NULL, sort INTEGER NOT NULL, gid INTEGER NOT NULL, kid INTEGER,
            id BLOB NOT NULL, deps BLOB, sig BLOB NOT NULL, sigok INTEGER NOT NULL,
            payload BLOB NOT NULL)
        """,
        "CREATE UNIQUE INDEX operation_place ON operation(lid, seq)",
        // What cites others, which is little: citations are made anew from it.
        "CREATE INDEX operation_citing ON operation(lid, seq) WHERE deps IS NOT NULL",

        // Operations whose rows do not give their ids any more.
        """
        CREATE TABLE damaged(lid INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(lid, seq))
            WITHOUT ROWID
        """,

        // Where a branch goes over to another grant. first: place. valid: the last valid place,
        // -1 for no bound, NULL for none.
        """
        CREATE TABLE grant_span(lid INTEGER NOT NULL, first INTEGER NOT NULL,
            gid INTEGER NOT NULL, valid INTEGER, PRIMARY KEY(lid, first)) WITHOUT ROWID
        """,

        // Grants by number, so that a million operations do not each repeat 32 bytes.
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

        // Two operations at one place of a log: the proof that a device forked.
        """
        CREATE TABLE evidence(lid INTEGER NOT NULL, seq INTEGER NOT NULL, branch INTEGER NOT NULL,
            found INTEGER NOT NULL, PRIMARY KEY(lid, seq, branch)) WITHOUT ROWID
        """,

        // The view: where each message stands. key_*: its name (hlc, first 8 bytes of the id).
        // thread_*: the name of what it replies to. hidden: ViewStore.Visibility,
        // or 3, hidden after it was shown. mention: 1 where its text of today mentions the own
        // member.
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

        // What happened, by reference only. type: EventType. arr: the operation, or NULL.
        // extra: Enc of what has no operation. backfill: it came by a first sync.
        """
        CREATE TABLE event(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type INTEGER NOT NULL,
            workspace INTEGER, did INTEGER, arr INTEGER, extra BLOB, backfill INTEGER NOT NULL)
        """,

        // How far each named reader has come.
        """
        CREATE TABLE reader(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL)
            WITHOUT ROWID
        """,

        // Answers to repeat: a keyed hash of (method, key) and of the parameters, and a
        // reference to what was made.
        """
        CREATE TABLE request(key BLOB PRIMARY KEY, body BLOB NOT NULL, made BLOB NOT NULL,
            at INTEGER NOT NULL) WITHOUT ROWID
        """,

        // What is remembered of peers: an encoded entry of the address book.
        "CREATE TABLE peer(name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",

        // The last state that we and a peer both had: root, and our arrival number then.
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
