import Testing
import WorkspaceModel
import WorkspaceTestKit

/// The real program with real daemons, one test after another, on the loopback interface only.
@Suite(.serialized) struct EndToEnd {}

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
