import PeerNode
import WorkspaceModel

/// Names from the daemon, requested while the user waits for the shell: within 50 ms, or none.
struct CompletionNames {
    let io: any ProgramIO
    let socket: String
    let workspace: String?
    private let end: Int64

    /// The maximum wait, in milliseconds.
    static let patience: Int64 = 50

    init(io: any ProgramIO, socket: String, workspace: String?) {
        self.io = io
        self.socket = socket
        self.workspace = workspace
        end = io.now + Self.patience
    }

    /// The candidates of one kind, in the order of the node's list.
    func list(_ what: Completion.Names) -> [Completion.Candidate] {
        switch what {
        case .channels: return channels { _ in true }
        case .openChannels: return channels { $0["archived"] != true }
        case .archivedChannels: return channels { $0["archived"] == true }
        case .members:
            return items("member.list").compactMap {
                candidate($0["name"], sign: "@", about: $0["role"])
            }
        case .workspaces:
            return items("workspace.list").compactMap { candidate($0["name"], about: $0["role"]) }
        case .invites:
            return items("invite.list").filter { $0["state"] == "open" }.compactMap {
                candidate($0["id"], about: $0["role"])
            }
        case .requests:
            return items("join.requests").compactMap { candidate($0["id"], about: $0["name"]) }
        case .devices:
            return items("device.list").compactMap { candidate($0["id"], about: $0["name"]) }
        case .peers:
            return items("peer.list").compactMap { candidate($0["id"], about: $0["name"]) }
        }
    }

    private func channels(where isWanted: (JSONValue) -> Bool) -> [Completion.Candidate] {
        items("channel.list", ["scope": "all"]).filter(isWanted).compactMap {
            candidate($0["name"], about: $0["topic"])
        }
    }

    private func items(_ method: String, _ given: JSONObject = [:]) -> [JSONValue] {
        let left = end - io.now
        guard left > 0, let transport = try? io.connect(socket) else { return [] }
        var client = ControlClient(transport, timeoutMilliseconds: left)
        var given = given
        given["limit"] = 1_000
        if let workspace, Command.scope(of: method) != .node {
            given["workspace"] = .string(workspace)
        }
        let answer = try? client.call(method, given)
        // An answer in many pieces may have taken longer than the wait for each piece.
        guard io.now <= end else { return [] }
        return answer?["items"]?.arrayValue ?? []
    }

    private func candidate(
        _ value: JSONValue?, sign: String = "", about: JSONValue?
    ) -> Completion.Candidate? {
        guard let text = value?.stringValue, Self.isSafe(text) else { return nil }
        let summary = TerminalText.truncated(sanitised(about?.stringValue ?? ""), toColumns: 40)
        return Completion.Candidate(word: sign + text, summary: summary)
    }

    /// Whether `text` may be inserted into a line: once quoted, a shell must
    /// read it as a plain word.
    ///
    /// Names come from others, and the user runs a completed line by pressing Return. So everything
    /// but letters is quoted, by us or by the shell, and characters that can make a shell run
    /// commands are excluded anyway.
    static func isSafe(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: "-"), sanitised(text) == text,
            text.utf8.last != 0x20, first != 0x20
        else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            guard scalar.isASCII else { return !scalar.properties.isWhitespace }
            switch scalar {
            case "$", "`", "\\", "\"", ";", "|", "<", ">": return false
            default: return true
            }
        }
    }
}
