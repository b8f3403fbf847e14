import CRDTStore
import WorkspaceModel

/// Implements the commands about profiles.
final class PersonHandler: CorePart, PersonCommands {
    func profile(
        of reference: MemberReference?, _ scope: CallScope
    ) throws(NodeError) -> ProfileObject {
        if reference == nil, home != nil, scope.workspace == nil, workspaces.isEmpty {
            return try stored { () throws(StorageError) in try core.profiles.startObject() }
        }
        let workspace: Workspace = try core.queries.workspace(scope)
        guard let reference else {
            return try core.profiles.profile(of: workspace.member, in: workspace)
        }
        return try core.profiles.profile(
            of: core.queries.person(reference, in: workspace, orRemoved: true, orFormerly: true),
            in: workspace)
    }

    func editProfile(
        _ edit: ProfileEditDraft, _ scope: CallScope
    ) throws(NodeError) -> ProfileObject {
        if let home, scope.workspace == nil, workspaces.isEmpty {
            return try editStartProfile(edit, of: home)
        }
        return try core.profiles.editProfile(edit, in: try core.queries.workspace(scope))
    }

    /// Before there is a workspace: what is said here goes into each one that this home comes into.
    private func editStartProfile(
        _ edit: ProfileEditDraft, of home: HomeIdentity
    ) throws(NodeError) -> ProfileObject {
        let (name, values) = try core.profiles.checked(edit)
        guard name == nil || name == home.name, edit.shown.isEmpty, edit.hidden.isEmpty else {
            throw NodeError(
                .conflict,
                "your name, and who sees what, can be changed once you are in a workspace",
                hint: "wsx-node up --workspace NAME, or wsx-node join LINK",
                reason: "workspace.none")
        }
        return try stored { () throws(StorageError) in
            try core.profiles.keepStartProfile(values)
            return try core.profiles.startObject()
        }
    }

    func setProfileImage(
        _ image: String, _ scope: CallScope
    ) throws(NodeError) -> ProfileObject {
        let text = try core.files.pictureChoice.text(image)
        guard !Picture.isBlob(text) || !workspaces.isEmpty else {
            throw NodeError(
                .conflict, "a picture of your own can be set once you are in a workspace",
                hint: "wsx-node up --workspace NAME, or wsx-node join LINK",
                reason: "workspace.none")
        }
        let object = try editProfile(
            ProfileEditDraft(
                name: nil, nickname: nil, values: [.image: text],
                // No device would keep the file of a picture that nobody sees.
                shown: Picture.isBlob(text) ? [.image] : [], hidden: []), scope)
        core.files.drafts.sent([image])
        return object
    }
}
