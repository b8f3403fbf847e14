import CRDTStore
import NoteText
import WorkspaceCrypto
import WorkspaceModel

/// The versions that an open note had, so that a change of an earlier one can be carried on to the text
/// of today.
struct NotePast {
    /// What made one version out of the one before.
    struct Step {
        /// The version before.
        let before: ViewStore.NoteSums
        /// What changed, one after the other.
        let patches: [NotePatch]
        /// Of each patch the text that went.
        let removed: [String]
        /// Bytes that all of that takes, about.
        let bytes: Int
    }

    /// The earliest first.
    private var steps: [Step] = []
    private var bytes = 0

    /// `v_` and base32 of 16 bytes of a hash of which edits there are.
    static func version(of sums: ViewStore.NoteSums) -> String {
        "v_" + Base32.encode([UInt8](Hash.personal("wsx-note-ver1", sums.bytes).prefix(16)))
    }

    /// Notes what became of a version.
    mutating func append(
        _ before: ViewStore.NoteSums, _ patches: [NotePatch], removed: [String]
    ) {
        let size = zip(patches, removed).reduce(128) {
            $0 + 64 + $1.0.inserted.utf8.count + $1.1.utf8.count
        }
        steps.append(Step(before: before, patches: patches, removed: removed, bytes: size))
        bytes += size
        while steps.count >= Limits.noteVersionsMax || bytes > Limits.noteVersionBytesMax,
            let first = steps.first
        {
            bytes -= first.bytes
            steps.removeFirst()
        }
    }

    /// What happened since a version; `nil` where it is not known any more, or never was.
    ///
    /// - Parameters:
    ///   - version: Comes from outside.
    ///   - now: the version of today.
    func steps(since version: String, now: ViewStore.NoteSums) -> ArraySlice<Step>? {
        if Self.version(of: now) == version { return [] }
        return steps.lastIndex { Self.version(of: $0.before) == version }.map { steps[$0...] }
    }

    /// The text of an earlier version.
    ///
    /// - Parameter text: that of today.
    static func text(before steps: ArraySlice<Step>, from text: String) -> String? {
        var patches: [NotePatch] = []
        for step in steps.reversed() {
            for (patch, removed) in zip(step.patches, step.removed).reversed() {
                patches.append(
                    NotePatch(at: patch.at, deleted: patch.insertedCount, inserted: removed))
            }
        }
        return patches.isEmpty ? text : NotePatch.apply(patches, to: text)
    }
}
