/// The letters of a signed token in its compact form (RFC 7515, 7.1).
public enum TokenText {
    /// Whether a text may be a token: 1 to `Limits.accountTokenBytesMax` letters of base64url and dots.
    ///
    /// - Parameter text: from outside.
    public static func isToken(_ text: String) -> Bool {
        (1...Limits.accountTokenBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { letter in
                switch letter {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
