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

    // MARK: Accounts

    /// How long a member has to bring a token: providers ask for passwords and second factors first.
    public static let accountClaimMilliseconds: UInt64 = 60 * 60 * 1_000
    /// When a token that nobody took or refused is shown to the same verifiers again. In an hour that is less
    /// often than with a token of its own each time.
    public static let accountRetryMilliseconds: UInt64 = 5 * 60 * 1_000
    /// Accounts that the owner of a node links at one time.
    public static let accountClaimsMax = 16
    /// A token in its compact form, in bytes: those with many groups in them have 8 KiB.
    public static let accountTokenBytesMax = 16 * 1024
    /// The public keys of a provider, as the file that has them: those of the large ones have 4 KiB.
    public static let tokenKeySetBytesMax = 64 * 1024
    /// Keys in such a file: providers have two or three at one time.
    public static let tokenKeysMax = 32
    /// Whom a token is about, in bytes: as long as OpenID Connect lets it be.
    public static let tokenSubjectBytesMax = 255
    /// How far the clocks of a provider and a verifier may differ.
    public static let tokenLeewayMilliseconds: UInt64 = 2 * 60 * 1_000
    /// How old a token may be: a person who has just logged in has a new one.
    public static let tokenAgeMillisecondsMax: UInt64 = 24 * 60 * 60 * 1_000
    /// Tokens of one member that a verifier checks in an hour; each is a process.
    public static let tokensOfOneHourly = 10
    /// Tokens that a node checks in an hour.
    public static let tokensHourly = 60
    /// Tokens that wait to be checked, or are.
    public static let tokenChecksMax = 16
    /// Memory of the process that checks a token: OpenSSL and the largest token take 40 MiB of it.
    public static let tokenCheckMemoryBytes = 512 * 1024 * 1024
    /// Seconds of processing time that it has: a signature takes a thousandth of one.
    public static let tokenCheckSeconds = 5
    /// What it is given, and what it says, in bytes.
    public static let tokenQuestionBytesMax = 64 * 1024
    /// Providers that one node knows.
    public static let accountProvidersMax = 32
    /// An address in the settings of a provider, in bytes.
    public static let providerAddressBytesMax = 512
    /// A client id, in bytes: those of the large providers have 72.
    public static let providerClientBytesMax = 255
    /// The path of a file with keys, in bytes: as long as the kernel takes one.
    public static let providerPathBytesMax = 4_095
    /// What a browser brings back from a login, and what a token endpoint answers, in bytes.
    public static let loginBytesMax = 64 * 1024
    /// How long a login in a browser is waited for.
    public static let loginMilliseconds: UInt64 = 10 * 60 * 1_000
    /// How long a visitor of its port may say nothing meanwhile.
    public static let loginVisitorMilliseconds: UInt64 = 5_000
    /// Accounts that a profile shows.
    public static let accountsShownMax = 16
}
