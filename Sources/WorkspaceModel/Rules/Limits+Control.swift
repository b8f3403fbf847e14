/// Requests of local programs, and the work done for them.
extension Limits {
    // MARK: Control socket

    /// One control line, each way.
    public static let controlLineBytesMax = 1024 * 1024
    /// Request line and header fields of an HTTP request, and again its trailers: curl and the
    /// clients of chat services stay below 2 KiB.
    public static let httpHeadBytesMax = 16 * 1024
    /// The line with the size of a chunk, extensions included.
    public static let httpChunkLineBytesMax = 1_024
    /// Body of an HTTP request: as much as a control line.
    public static let httpBodyBytesMax = controlLineBytesMax
    /// Bytes of a refused body that are read and discarded, so that a sender that is still writing
    /// gets to read the error.
    public static let httpDiscardedBytesMax = 8 * 1024 * 1024
    /// Room that a connection keeps for what it reads next, in bytes: more than lines need. What a
    /// longer text took is given back.
    public static let controlKeptRoomBytesMax = 4 * controlLineBytesMax
    /// Control connections at a time.
    public static let controlClientsMax = 64
    /// Connections beyond those, each from a process that has no other: a program that takes all
    /// connections must not lock out the owner's commands.
    public static let controlClientsSpareMax = 4
    /// Connections beyond all of those that are told why they are refused, once they have sent a
    /// request.
    public static let controlClientsRefusedMax = 16
    /// How long they have to send it, in milliseconds.
    public static let controlRefusalMilliseconds: UInt64 = 1_000
    /// A connection without a call or a stream may be closed for a new one after this silence, in
    /// milliseconds: no honest reader is as slow.
    public static let controlIdleMilliseconds: UInt64 = 10_000
    /// How long a request may take to arrive, in milliseconds: on this machine, whole.
    public static let controlRequestMilliseconds: UInt64 = 30_000
    /// Event streams on one control connection: each is checked on every event.
    public static let controlSubscriptionsMax = 64
    /// Named readers of events. Beyond that, the one that advanced least recently is dropped, and
    /// its program starts over.
    public static let eventReadersMax = 1_024
    /// Unanswered requests of one connection.
    public static let controlRequestsPendingMax = 256
    /// Calls whose idempotency keys are kept regardless of age: about 2 MB.
    public static let rememberedCallsMin: Int64 = 16_384
    /// A variable in the environment of a bot's command, in bytes: a message of control characters
    /// only, each escaped as six. The kernel allows 128 KiB.
    public static let botVariableBytesMax = 6 * messageTextBytesMax
    /// A program's reason for giving up on an event, in bytes: a sentence or two.
    public static let warningBytesMax = 512
    /// An idempotency key, in bytes.
    public static let idempotencyKeyBytesMax = 128
    /// Unsent answers of one control connection after which it is a slow reader.
    public static let controlUnsentBytesMax = 4 * 1024 * 1024
    /// The same of all connections together. Above it, a connection with unread answers gets no
    /// more.
    public static let controlUnsentTotalBytesMax = 64 * 1024 * 1024
    /// Answers of one turn, about, in bytes; the remaining calls come first in the next one.
    public static let answersPerTurnBytesMax = 1024 * 1024
    /// The same for one connection.
    public static let answersPerClientBytesMax = 256 * 1024

    // MARK: Keys at rest

    /// Memory of one Argon2id run, in bytes; one runs at a time.
    public static let passphraseMemoryBytes = 64 * 1024 * 1024
    /// Passes of one Argon2id run that a file may request: a wait of about half a second.
    public static let passphrasePassesMax = 16

    // MARK: Notices

    /// The command run for a notice, in bytes; as long as a line of a script.
    public static let noticeCommandBytesMax = 4_096
    /// A variable in the environment of that command, in bytes: a notice shows the beginning. The
    /// whole message is on its standard input.
    public static let noticeVariableBytesMax = 4_096
    /// Notices queued behind the one that is shown; beyond that the oldest is dropped.
    public static let noticesWaitingMax = 64
    /// How long the command of one notice may run.
    public static let noticeMilliseconds: UInt64 = 30_000
    /// Consecutive failures of that command after which its owner is told.
    public static let noticeFailuresMax = 3

    // MARK: Search

    /// A search query, in bytes: a sentence.
    public static let searchQueryBytesMax = 1_024
    /// Operations in one turn that mark a bulk sync instead of a conversation.
    public static let searchBulkMin: Int64 = 64
    /// How long no bulk must have arrived before indexing resumes.
    public static let searchQuietMilliseconds: UInt64 = 500
    /// How long messages are batched before they are indexed, unless a search is waiting.
    public static let searchGatherMilliseconds: UInt64 = 200
    /// Operations that are indexed in one turn: about 3 ms.
    public static let searchedPerTurnMax: Int64 = 256
    /// Notes among them: each may have to be opened, about 1 ms.
    public static let searchedNotesPerTurnMax = 16
    /// How long a note that is being edited waits to be indexed, unless a search is waiting: each
    /// time its whole text is indexed again.
    public static let searchNoteMilliseconds: UInt64 = 30_000
    /// Scalars of a note's text in the excerpt around a match.
    public static let searchExcerptMax = 200
    /// Operations that a search waits for until they are indexed: about 50 ms. What is missing
    /// beyond that is part of a bulk sync, and the answer says that it is incomplete.
    public static let searchAwaitedMax: Int64 = 4_096
    /// Batches that the search index accepts before it has answered the first. It writes some
    /// thousand rows at once, 50 to 100 ms, and meanwhile as many are opened.
    public static let searchBatchesMax = 32
    /// Bytes of text in them above which it is handed no more: as many as it writes at once.
    public static let searchHandedBytesMax = 1024 * 1024
    /// Decrypted contents that a turn caches until its end.
    public static let freshContentsMax = 32
    /// Messages that one turn decrypts to check candidates: about 2 ms.
    public static let searchCandidatesPerTurn = 128
    /// Bytes of text that one turn decrypts for that: 16 messages of maximum length. The last one
    /// may exceed it.
    public static let searchBytesPerTurn = 256 * 1024
    /// Candidates requested from the index beyond the size of a page.
    public static let searchSpareCandidates = 4
    /// Messages that are ranked: about 20 ms.
    public static let searchRankedMax = 1_024
    /// Turns of one search, after which it is answered with the matches so far: 8,192 messages, or
    /// 16 MiB of text.
    public static let searchTurnsMax = 64
    /// Searches that wait for the index at a time.
    public static let searchesWaitingMax = 256
    /// Bytes of one page of results, so that its line stays below 1 MiB.
    public static let searchPageBytesMax = 768 * 1024
    /// An in-memory index is dropped in parts of 4,096 operations, the oldest first.
    public static let searchMemoryPartBits: Int64 = 12
    /// The parts that it keeps: 32,768 operations, about 16 MB.
    public static let searchMemoryPartsMax = 8
}
