import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The validated values for a new identity.
struct IdentityStart {
    let name: String
    /// Whether it gets a recovery phrase.
    let hasRecovery: Bool
    /// The profile in each workspace that the person joins.
    let profile: [ProfileChange.Field: String]
}

/// The profile that a person has set before joining a workspace: it is copied into each one that
/// they create or join, with each field shown or hidden by its default.
extension Profiles {
    private static let startProfileName = "profile.start"

    /// Keeps it sealed: it is on this device alone, like what is hidden in a profile.
    ///
    /// - Parameter changes: new values, and `nil` for fields to clear.
    func keepStartProfile(_ changes: [ProfileChange.Field: String?]) throws(StorageError) {
        guard home != nil, !changes.isEmpty else { return }
        let values = try startProfile().merging(changes.compactMapValues { $0 }) { $1 }
            .filter { field, _ in changes[field] != .some(nil) }
        var fields = JSONObject()
        for field in ProfileChange.Field.allCases {
            fields[field.word] = values[field].map { .string($0) }
        }
        try setSealedValue(JSONValue.object(fields).bytes, of: Self.startProfileName)
    }

    /// The values that were set beforehand, by field.
    func startProfile() throws(StorageError) -> [ProfileChange.Field: String] {
        guard let bytes = try sealedValue(Self.startProfileName),
            let fields = try? JSONValue(parsing: bytes)
        else { return [:] }
        var values: [ProfileChange.Field: String] = [:]
        for field in ProfileChange.Field.allCases {
            values[field] = fields[field.word]?.stringValue
        }
        return values
    }

    /// The profile of somebody who is in no workspace yet.
    func startObject() throws(StorageError) -> ProfileObject {
        var object = ProfileObject(
            id: home.map { PublicID.device($0.device) } ?? "", workspace: nil,
            name: home?.name ?? "")
        object.isSelf = true
        object.values = try startProfile()
        return object
    }

    /// Puts it into the profile of a workspace that this home is new in. A guest has no profile there.
    func introduce(in workspace: Workspace) throws(StorageError) {
        let values = try startProfile()
        guard !values.isEmpty, workspace.ownRole ?? .guest <= .member else { return }
        let edit = ProfileEditDraft(name: nil, nickname: nil, values: values, shown: [], hidden: [])
        do throws(NodeError) { _ = try editProfile(edit, in: workspace) } catch {
            if let failure = turn.failure { throw failure }
            // Another device of theirs has said more, or the role allows none: that stays.
            turn.emit(.log(.info, "profile.kept \(error.reason ?? "")"))
        }
    }

    /// Tells a workspace that this home has just come into what its device is called, where
    /// somebody has said so, or the machine has a name.
    func nameDevice(_ chosen: String? = nil, in workspace: Workspace) throws(StorageError) {
        guard let home, let name = chosen ?? environment.deviceName else { return }
        _ = try authorProfile(.device(home.device, name: name), in: workspace)
    }
}
