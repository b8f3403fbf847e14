import Foundation

/// An installed program that tests use for cross-checking.
public enum Tool {
    /// Where a program lies. Where it is missing, says in the output what is not tried.
    ///
    /// - Parameter purpose: what a test wants it for, after "is not here to".
    public static func path(_ name: String, to purpose: String) -> String? {
        let path = ["/usr/bin/", "/bin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        if path == nil { print("SKIPPED: \(name) is not here to \(purpose)") }
        return path
    }
}
