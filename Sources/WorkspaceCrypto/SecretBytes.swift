private import CSodium

/// Memory for a secret: zeroed when released, and without a way to print, compare or encode it.
///
/// A long-lived secret takes a slot of the process's one arena, which `SecretArena` describes: guarded
/// as a whole, read-only, and kept out of swap where the system allows it. That costs two calls of
/// the kernel, so a secret that lives for one handshake or one payload takes ordinary memory.
///
/// Where the arena has no free slot, or the secret does not fit into one, a long-lived secret takes
/// ordinary memory too, zeroed when released like any other. Throwing would be worse: every
/// initializer of a key would have to pass the error on, and a peer that makes a node hold very
/// many keys could starve it of the keys it needs to start. The holders of other people's keys
/// bound how many are in memory; `usage` tells how many found no slot.
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
    private let base: UnsafeMutablePointer<UInt8>
    private let memory: Memory

    private enum Memory {
        case slot(SecretArena.Slot, of: SecretArena)
        case ordinary
        /// Ordinary memory for want of a slot.
        case outside(of: SecretArena)
    }

    /// Lends `count` zeroed bytes to `fill`, which must take no other secret. The bytes never
    /// change afterwards.
    ///
    /// - Precondition: `count` is above zero, and does not come from outside.
    init(
        count: Int, lifetime: Lifetime, in arena: SecretArena = .shared,
        fill: (UnsafeMutablePointer<UInt8>) -> Void
    ) {
        requireSodium()
        precondition(count > 0, "a secret without bytes")
        self.count = count
        if lifetime == .long, let slot = arena.take(count, fill: fill) {
            memory = .slot(slot, of: arena)
            base = slot.base
            return
        }
        memory = lifetime == .long ? .outside(of: arena) : .ordinary
        base = UnsafeMutablePointer.allocate(capacity: count)
        sodium_memzero(base, count)
        fill(base)
        if lifetime == .long { arena.noteOutside(1) }
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
        if case .slot(let slot, let arena) = memory { return arena.giveBack(slot) }
        sodium_memzero(base, count)
        base.deallocate()
        if case .outside(let arena) = memory { arena.noteOutside(-1) }
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
        body(UnsafePointer(base))
    }
}

extension SecretBytes {
    /// How much memory the long-lived secrets of the process take.
    public struct Usage: Sendable, Equatable {
        /// Secrets in the arena.
        public let slots: Int
        /// Guarded pieces of 64 KiB that the arena has made.
        public let chunks: Int
        /// Long-lived secrets in ordinary memory, because they are long or the arena was full.
        public let outside: Int
    }

    /// How full the arena is now.
    public static var usage: Usage { SecretArena.shared.usage }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// Shows the length only, so that printing a secret never leaks it.
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
