/// Sizes for people: the one form in which node and command line say how many bytes there are.
public enum ByteText {
    /// Such as `900 B`, `12.4 kB` or `1.0 GB`: powers of ten, as for disks.
    public static func text(_ bytes: Int64) -> String {
        guard bytes >= 1_000 else { return "\(max(bytes, 0)) B" }
        var unit: Int64 = 1_000
        var name = "kB"
        for larger in ["MB", "GB", "TB"] where bytes / 1_000 >= unit {
            unit *= 1_000
            name = larger
        }
        let tenths = bytes / (unit / 10)
        return "\(tenths / 10).\(tenths % 10) \(name)"
    }
}
