import WorkspaceModel

@testable import PeerNode

extension `Every method answers with the fields of the contract` {
    /// Makes a provider known, which the other calls about accounts need.
    static let provider = Call(
        method: "account.provider.add",
        parameters: ["name": "lab", "issuer": "https://id.example.org", "client_id": "wsx"],
        fields: ResultFields.accountProvider)

    static let notesAndFiles: [Call] = [
        Call(
            method: "note.create", parameters: ["channel": "general", "title": "List"],
            fields: ResultFields.note),
        Call(
            method: "identity.email.check", parameters: ["email": "m@example.org"],
            fields: ResultFields.emailCheck),
        Call(method: "mail.command", parameters: ["command": "x"], fields: ["id", "command"]),
        provider,
        Call(
            method: "account.provider.list", fields: ResultFields.page,
            element: ResultFields.accountProvider),
        Call(
            method: "account.link", parameters: ["provider": "lab"],
            fields: ResultFields.accountClaim),
        Call(
            method: "account.provider.update", parameters: ["name": "lab", "jwks": "/keys"],
            fields: ResultFields.accountProvider),
        Call(
            method: "account.provider.remove", parameters: ["name": "lab"],
            fields: ResultFields.accountProvider),
        Call(method: "note.list", fields: ResultFields.page, element: ResultFields.note),
        Call(method: "note.get", parameters: ["note": "$note"], fields: ResultFields.noteText),
        Call(
            method: "note.get", parameters: ["note": "$note", "blocks": true, "blame": true],
            fields: ResultFields.noteText.union(["blocks", "blame"])),
        Call(
            method: "note.edit", parameters: ["note": "$note", "text": "bread"],
            fields: ResultFields.noteText),
        Call(
            method: "note.edit",
            parameters: [
                "note": "$note", "ops": [["insert": ["at": 0, "text": "x"]]], "brief": true,
            ], fields: ["id", "from", "version"]),
        Call(
            method: "note.watch", parameters: ["note": "$note"],
            fields: ["subscription", "cursor", "id", "version"]),
        Call(method: "note.cursor", parameters: ["note": "$note", "at": 0], fields: []),
        Call(
            method: "note.lock", parameters: ["note": "$note"],
            fields: ResultFields.note.union(["lock"])),
        Call(
            method: "note.unlock", parameters: ["note": "$note"],
            fields: ResultFields.note.union(["lock"])),
        Call(
            method: "note.rename", parameters: ["note": "$note", "title": "Food"],
            fields: ResultFields.note),
        Call(method: "note.delete", parameters: ["note": "$note"], fields: ResultFields.note),
        Call(
            method: "note.history", parameters: ["note": "$note"], fields: ResultFields.page,
            element: ResultFields.noteEvent),
        Call(
            method: "blob.add", parameters: ["path": "/home/plan.pdf"], fields: ResultFields.file),
        Call(method: "blob.list", fields: ResultFields.page, element: ResultFields.file),
        Call(method: "blob.stat", parameters: ["blob": "$blob"], fields: ResultFields.file),
        Call(method: "blob.fetch", parameters: ["blob": "$blob"], fields: ResultFields.file),
        Call(method: "blob.keep", parameters: ["blob": "$blob"], fields: ResultFields.file),
        Call(
            method: "blob.drop", parameters: ["blob": "$blob", "force": true],
            fields: ResultFields.file),
        Call(
            method: "blob.verify", parameters: ["blob": "$blob"],
            fields: ResultFields.file.union(["bad"])),
        Call(
            method: "blob.holders", parameters: ["blob": "$blob"], fields: ResultFields.page,
            element: ResultFields.fileHolder),
        Call(
            method: "blob.get", parameters: ["blob": "$blob", "folder": "/home", "name": "a"],
            fields: ResultFields.savedFile),
        Call(
            method: "blob.read", parameters: ["blob": "$blob", "offset": -5],
            fields: ResultFields.file.union(["offset", "bytes"])),
        Call(
            method: "blob.put", parameters: ["bytes": 0, "name": "none.txt"],
            fields: ResultFields.file),
        Call(
            method: "attachment.save", parameters: ["message": "$message", "folder": "/"],
            fields: ResultFields.savedFile),
        Call(method: "cache.stat", fields: ResultFields.cache),
        Call(method: "cache.clear", fields: ResultFields.cache.union(["cleared_bytes"])),
        Call(method: "media.list", fields: ResultFields.page, element: ResultFields.media),
        Call(
            method: "media.policy", parameters: ["kind": "image", "policy": "always"],
            fields: ResultFields.page, element: ResultFields.media),
        Call(
            method: "cache.quota", parameters: ["bytes": 5_000_000_000],
            fields: ResultFields.cache),
        Call(
            method: "cache.keep", parameters: ["period": "30d"], fields: ResultFields.cache),
    ]
}
