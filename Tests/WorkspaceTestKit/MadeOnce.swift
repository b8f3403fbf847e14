import Foundation

/// What the cases of several tests ask for by the same seeds, each made once. A campaign goes through
/// very many seeds: nothing is kept there.
///
/// `@unchecked Sendable` is right since the lock guards all that changes.
public final class MadeOnce<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [UInt64: Value] = [:]
    private let keeps = !Seeds.isCampaign
    private let make: @Sendable (UInt64) -> Value

    /// - Parameter make: makes the value of a seed, always the same one.
    public init(_ make: @escaping @Sendable (UInt64) -> Value) { self.make = make }

    /// The value of a seed.
    public subscript(seed: UInt64) -> Value {
        guard keeps else { return make(seed) }
        if let known = lock.withLock({ values[seed] }) { return known }
        let value = make(seed)
        lock.withLock { values[seed] = value }
        return value
    }
}
