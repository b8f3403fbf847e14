import WorkspaceModel

/// Errors for a name that matches nobody.
extension Memberships {
    /// How many of the people are listed whose names contain the given part.
    private static let candidatesMax = 20

    /// The error when no person has a name, with the people whose names contain it.
    ///
    /// A part of a name identifies nobody, even if it fits only one person. But the caller should
    /// learn that it was too short, and not that it fits nobody.
    ///
    /// - Parameter people: the people who could have been meant.
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
