import CRDTStore
import NoteText
import WorkspaceCrypto
import WorkspaceModel

/// Identifies the text of a note at one time.
struct NoteVersion: Hashable {
    /// Which edits it is made of.
    var sums: ViewStore.NoteSums
    /// Drawn with each change of what is being written here, 0 without any: a draft that was taken back, or
    /// lost with a crash, is never taken for another one.
    var drafted: UInt64 = 0

    /// `v_` and base32 of 16 bytes of a hash.
    var text: String {
        let draft = drafted > 0 ? bigEndianBytes(of: drafted) : []
        return "v_"
            + Base32.encode(
                [UInt8](Hash.personal("wsx-note-ver1", sums.bytes + draft).prefix(16)))
    }
}

/// The versions that an open note had, so that a change of an earlier one can be transformed to the
/// current text.
struct NotePast {
    /// The step from one version to the next.
    struct Step {
        /// The version before.
        let before: NoteVersion
        /// The changes, one after the other.
        let patches: [NotePatch]
        /// The removed text of each patch.
        let removed: [String]
        /// Bytes that all of that takes, about.
        let bytes: Int
    }

    /// The earliest first.
    private var steps: [Step] = []
    private var bytes = 0

    /// Notes what became of a version.
    mutating func append(
        _ before: NoteVersion, _ patches: [NotePatch], removed: [String]
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

    /// The steps since a version; `nil` where it is no longer known, or never was.
    ///
    /// - Parameters:
    ///   - version: Comes from outside.
    ///   - now: the version of today.
    func steps(since version: String, now: NoteVersion) -> ArraySlice<Step>? {
        if now.text == version { return [] }
        return steps.lastIndex { $0.before.text == version }.map { steps[$0...] }
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
