import CRDTStore
import WorkspaceModel

/// A member's own profile: what others see of it, and what stays on their own devices.
extension Profiles {
    func profile(
        of member: MemberID, in workspace: Workspace
    ) throws(NodeError) -> ProfileObject {
        var object = ProfileObject(
            id: PublicID.member(member), workspace: PublicID.workspace(workspace.id),
            name: workspace.displayName(of: member))
        object.values = workspace.shownFields(of: member)
        object.verified = verifiedEmail(of: member, in: workspace)
        object.unverified = unverifiedEmail(of: member, in: workspace)
        object.accounts = linkedAccounts(of: member, in: workspace)
        object.presence = core.presence.presence(of: member, in: workspace)
        guard member == workspace.member else { return object }
        object.isSelf = true
        for field in ProfileChange.Field.allCases {
            let state = try state(of: field, in: workspace)
            object.values[field] = field == .image ? Picture.shown(state.value) : state.value
            object.visible[field] = state.isShown ? "workspace" : "nobody"
        }
        return object
    }

    // MARK: Who sees what

    /// The state of one field of the member's own profile.
    private struct FieldState: Equatable {
        /// The value that everybody here can see.
        var published: String?
        /// The value that only this person's devices have.
        var kept: String?
        /// Whether it is shown, or would be.
        var isShown: Bool

        var value: String? { published ?? kept }
    }

    private func state(
        of field: ProfileChange.Field, in workspace: Workspace
    ) throws(NodeError) -> FieldState {
        let published = workspace.people.fields[workspace.member]?[field]
        let setting = HiddenField(
            setting: try core.own.storedPreference(field.setting, in: workspace))
        // A published value is visible, whatever another device has written into a setting.
        return FieldState(
            published: published, kept: published == nil ? setting.value : nil,
            isShown: published != nil || setting.isShown ?? field.isShownByDefault)
    }

    // MARK: Changing

    func editProfile(
        _ edit: ProfileEditDraft, in workspace: Workspace
    ) throws(NodeError) -> ProfileObject {
        let (name, values) = try checked(edit)
        try core.membership.requireMember(of: workspace)
        var changes: [(field: ProfileChange.Field, before: FieldState, after: FieldState)] = []
        for field in ProfileChange.Field.allCases {
            let before = try state(of: field, in: workspace)
            var after = before
            if edit.shown.contains(field) { after.isShown = true }
            if edit.hidden.contains(field) { after.isShown = false }
            let value = values[field] ?? before.value
            if field == .image, !after.isShown, let value, Picture.isBlob(value) {
                throw NodeError(
                    .badRequest, "a picture of your own cannot be hidden",
                    hint: "remove it: wsx-node profile picture clear", reason: "picture.hidden",
                    fields: [.init(name: "hide", reason: "form")])
            }
            after.published = after.isShown ? value : nil
            after.kept = after.isShown ? nil : value
            changes.append((field, before, after))
        }
        for (field, before, after) in changes where field == .email && before != after {
            try core.sink.refuseEmailEdit(
                from: before.published, to: after.published, in: workspace)
        }
        let newName = name.flatMap { $0 == workspace.displayName(of: workspace.member) ? nil : $0 }
        // All or nothing: once something is written nothing is refused any more.
        if newName != nil { try refuseOverruled(.name, in: workspace) }
        for change in changes where change.before != change.after {
            try refuseOverruled(.field(change.field), in: workspace)
            try core.own.refuseOverruled(
                core.own.place(ofPreference: change.field.setting, in: workspace), in: workspace)
        }
        if let newName { try sayOfOneself(.profile(name: newName), in: workspace) }
        for (field, before, after) in changes {
            try change(field, from: before, to: after, in: workspace)
        }
        try stored { () throws(StorageError) in try core.sink.settleRedactions() }
        return try profile(of: workspace.member, in: workspace)
    }

    /// The stored form of every field; the outer `nil` for fields that do not change.
    func checked(
        _ edit: ProfileEditDraft
    ) throws(NodeError) -> (name: String?, values: [ProfileChange.Field: String?]) {
        var problems: [(field: NodeError.Field, sentence: String)] = []
        func note(_ field: String, _ reason: String, _ sentence: String) {
            problems.append((.init(name: field, reason: reason), sentence))
        }
        var name: String?
        for (field, typed) in [("name", edit.name), ("nickname", edit.nickname)] {
            guard let typed else { continue }
            do throws(NodeError) {
                let text = try NewNames.person(typed, field: field)
                if let name, name != text {
                    note(field, "form", "'name' and 'nickname' are the same and must not differ")
                }
                name = text
            } catch {
                note(field, error.fields.first?.reason ?? "form", error.message)
            }
        }
        var values: [ProfileChange.Field: String?] = [:]
        for field in ProfileChange.Field.allCases {
            guard let typed = edit.values[field] else { continue }
            do throws(ProfileText.InvalidForm) {
                values[field] = .some(try ProfileText.checked(typed, for: field))
            } catch {
                note(field.word, error.rawValue, Self.sentence(about: field, error))
            }
        }
        if let field = edit.shown.first(where: { edit.hidden.contains($0) }) {
            note("show", "form", "'\(field.word)' cannot be both shown and hidden")
        }
        guard problems.isEmpty else {
            throw NodeError(
                .badRequest, problems.map(\.sentence).joined(separator: "; "),
                hint: "wsx-node help profile set", reason: "bad_profile",
                fields: problems.map(\.field))
        }
        return (name, values)
    }

