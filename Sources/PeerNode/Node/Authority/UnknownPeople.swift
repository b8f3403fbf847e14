import WorkspaceModel

/// A name that nobody has.
extension Memberships {
    /// So many of those whom a part of a name may mean are named.
    private static let candidatesMax = 20

    /// The failure where nobody has a name, with those who are called so by a part of theirs.
    ///
    /// A part of a name means nobody here, however few fit. But whoever typed it is to learn that it was
    /// too short, and not that there is nobody.
    ///
    /// - Parameter people: who could have been meant.
    func unknown(
        _ name: String, among people: [MemberID], in workspace: Workspace, field: String
    ) -> NodeError {
        let fitting = people.filter { PartOfName.is(name, in: workspace.displayName(of: $0)) }
        guard fitting.count > 1 else {
            let names = people.map { workspace.displayName(of: $0) }
            return .unknownUser(
                name, field: field,
                hint: Similarity.nearest(to: name, in: names)
                    .map { "did you mean \(NodeError.quoted($0))?" })
        }
        return NodeError(
            .unknownUser, "nobody here is called just \(NodeError.quoted(name))",
            hint: "\(fitting.count) people fit: give the full name of one, or the id",
            reason: "member.not_found", fields: [.init(name: field, reason: "not_found")],
            details: [
                "candidates": .array(
                    fitting.prefix(Self.candidatesMax).map {
                        person($0, in: workspace).json
                    })
            ])
    }
}
