import WorkspaceModel

/// Names that are given here, so that whoever types one reaches what it names.
///
/// These rules are no part of an operation's validity: what others called something stays, and is
/// found under that name.
extension NodeCore {
    /// A channel's name. A `#` in front is the sign that people write before it, and no part of it.
    func checkedChannel(_ typed: String, field: String) throws(NodeError) -> String {
        try checked("#", typed, field: field)
    }

    /// A person's name. An `@` in front is the sign that people write before it.
    func checkedPerson(_ typed: String, field: String) throws(NodeError) -> String {
        let name = try checked("@", typed, field: field)
        let own = MentionFinder.everybody + [Workspace.oneself]
        guard !own.contains(where: { NameFolding.matches($0, name) }) else {
            throw .badName("\(NodeError.quoted(name)) means somebody else in '@\(name)'", field)
        }
        return name
    }

    /// A name that people write with a sign before it, which is no part of it.
    private func checked(
        _ sign: Unicode.Scalar, _ typed: String, field: String
    ) throws(NodeError) -> String {
        let name = try checked(withoutSign(sign, typed), field: field)
        guard let first = name.utf8.first, !"#@".utf8.contains(first) else {
            throw .badName("a name does not begin with '#' or '@'", field)
        }
        guard !isLikeIdentifier(name, ["c_", "u_"]) else {
            throw .badName("a name does not look like an id", field)
        }
        return name
    }

    /// A workspace's name.
    func checkedWorkspace(_ typed: String, field: String) throws(NodeError) -> String {
        let name = try checked(typed, field: field)
        guard !isLikeIdentifier(name, ["w_"]) else {
            throw .badName("a name does not look like an id", field)
        }
        return name
    }

    private func withoutSign(_ sign: Unicode.Scalar, _ typed: String) -> String {
        let scalars = typed.unicodeScalars
        let rest = scalars.drop { $0.properties.isWhitespace }
        return rest.first == sign ? String(rest.dropFirst()) : typed
    }

    /// Whether a reference would take a name for an id, however its letters are written.
    private func isLikeIdentifier(_ name: String, _ prefixes: [String]) -> Bool {
        let lower = String(
            decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        return prefixes.contains { isIdentifier(lower, prefix: $0) }
    }
}

extension NodeError {
    fileprivate static func badName(_ sentence: String, _ field: String) -> NodeError {
        NodeError(
            .badRequest, "'\(field)': \(sentence)", hint: "choose another name",
            reason: "bad_name", fields: [.init(name: field, reason: "form")])
    }
}
