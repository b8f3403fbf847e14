/// What people prove to each other: addresses by codes that come in letters.
extension Limits {
    /// An address in an attestation, in bytes: as long as mail has them.
    public static let attestedValueBytesMax = 254
    /// The name of a provider of accounts, in bytes of UTF-8: a word that an admin chose.
    public static let attestedProviderBytesMax = 64
    /// What an account is called, in bytes of UTF-8.
    public static let attestedNameBytesMax = 256
    /// Attestations of one author that count in one register: far more than anybody proves, and few enough
    /// to be looked at whenever one comes.
    public static let attestationsOfOneMax = 64
    /// How long a code is good: a letter comes within seconds, or the next one does.
    public static let proofCodeMilliseconds: UInt64 = 5 * 60 * 1_000
    /// Codes that are tried on one letter: one in 200,000 guesses right.
    public static let proofTriesMax = 5
    /// Letters to addresses of one member in an hour: nobody needs more, and others read them.
    public static let lettersOfOneHourly = 5
    /// Letters of one node in an hour: its owner's mail server answers for them.
    public static let lettersHourly = 20
    /// How long that hour is, milliseconds.
    public static let letterHourMilliseconds: UInt64 = 60 * 60 * 1_000
    /// How long the command that sends a letter may take: mail servers make strangers wait.
    public static let mailMilliseconds: UInt64 = 60 * 1_000
    /// Letters that wait for the one that is being sent.
    public static let mailsWaitingMax = 20
    /// How long a call waits for a verifier: for the command, and a little.
    public static let proofCallMilliseconds: UInt64 = 75 * 1_000
    /// Calls that wait for one answer of a verifier: the same person asks on several terminals.
    public static let proofCallsMax = 16
    /// Words about proofs that are heard from one peer at once in one workspace; one more each
    /// `proofWordMilliseconds`.
    public static let proofWordsMax = 16
    /// See `proofWordsMax`.
    public static let proofWordMilliseconds: UInt64 = 1_000
    /// Bytes of the command that sends letters.
    public static let mailCommandBytesMax = 4 * 1024
    /// Attestations of one workspace that a list gives; those of who may not attest are not made lists.
    public static let attestationsListedMax = 4_096
}
