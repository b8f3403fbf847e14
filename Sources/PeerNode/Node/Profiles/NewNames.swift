public import WorkspaceModel

/// Validates names that are given here, so that typing a name finds what it names.
///
/// These rules do not affect an operation's validity: a name that others have given stays, and a
/// channel is found by it. A person with a name that could not be given here is shown under it, but
/// found by id only: people choose their own names, a modified program writes any, and such a name
/// must not take the meaning of a keyword, a list or another name.
public enum NewNames {
    /// The words that mention everybody in the channel. `@here` is one of them, since a node does
    /// not know who is online now.
    static let everybody = ["channel", "everyone", "here"]

    /// A channel's name. A leading `#` is only a way to type it, and not part of it.
    static func channel(_ typed: String, field: String) throws(NodeError) -> String {
        try signed("#", typed, field: field)
    }

    /// A person's name. An `@` in front is the sign that people write before it.
    ///
    /// - Parameter field: what the failure calls it.
    /// - Throws: `bad_request` for a name that nobody can be given here.
    public static func person(_ typed: String, field: String) throws(NodeError) -> String {
        let name = try signed("@", typed, field: field)
        let own = everybody + [Workspace.oneself]
        guard !own.contains(where: { NameFolding.matches($0, name) }) else {
            throw .badName("\(NodeError.quoted(name)) has another meaning in '@\(name)'", field)
        }
        guard !name.utf8.contains(UInt8(ascii: ",")) else {
            throw .badName("a name cannot contain a comma, which separates people", field)
        }
        return name
    }

    /// Whether a person could be given exactly this name here.
    static func isPerson(_ name: String) -> Bool {
        (try? person(name, field: "name")) == name
    }

    /// A name that somebody gives to something here.
    static func plain(_ typed: String, field: String) throws(NodeError) -> String {
        do throws(TextProblem) {
            return try CheckedName(authored: typed).text
        } catch {
            throw .badText(error, field: field, hint: nil, reason: "bad_name")
        }
    }

    /// A name that people type with a prefix, which is not part of it.
    private static func signed(
        _ sign: Unicode.Scalar, _ typed: String, field: String
    ) throws(NodeError) -> String {
        let name = try plain(withoutSign(sign, typed), field: field)
        guard let first = name.utf8.first, !"#@".utf8.contains(first) else {
            throw .badName("a name cannot start with '#' or '@'", field)
        }
        guard !isLikeIdentifier(name, ["c_", "u_"]) else {
            throw .badName("a name cannot look like an id", field)
        }
        return name
    }

    /// A workspace's name.
    ///
    /// - Parameter field: what the failure calls it.
    /// - Throws: `bad_request` for a name that no workspace can be given here.
    public static func workspace(_ typed: String, field: String) throws(NodeError) -> String {
        let name = try plain(typed, field: field)
        guard !isLikeIdentifier(name, ["w_"]) else {
            throw .badName("a name cannot look like an id", field)
        }
        return name
    }

    private static func withoutSign(_ sign: Unicode.Scalar, _ typed: String) -> String {
        let scalars = typed.unicodeScalars
        let rest = scalars.drop { $0.properties.isWhitespace }
        return rest.first == sign ? String(rest.dropFirst()) : typed
    }

    /// Whether a reference would take a name for an id, however its letters are written.
    private static func isLikeIdentifier(_ name: String, _ prefixes: [String]) -> Bool {
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
