/// Every bound on what comes from outside, each with its reason.
///
/// A limit delays, it never decides: it is either part of well-formedness, judged on an
/// operation's own bytes, or a budget that postpones. Tests read the same constants.
public enum Limits {
    // MARK: Encoding

    /// Deepest nesting of signed or sent CBOR: payloads need 5, and a decoder may recurse this far.
    public static let cborDepthMax = 8
    /// Deepest nesting of a control line: deep enough for any script, shallow enough for any stack.
    public static let jsonDepthMax = 32

    // MARK: Operations

    /// Bytes of an operation's header: 13 fields with 64 dependencies stay well below.
    public static let headerBytesMax = 8 * 1024
    /// Bytes of a payload, sealed: a 16 KiB text in the costliest escape still fits.
    public static let payloadBytesMax = 256 * 1024
    /// Bytes of an authority operation's payload: key wraps for 2,000 devices and 5,000 cuts fit.
    public static let authPayloadBytesMax = 768 * 1024
    /// Cuts in one authority operation; more go into parts before it.
    public static let cutsPerOperationMax = 5_000
    /// Parts of one removal: 320,000 logs of one person, more than any workspace has.
    public static let cutPartsMax = 64
    /// Invites that one removal names, and other lists of operations in a payload.
    public static let revokedInvitesMax = 1_024
    /// Older keys that one rekey seals: as many as admins change the key at the same time.
    public static let olderKeysMax = 64
    /// Dependencies of an operation outside the authority document.
    public static let dependenciesMax = 16
    /// Earlier words that a word overwrites at least, where there are so many: when one of them loses
    /// its effect, those before it stay overwritten.
    public static let overwrittenMin = 4
    /// Dependencies of an authority operation: heads of many concurrent administrators.
    public static let authDependenciesMax = 64
    /// Operations of one log that one signature may vouch for.
    public static let segmentLength: UInt64 = 1_024
    /// Payload bytes that one signature may vouch for before the signed operation.
    public static let runPayloadBytesMax = 256 * 1024
    /// Dependencies that one signature may vouch for before the signed operation. With them, and what
    /// a segment takes besides, it fits into one message: 914 KiB at most.
    public static let runDependenciesMax = 2_048
    /// Text of one message, in bytes of UTF-8.
    public static let messageTextBytesMax = 16 * 1024
    /// The sign of a reaction, in bytes of UTF-8: a family with skin tones takes 41.
    public static let emojiBytesMax = 64
    /// Members that one message mentions: more are everybody.
    public static let mentionsMax = 64
    /// How far off a place may be said to be, in metres: half round the earth.
    public static let locationAccuracyMax: UInt64 = 20_040_000
    /// A name inside an operation, in bytes of UTF-8. This alone is validity.
    public static let nameBytesMax = 256
    /// A name when it is written here, in grapheme clusters.
    public static let nameCharactersMax = 30
    /// A name when it is written here, in Unicode scalars.
    public static let nameScalarsMax = 128
    /// Combining marks in a row in a name that is written here: more is a weapon, not a script.
    public static let combiningMarksInARowMax = 4
    /// A remote timestamp advances our clock at most this far past the wall clock.
    public static let clockLeadMillisecondsMax: UInt64 = 5 * 60 * 1_000
    /// For so many milliseconds beyond that what is said keeps its order, each in the smallest step of a
    /// hybrid timestamp: 198 days, shown within 4.4 minutes.
    public static let clockAheadStepsMax: UInt64 = 1 << 34
    /// So far may a clock be ahead that tells when somebody came in, or read: all devices of a person
    /// take its word then, whenever they heard it. Who dates it so has nothing shown as unread for as
    /// long.
    public static let credibleLeadMillisecondsMax: UInt64 = 2 * 3_600 * 1_000

    // MARK: Branches

    /// Branches of one log that count: a restored home makes a few, only harm makes more.
    public static let branchesMax = 8
    /// Branches of one log that nothing valid lies on, and that stay in case a verdict changes.
    public static let voidBranchesMax = 8
    /// Branches of one log that may be stored until the end of a turn. Each new one is compared with
    /// all others, and removing what is too much goes through the document.
    public static let branchesCrowdedMax = 64
}
