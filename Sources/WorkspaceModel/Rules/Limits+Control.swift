/// What programs on this machine ask, and what is done for them.
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
    /// What is read and thrown away of a body that was refused, so that its sender, who is still
    /// writing, comes to read why.
    public static let httpDiscardedBytesMax = 8 * 1024 * 1024
    /// Control connections at a time.
    public static let controlClientsMax = 64
    /// Connections beyond those, each of a process that has no other: one program that takes all
    /// must not keep the owner's commands out.
    public static let controlClientsSpareMax = 4
    /// Connections beyond all of those that are told why there is no room, when they have asked
    /// for something.
    public static let controlClientsRefusedMax = 16
    /// How long they have to ask, in milliseconds.
    public static let controlRefusalMilliseconds: UInt64 = 1_000
    /// A connection without a call or a stream may give way to a new one after this silence, in
    /// milliseconds: nobody who reads answers is as slow.
    public static let controlIdleMilliseconds: UInt64 = 10_000
    /// How long a request may take to arrive, in milliseconds: on this machine, whole.
    public static let controlRequestMilliseconds: UInt64 = 30_000
    /// Streams of events on one control connection: each is looked at whenever something happens.
    public static let controlSubscriptionsMax = 64
    /// Named readers of events. Of more the one that moved longest ago goes: its program begins anew.
    public static let eventReadersMax = 1_024
    /// Requests of one connection that wait for an answer.
    public static let controlRequestsPendingMax = 256
    /// Calls whose keys are remembered however old they look: about 2 MB.
    public static let rememberedCallsMin: Int64 = 16_384
    /// A variable in the environment of a bot's command, in bytes: a message of which every byte is
    /// a control character, each made visible in six. The kernel takes 128 KiB.
    public static let botVariableBytesMax = 6 * messageTextBytesMax
    /// What a program says of an event that it gave up, in bytes: a sentence or two.
    public static let warningBytesMax = 512
    /// An idempotency key, in bytes.
    public static let idempotencyKeyBytesMax = 128
    /// Unsent answers of one control connection after which it is a slow reader.
    public static let controlUnsentBytesMax = 4 * 1024 * 1024
    /// The same of all connections together. Above it, who has something unread is given nothing more.
    public static let controlUnsentTotalBytesMax = 64 * 1024 * 1024
    /// Answers of one turn, about, in bytes; the calls that are left come first in the next one.
    public static let answersPerTurnBytesMax = 1024 * 1024
    /// Those of one connection.
    public static let answersPerClientBytesMax = 256 * 1024

    // MARK: Keys at rest

    /// Memory of one Argon2id run, in bytes; one runs at a time.
    public static let passphraseMemoryBytes = 64 * 1024 * 1024
    /// Passes of one Argon2id run that a file may ask for: a wait of about half a second.
    public static let passphrasePassesMax = 16

    // MARK: Notices

    /// The command that is run for a notice, in bytes; as much as a line of a script.
    public static let noticeCommandBytesMax = 4_096
    /// A variable in the environment of that command, in bytes: a notice shows a beginning. The
    /// whole message is on its standard input.
    public static let noticeVariableBytesMax = 4_096
    /// Notices that wait for the one that is shown; then the oldest is dropped.
    public static let noticesWaitingMax = 64
    /// How long the command of one notice may run.
    public static let noticeMilliseconds: UInt64 = 30_000
    /// Failures of it in a row, after which its owner is told.
    public static let noticeFailuresMax = 3

    // MARK: Search

    /// What somebody looks for, in bytes: a sentence.
    public static let searchQueryBytesMax = 1_024
    /// Operations that come in one turn of a sync in bulk, not of a conversation.
    public static let searchBulkMin: Int64 = 64
    /// How long nothing in bulk has come before the search index goes on.
    public static let searchQuietMilliseconds: UInt64 = 500
    /// How long messages are gathered before the search index is handed them, unless somebody asks.
    public static let searchGatherMilliseconds: UInt64 = 200
    /// Operations that are handed to the search index in one turn: about 3 ms.
    public static let searchedPerTurnMax: Int64 = 256
    /// Notes among them: each may have to be opened, about 1 ms.
    public static let searchedNotesPerTurnMax = 16
    /// How long a note in which somebody writes waits for the search index, unless a question comes:
    /// all of its text is taken anew each time.
    public static let searchNoteMilliseconds: UInt64 = 30_000
    /// Scalars of the text of a note that are shown of a place that was found.
    public static let searchExcerptMax = 200
    /// Operations that a question waits for until the index was handed them: about 50 ms. What is
    /// missing beyond comes of a bulk, and the answer says that it is not complete.
    public static let searchAwaitedMax: Int64 = 4_096
    /// Slices that the search index is given before it has written the first of them: what it
    /// writes in one go, so that opening and writing go on side by side.
    public static let searchBatchesMax = 4
    /// How many contents that were opened in a turn are kept until its end, to be read again.
    public static let freshContentsMax = 32
    /// Messages that one turn opens to see whether they are what is looked for: about 2 ms.
    public static let searchCandidatesPerTurn = 128
    /// Bytes of text that one turn opens for that: 16 messages as long as they can be. The last one
    /// may go beyond it.
    public static let searchBytesPerTurn = 256 * 1024
    /// More candidates than a page has room for, which the index is asked for first.
    public static let searchSpareCandidates = 4
    /// Messages among which the best are looked for: about 20 ms.
    public static let searchRankedMax = 1_024
    /// Turns of one question, after which it is answered with what was found: 8,192 messages, or
    /// 16 MiB of text.
    public static let searchTurnsMax = 64
    /// Questions that wait for the index at a time.
    public static let searchesWaitingMax = 256
    /// Bytes of one page of results, so that its line stays below 1 MiB.
    public static let searchPageBytesMax = 768 * 1024
    /// An index in memory is dropped in pieces of 4,096 operations, the oldest first.
    public static let searchMemoryPartBits: Int64 = 12
    /// It keeps so many of them: 32,768 operations, about 16 MB.
    public static let searchMemoryPartsMax = 8
}
