/// Whether bytes are one item of the profile, regardless of its meaning.
///
/// For operations of kinds that this version does not know: they are stored and relayed, so they
/// must be well-formed, and nothing else is required of them.
public enum CBORValidation {
    /// Fails unless `bytes` are exactly one item of the profile.
    public static func check(_ bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.skipItem()
        try decoder.finish()
    }
}
