extension [UInt8] {
    /// The `count` bytes that `body` wrote, or `nil` when it returned a status other than zero.
    ///
    /// Every libsodium call that makes bytes goes through here: no memory is zeroed just to be
    /// overwritten, and no status is lost.
    init?(count: Int, writtenBy body: (UnsafeMutablePointer<UInt8>) -> Int32) {
        var status: Int32 = -1
        // One byte at least, so that there is an address to hand on.
        self.init(unsafeUninitializedCapacity: Swift.max(count, 1)) { memory, initializedCount in
            guard let base = memory.baseAddress else { return }
            status = body(base)
            initializedCount = status == 0 ? count : 0
        }
        guard status == 0 else { return nil }
    }

    /// The `count` bytes that `body` wrote.
    ///
    /// - Precondition: `body` cannot fail with arguments of ours.
    init(count: Int, surelyWrittenBy body: (UnsafeMutablePointer<UInt8>) -> Int32) {
        guard let bytes = Self(count: count, writtenBy: body) else {
            preconditionFailure("libsodium refused what it cannot refuse")
        }
        self = bytes
    }
}
