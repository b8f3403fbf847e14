extension NodeError {
    /// How a program tells one failure from another: the stable word `data.kind`.
    ///
    /// The list is closed. Numbers and words are never reused; several words may share a number
    /// where a program would do the same about them.
    public enum Kind: String, CaseIterable, Sendable {
        // The words of JSON-RPC itself.
        case parseError = "parse_error"
        case invalidRequest = "invalid_request"
        case unknownOperation = "unknown_op"
        case badRequest = "bad_request"
        case `internal` = "internal"
        // What is asked for, and by whom.
        case notFound = "not_found"
        case unknownUser = "unknown_user"
        case wrongSecret = "wrong_secret"
        case forbidden
        case sessionExpired = "session_expired"
        case locked
        case deviceRevoked = "device_revoked"
        // What stands against it.
        case duplicate
        case conflict
        case conflictVoid = "conflict_void"
        case keyReused = "key_reused"
        case transferFirst = "transfer_first"
        case defaultChannel = "default_channel"
        case tooLarge = "too_large"
        case tooMany = "too_many"
        case rateLimited = "rate_limited"
        // Other machines.
        case timeout
        case unreachable
        case pending
        case unsynced
        case inviteInvalid = "invite_invalid"
        case inviteExpired = "invite_expired"
        case inviteUsed = "invite_used"
        case codeInvalid = "code_invalid"
        case codeUndeliverable = "code_undeliverable"
        case claimChanged = "claim_changed"
        case archived
        case blobMissing = "blob_missing"
        case cursorExpired = "cursor_expired"
        case slowReader = "slow_reader"
        // This machine.
        case storageFull = "storage_full"
        case stopping
        case unsupported
        case versionMismatch = "version_mismatch"
        case insufficientCoins = "insufficient_coins"
        case unknownOrder = "unknown_order"
        case alreadyRedeemed = "already_redeemed"
        case invalidReceipt = "invalid_receipt"
        case ambiguous
        case inUse = "in_use"
        case busy
        case storeFailed = "store_failed"
        // Made by the command line only: there is nobody to answer.
        case notRunning = "not_running"
        case badConfiguration = "bad_configuration"
    }
}

extension NodeError.Kind {
    /// What the outside sees of a kind besides its word.
    struct Row {
        let code: Int
        var seed: String?
        let http: Int
        let exit: Int32
        var retry = false
    }

    /// The number in a JSON-RPC error.
    public var code: Int { row.code }
    /// The name that the first description of the product gave this failure, such as `E13`.
    public var seed: String? { row.seed }
    /// The status with which a gateway answers.
    public var httpStatus: Int { row.http }
    /// The status with which the command line ends.
    public var exitStatus: Int32 { row.exit }
    /// Whether the same request may succeed later as it is.
    public var isRetryable: Bool { row.retry }

    var row: Row {
        switch self {
        case .parseError: Row(code: -32700, http: 400, exit: 1)
        case .invalidRequest: Row(code: -32600, http: 400, exit: 1)
        case .unknownOperation: Row(code: -32601, seed: "E97", http: 404, exit: 1)
        case .badRequest: Row(code: -32602, seed: "E11", http: 400, exit: 2)
        case .internal: Row(code: -32603, seed: "E99", http: 500, exit: 70)
        case .notFound: Row(code: -32001, seed: "E13", http: 404, exit: 5)
        case .unknownUser: Row(code: -32002, seed: "E03", http: 404, exit: 5)
        case .wrongSecret: Row(code: -32003, seed: "E03", http: 401, exit: 4)
        case .forbidden: Row(code: -32004, seed: "E14", http: 403, exit: 4)
        case .sessionExpired, .locked:
            Row(code: -32005, seed: "E05", http: 401, exit: 4, retry: true)
        case .deviceRevoked: Row(code: -32006, seed: "E06", http: 401, exit: 4)
        case .duplicate: Row(code: -32007, seed: "E12", http: 409, exit: 6)
        case .conflict, .conflictVoid: Row(code: -32008, http: 409, exit: 6)
        case .keyReused: Row(code: -32009, http: 409, exit: 6)
        case .transferFirst: Row(code: -32010, seed: "E15", http: 409, exit: 6)
        case .defaultChannel: Row(code: -32011, seed: "E11", http: 409, exit: 6)
        case .tooLarge: Row(code: -32012, http: 413, exit: 1)
        case .tooMany: Row(code: -32013, http: 422, exit: 1)
        case .rateLimited: Row(code: -32014, seed: "E98", http: 429, exit: 1, retry: true)
        case .timeout: Row(code: -32015, http: 504, exit: 7, retry: true)
        case .unreachable: Row(code: -32016, http: 502, exit: 7, retry: true)
        case .pending: Row(code: -32017, http: 202, exit: 7, retry: true)
        case .unsynced: Row(code: -32018, http: 409, exit: 7, retry: true)
        default: laterRow
        }
    }

    /// The second half of the table; every kind is in one of them, which a test checks.
    private var laterRow: Row {
        switch self {
        case .inviteInvalid, .inviteExpired, .inviteUsed: Row(code: -32019, http: 410, exit: 1)
        case .codeInvalid: Row(code: -32020, seed: "11003", http: 400, exit: 1)
        case .codeUndeliverable: Row(code: -32020, seed: "11005", http: 400, exit: 1)
        case .claimChanged: Row(code: -32020, seed: "11004", http: 400, exit: 1)
        case .archived: Row(code: -32021, http: 410, exit: 1)
        case .blobMissing: Row(code: -32022, http: 503, exit: 7, retry: true)
        case .cursorExpired: Row(code: -32023, http: 410, exit: 1)
        case .slowReader: Row(code: -32024, http: 503, exit: 1, retry: true)
        case .storageFull: Row(code: -32025, http: 507, exit: 1)
        case .stopping: Row(code: -32026, http: 503, exit: 3, retry: true)
        case .unsupported, .versionMismatch: Row(code: -32027, http: 501, exit: 1)
        case .insufficientCoins: Row(code: -32028, seed: "E21", http: 402, exit: 1)
        case .unknownOrder, .alreadyRedeemed: Row(code: -32028, seed: "E81", http: 402, exit: 1)
        case .invalidReceipt: Row(code: -32028, seed: "E82", http: 402, exit: 1)
        case .ambiguous: Row(code: -32029, http: 409, exit: 5)
        case .inUse: Row(code: -32030, http: 409, exit: 6)
        case .busy: Row(code: -32031, http: 503, exit: 1, retry: true)
        case .storeFailed: Row(code: -32032, http: 500, exit: 70)
        case .notRunning: Row(code: -32033, http: 503, exit: 3, retry: true)
        case .badConfiguration: Row(code: -32034, http: 500, exit: 78)
        default: preconditionFailure("\(rawValue) has no row")
        }
    }
}