    /// The requirements for a field, for people.
    private static func sentence(
        about field: ProfileChange.Field, _ invalidForm: ProfileText.InvalidForm
    ) -> String {
        let rule: String
        switch (field, invalidForm) {
        case (.email, .tooLong): rule = "can have at most 254 bytes"
        case (_, .tooLong): rule = "can have at most \(Limits.profileFieldBytesMax) bytes"
        case (.description, .form): rule = "can have no control characters except line breaks"
        case (.country, .form):
            rule = "can have at most \(Limits.nameCharactersMax) characters, all visible"
        case (.phone, .form):
            rule = "must be '+' and 8 to 15 digits, or 10 or 11 digits that start with 01"
        case (.email, .form): rule = "must be an address such as mina@example.org"
        case (.image, .form): rule = "must be the number of a picture"
        }
        return "'\(field.word)' \(rule)"
    }

    /// A hidden value is stored before its public one is removed, so that it is never lost.
    private func change(
        _ field: ProfileChange.Field, from before: FieldState, to after: FieldState,
        in workspace: Workspace
    ) throws(NodeError) {
        let isDefault = after.isShown == field.isShownByDefault && after.kept == nil
        let setting = isDefault ? nil : HiddenField(isShown: after.isShown, value: after.kept).text
        if try core.own.storedPreference(field.setting, in: workspace) != setting, before != after {
            try core.own.keep(.preference(field.setting, value: setting), in: workspace)
        }
        if after.published != before.published {
            try sayOfOneself(
                .profileField(ProfileChange(field, after.published)), in: workspace)
        }
        if after.published == nil { try erase(field, in: workspace) }
        if field == .email, before != after {
            try core.sink.emailEdited(
                from: before.published, to: after.published, in: workspace)
        }
    }

    /// Erases the bytes of all values that a field ever had, everywhere.
    private func erase(
        _ field: ProfileChange.Field, in workspace: Workspace
    ) throws(NodeError) {
        let place = ProfileRegisters.Place(member: workspace.member, subject: .field(field))
        let words = workspace.people.registers.values(place)
        guard !words.isEmpty else { return }
        let isWritten = try stored { () throws(StorageError) in
            var targets: [OperationReference] = []
            for word in words {
                try store.operations.operation(word.arrival).map { targets.append($0.reference) }
            }
            return try core.sink.redactOwn(targets, in: workspace.profileDocument, of: workspace)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }
}

/// What only this person's devices store about a field: whether others see it, and its value where
/// they do not.
struct HiddenField {
    /// `nil` where nothing was chosen.
    let isShown: Bool?
    let value: String?

    init(isShown: Bool, value: String?) {
        self.isShown = isShown
        self.value = value
    }

    /// From the value of a setting; a malformed one is no choice.
    init(setting text: String?) {
        guard let text else {
            (isShown, value) = (nil, nil)
            return
        }
        let hidden = "nobody:"
        switch text {
        case "workspace": (isShown, value) = (true, nil)
        case "nobody": (isShown, value) = (false, nil)
        case _ where text.hasPrefix(hidden) && text.utf8.count > hidden.utf8.count:
            (isShown, value) = (false, String(text.dropFirst(hidden.count)))
        default: (isShown, value) = (nil, nil)
        }
    }

    /// The value of the setting.
    var text: String {
        isShown == true ? "workspace" : value.map { "nobody:" + $0 } ?? "nobody"
    }
}

extension ProfileChange.Field {
    /// The setting in an own document that stores what others do not see.
    var setting: String { "profile." + word }

    /// Whether others see it by default.
    var isShownByDefault: Bool { self != .phone }
}

extension Workspace {
    /// What this person may see of a member. Guests see only names, and nobody sees the key of a
    /// picture.
    func shownFields(of member: MemberID) -> [ProfileChange.Field: String] {
        guard ownRole != .guest, var fields = people.fields[member] else { return [:] }
        fields[.image] = Picture.shown(fields[.image])
        return fields
    }
}
