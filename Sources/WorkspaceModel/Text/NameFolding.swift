/// Compares names as people do: without regard to case or to how an accent is encoded.
///
/// For finding and for warning of twins on this machine only. Nothing that two nodes must agree
/// on may use it, because case tables grow with Unicode.
public enum NameFolding {
    /// A key that names have in common when they differ in case or normalisation only.
    ///
    /// Compare keys with `==`, which is canonical equivalence; their bytes may differ.
    ///
    /// - Returns: `nil` for a text longer than any name: comparing one could take very long.
    public static func key(of name: String) -> String? {
        guard name.utf8.count <= Limits.nameBytesMax else { return nil }
        if let key = plainKey(of: name) { return key }
        var key = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            // To upper case first: only so do the two small sigmas meet, or ß and SS.
            for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                key.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return String(key)
    }

    /// The key of a name of ASCII alone, where case is one bit: no table has to be asked.
    private static func plainKey(of name: String) -> String? {
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return name.lowercased()
    }

    /// Whether somebody who types one of the names may mean the other.
    public static func matches(_ left: String, _ right: String) -> Bool {
        guard let left = key(of: left), let right = key(of: right) else { return false }
        return left == right
    }
}
