import Testing
import WorkspaceModel
import WorkspaceTestKit

/// The real program with real daemons, one test after another, on the loopback interface only.
///
/// There are three such rows, which run beside all other tests: a single one would still be running,
/// and mostly waiting, for minutes after those have ended.
@Suite(.serialized, .ownThread) struct EndToEnd {}

/// The real program, as people use it at a terminal and by scripts of their own.
@Suite(.serialized, .ownThread) struct TerminalEndToEnd {}

/// The real program among strangers, thieves, foreign accounts and damage.
@Suite(.serialized, .ownThread) struct AttackedEndToEnd {}

extension JSONValue {
    /// The word of a failure: of an error object, or of a whole answer line.
    var kind: String? {
        self["data"]?["kind"]?.stringValue ?? self["error"]?["data"]?["kind"]?.stringValue
    }
    var reason: String? {
        self["data"]?["reason"]?.stringValue ?? self["error"]?["data"]?["reason"]?.stringValue
    }
    var rows: [JSONValue] {
        self["items"]?.arrayValue ?? self["result"]?["items"]?.arrayValue ?? []
    }
}
