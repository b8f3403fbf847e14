import Testing

/// Only `JudgedState` uses the evaluator of the authority document; others query it.
struct `The evaluator of a workspace` {
    /// Who asks it itself: its owner, the log, which has operations judged, and the two rooms that write
    /// into the authority document.
    static let rooms: Set<String> = ["Authority", "Enrolment", "Log", "Workspace"]

    @Test func `is asked in the rooms alone that judge, or write what is judged`() throws {
        var found: Set<String> = []
        for file in try SourceTree.swiftFiles(under: "Sources/PeerNode") {
            let places = try file.places(of: #"\b(judged\.evaluator)\b"#)
            guard !places.isEmpty else { continue }
            let folders = file.folder.split(separator: "/").map(String.init)
            let room =
                folders.firstIndex(of: "Node").flatMap { folders.dropFirst($0 + 1).first } ?? ""
            found.insert(room)
            #expect(Self.rooms.contains(room), "\(places)")
        }
        // What no longer needs it is struck off.
        #expect(found == Self.rooms)
    }
}
