import WorkspaceModel

/// What names are compared by, once it was worked out. To fold a name takes some hundred times as
/// long as to look it up, and what finds channels and people is made of all of their names.
///
/// Pure functions of a name: what is kept here changes no answer.
struct FoldedNames {
    private var keys: [String: String?] = [:]
    private var skeletons: [String: String] = [:]

    /// `NameFolding.key(of:)`.
    mutating func key(of name: String) -> String? {
        if let known = keys[name] { return known }
        let key = NameFolding.key(of: name)
        if keys.count >= Limits.foldedNamesMax { keys = [:] }
        keys.updateValue(key, forKey: name)
        return key
    }

    /// `NameLikeness.skeleton(of:)`.
    mutating func skeleton(of name: String) -> String {
        if let known = skeletons[name] { return known }
        let skeleton = NameLikeness.skeleton(of: name)
        if skeletons.count >= Limits.foldedNamesMax { skeletons = [:] }
        skeletons[name] = skeleton
        return skeleton
    }
}
