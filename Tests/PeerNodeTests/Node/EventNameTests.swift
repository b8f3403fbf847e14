import Testing
import WorkspaceModel

@testable import PeerNode

struct `The name of an event` {
    @Test func `is read back from every word, and from no other`() {
        for name in EventName.all {
            #expect(EventName(of: ["type": .string(name.word)]) == name)
        }
        let others: [JSONValue] = [
            [:], ["type": .null], ["type": 7], ["type": ""], ["type": "message"],
            ["type": "message.created "], ["type": "Message.created"], "message.created",
        ]
        for event in others { #expect(EventName(of: event) == nil) }
    }

    @Test func `belongs to one of three lists`() {
        #expect(EventName(of: ["type": "message.created"]) == .kept(.messageCreated))
        #expect(EventName(of: ["type": "note.patch"]) == .passing(.notePatch))
        #expect(EventName(of: ["type": "events.dropped"]) == .made(.dropped))
        #expect(Set(EventName.all.map(\.word)).count == EventName.all.count)
        #expect(EventName.names == EventName.all.map(\.word))
    }

    @Test func `is shown in the manual where it is kept or passes`() {
        let made = StreamEventType.allCases.map(\.rawValue)
        #expect(Manual.eventTypes + made == EventName.names)
    }
}

struct `The kind of a warning` {
    @Test func `is read from the answer of status`() {
        for kind in WarningKind.allCases {
            let row = StatusObject.Warning(kind: kind, message: "m", hint: nil)
            #expect(WarningKind(of: row.json) == kind)
        }
        #expect(WarningKind(of: ["kind": "disk"]) == nil)
        #expect(WarningKind(of: [:]) == nil)
    }

    @Test func `says whether the node itself is ill`() {
        let ill = WarningKind.allCases.filter(\.isIllness).map(\.rawValue)
        #expect(
            ill == [
                "disk.low", "session.locked", "store.corrupt", "store.restored", "store.stopped",
                "store.unreadable",
            ])
        let status: JSONValue = [
            "locked": false,
            "warnings": [
                ["kind": "join.pending"], ["kind": "store.stopped"], ["kind": "what.ever"], [:],
            ],
        ]
        #expect(StatusObject.illnesses(of: status) == ["store.stopped"])
        #expect(!StatusObject.isHealthy(status))
        #expect(StatusObject.isHealthy(["warnings": [["kind": "join.pending"]]]))
    }
}

struct `A known reason` {
    @Test func `is told from others, and from none`() {
        let failure = NodeError(
            .conflict, "it changed", reason: KnownReason.changedNote.rawValue)
        #expect(failure.isBecause(of: .changedNote))
        #expect(!failure.isBecause(of: .unknownNoteBase))
        #expect(!NodeError(.conflict, "it changed").isBecause(of: .changedNote))
    }
}
