/// The contents of large files. They are made here because tests are built without optimising.
public enum MadeUpBytes {
    /// The same bytes for the same seed, in which nothing repeats itself soon.
    public static func of(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed | 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }
}
