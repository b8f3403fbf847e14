private import CSodium

/// Memory for a secret: zeroed when released, and without a way to print, compare or encode it.
///
/// A long-lived secret sits between guard pages, read-only, and is kept out of swap where the
/// system allows it. That costs some 22 µs and whole pages of the few that a process may lock,
/// so a secret that lives for one handshake or one payload takes ordinary memory instead.
///
/// `@unchecked Sendable` is sound because the bytes never change after `init`.
public final class SecretBytes: @unchecked Sendable {
    /// How long a secret is meant to live, which decides what kind of memory it gets.
    public enum Lifetime: Sendable {
        /// Guarded, locked pages: device keys, epoch keys, the Noise static key.
        case long
        /// Ordinary memory that is zeroed: ephemeral and derived keys.
        case brief
    }

    /// How many bytes the secret has.
    public let count: Int
    private let base: UnsafeMutableRawPointer
    private let lifetime: Lifetime

    /// Lends `count` zeroed bytes to `fill`, then makes them read-only.
    ///
    /// - Precondition: `count` is above zero, and is not taken from foreign bytes.
    init(count: Int, lifetime: Lifetime, fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        requireSodium()
        precondition(count > 0, "a secret without bytes")
        self.count = count
        self.lifetime = lifetime
        switch lifetime {
        case .long:
            guard let guarded = sodium_malloc(count) else {
                preconditionFailure("no memory left for secrets")
            }
            base = guarded
        case .brief:
            base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        }
        sodium_memzero(base, count)
        fill(base.bindMemory(to: UInt8.self, capacity: count))
        if lifetime == .long {
            let status = sodium_mprotect_readonly(base)
            precondition(status == 0, "a page that cannot be protected")
        }
    }

    /// Copies `bytes`. The caller's array still holds the secret: `wipe` it when it is not needed.
    public convenience init(copying bytes: [UInt8], lifetime: Lifetime = .long) {
        self.init(count: bytes.count, lifetime: lifetime) { memory in
            memory.update(from: bytes, count: bytes.count)
        }
    }

    /// Copies a part of an array, without another copy on the way.
    public convenience init(copying bytes: ArraySlice<UInt8>, lifetime: Lifetime = .long) {
        self.init(count: bytes.count, lifetime: lifetime) { memory in
            for (offset, byte) in bytes.enumerated() { memory[offset] = byte }
        }
    }

    deinit {
        switch lifetime {
        case .long:
            sodium_free(base)
        case .brief:
            sodium_memzero(base, count)
            base.deallocate()
        }
    }

    /// The secret in an ordinary array, for one purpose: to seal it at rest or to hand it to
    /// somebody who is entitled to it. `wipe` the copy as soon as it is sealed.
    public func exposedCopy() -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Zeroes `bytes`, in a way that no optimiser removes, and empties the array.
    public static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            sodium_memzero(base, memory.count)
        }
        bytes = []
    }

    /// Lends the secret to `body`. The pointer is dead once this returns.
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        body(UnsafePointer(base.assumingMemoryBound(to: UInt8.self)))
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// Says how long the secret is and nothing else, whoever prints it.
    public var description: String { "SecretBytes(\(count))" }

    /// Nothing to look into, so that `dump` stays as quiet as `print`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether libsodium started. The first use, whatever it is, starts it: before that the library
/// would answer with its slow portable code.
private let sodiumIsReady = sodium_init() >= 0

/// Starts libsodium if nothing has done so yet.
func requireSodium() {
    precondition(sodiumIsReady, "libsodium does not start on this machine")
}
