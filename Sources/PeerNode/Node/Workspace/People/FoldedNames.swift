import WorkspaceModel

/// A cache of the folded forms by which names are compared. Folding a name takes about a hundred
/// times as long as looking it up, and the indexes of channels and people fold all of their names.
///
/// They are pure functions of a name: the cache changes no answer.
struct FoldedNames {
    /// By the bytes of names: strings are equal though an accent is written another way.
    private var keys: [[UInt8]: String?] = [:]
    private var skeletons: [[UInt8]: String] = [:]

    /// How many forms are kept, of both kinds.
    var count: Int { keys.count + skeletons.count }

    /// `NameFolding.key(of:)`.
    mutating func key(of name: String) -> String? {
        let bytes = [UInt8](name.utf8)
        if let known = keys[bytes] { return known }
        let key = NameFolding.key(of: name)
        if keys.count >= Limits.foldedNamesMax { keys = [:] }
        keys.updateValue(key, forKey: bytes)
        return key
    }

    /// `NameLikeness.skeleton(of:)`.
    mutating func skeleton(of name: String) -> String {
        let bytes = [UInt8](name.utf8)
        if let known = skeletons[bytes] { return known }
        let skeleton = NameLikeness.skeleton(of: name)
        if skeletons.count >= Limits.foldedNamesMax { skeletons = [:] }
        skeletons[bytes] = skeleton
        return skeleton
    }
}
