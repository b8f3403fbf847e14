/// The fields of section 4.9, with the additions of 4.0.3 and 4.0.7, as the design lists them.
enum ResultFields {
    static let session: Set<String> = [
        "state", "locked", "passphrase", "passcode", "relaying", "retry_ms", "wiped",
    ]
    static let person: Set<String> = ["id", "name"]
    static let check: Set<String> = [
        "ok", "operations", "rows", "problem_count", "problems", "repaired", "missing", "files",
    ]
    static let workspace: Set<String> = [
        "id", "name", "description", "image", "role", "owner", "members", "channels", "selected",
        "created_at", "digest", "deleted", "removed_at", "address", "successor", "acknowledged",
        "state", "removed_by", "removed_how", "note", "messages",
    ]
    static let channel: Set<String> = [
        "id", "workspace", "name", "kind", "private", "default", "description", "topic", "owner",
        "members", "people", "joined", "archived", "history", "unread", "mentions", "last",
        "created_at", "admins", "muted", "muted_until", "notify", "image", "copies",
    ]
    static let reading: Set<String> = [
        "id", "name", "unread", "mentions", "message", "last", "first",
    ]
    static let notice: Set<String> = ["id", "level", "command"]
    static let preference: Set<String> = ["id", "setting", "value"]
    static let member: Set<String> = [
        "id", "name", "role", "self", "devices", "joined_at", "removed", "removed_at", "presence",
        "kept", "ended_invites", "open_invites", "kept_invites", "description", "country", "phone",
        "email", "image",
    ]
    static let profile: Set<String> = [
        "id", "workspace", "name", "self", "description", "country", "phone", "email", "image",
        "visible", "presence", "email_verified",
    ]
    static let presence: Set<String> = [
        "id", "name", "self", "state", "text", "emoji", "until",
    ]
    static let message: Set<String> = [
        "id", "workspace", "channel", "author", "at", "text", "format", "thread", "replies",
        "edited_at", "deleted", "reactions", "attachments", "location", "mentions",
        "mentions_channel", "pinned", "self", "bot", "state", "holders", "version",
    ]
    static let note: Set<String> = [
        "id", "workspace", "channel", "title", "author", "created_at", "edited_at", "edited_by",
        "deleted",
    ]
    static let noteText = note.union([
        "version", "text", "length", "complete", "next", "participants", "lock",
    ])
    static let noteEvent: Set<String> = ["id", "action", "by", "at", "valid", "title", "added"]
    static let starredMessage = message.union(["starred_at"])
    static let reminder: Set<String> = [
        "id", "workspace", "channel", "channel_name", "message", "preview", "text", "at", "state",
        "created_at",
    ]
    static let invite: Set<String> = [
        "id", "link", "code", "qr_text", "role", "uses", "used", "expires_at", "channels",
        "approve", "state", "created_by",
    ]
    static let request: Set<String> = [
        "id", "name", "member", "device", "invite", "at", "state", "note",
    ]
    static let policy: Set<String> = [
        "id", "who_may_invite", "who_may_attest", "join", "address", "attachments",
    ]
    static let emailCheck: Set<String> = ["id", "email", "state", "member", "note"]
    static let emailClaim: Set<String> = ["id", "email", "state", "verifier", "expires_at"]
    static let accountProvider: Set<String> = [
        "id", "name", "issuer", "client_id", "jwks", "login_url", "token_url",
    ]
    static let accountClaim: Set<String> = [
        "id", "provider", "state", "nonce", "issuer", "client_id", "login_url", "token_url",
        "verifier",
        "expires_at",
    ]
    static let attestation: Set<String> = [
        "id", "member", "kind", "provider", "value", "by", "at", "until", "state",
    ]
    static let declined: Set<String> = ["id", "declined", "was_pending"]
    static let peer: Set<String> = [
        "id", "member", "name", "address", "state", "behind", "ahead", "last_seen", "last_error",
        "last_tried",
    ]
    static let event: Set<String> = [
        "seq", "cursor", "at", "type", "workspace", "backfill", "data",
    ]
    static let status: Set<String> = [
        "version", "api", "device", "identity", "home", "socket", "listen", "uptime_ms", "locked",
        "peers", "workspaces", "store", "warnings",
    ]
    static let statusWorkspace: Set<String> = [
        "id", "name", "digest", "operations", "behind", "state",
    ]
    static let store: Set<String> = ["operations", "bytes", "blob_bytes", "free_bytes"]
    static let peerCounts: Set<String> = ["connected", "dialing", "waiting", "blocked"]
    static let identity: Set<String> = [
        "id", "name", "created_at", "passphrase", "locked", "recovery", "members",
    ]
    static let device: Set<String> = [
        "id", "name", "self", "added_at", "origin", "added_by", "revoked", "last_seen", "recovery",
        "certified",
        "still_in", "workspaces",
    ]
    static let sync: Set<String> = [
        "peer", "workspace", "state", "behind", "ahead", "rate", "eta_ms",
    ]
    static let finding: Set<String> = ["id", "state", "message", "hint"]
    static let reader: Set<String> = ["id", "name", "cursor", "at"]
    static let holder: Set<String> = [
        "device", "member", "have", "complete", "at", "verdict", "joined_at",
    ]
    static let file: Set<String> = [
        "id", "name", "type", "size", "have", "complete", "wanted", "kept", "own", "holders",
        "sources", "waiting_since", "patience_ms",
    ]
    static let fileHolder: Set<String> = [
        "device", "member", "self", "complete", "at", "have", "live",
    ]
    static let media: Set<String> = ["id", "policy", "up_to", "metered"]
    static let savedFile: Set<String> = ["path", "name", "size"]
    static let cache: Set<String> = [
        "files", "bytes", "own_bytes", "kept_bytes", "clearable_bytes", "quota", "keep",
        "quota_chosen",
    ]
    static let network: Set<String> = ["suspended", "failure", "listen", "announce", "peers"]
    static let page: Set<String> = ["items", "next"]
    static let history: Set<String> = ["items", "next", "older", "newer"]
    static let version: Set<String> = ["version", "api"]
    static let discovery: Set<String> = ["openrpc", "info", "methods"]
    static let subscription: Set<String> = ["subscription", "cursor"]
}
