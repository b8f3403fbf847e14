import Testing
import WorkspaceModel

@testable import wsx_node

struct `The conversations of a stream that names none` {
    private static func event(_ type: String) -> JSONValue { ["type": .string(type)] }

    @Test func `are asked for once, and again when somebody comes or goes`() {
        var followed = FollowedChannels()
        var joined = ["c_in": true, "c_out": false]
        var asked: [String] = []
        func shows(_ type: String, _ channel: String?) -> Bool {
            followed.include(Self.event(type), of: channel) { id in
                asked.append(id)
                return joined[id] == true
            }
        }
        #expect(shows("member.joined", nil))
        for _ in 0..<2 {
            #expect(shows("message.created", "c_in"))
            #expect(!shows("message.created", "c_out"))
        }
        #expect(asked == ["c_in", "c_out"])
        // The user's own leaving is the last event shown of it.
        joined["c_in"] = false
        #expect(shows("channel.member_removed", "c_in"))
        #expect(!shows("message.created", "c_in"))
        joined["c_out"] = true
        #expect(shows("channel.member_added", "c_out"))
        #expect(shows("message.created", "c_out"))
        #expect(asked == ["c_in", "c_out", "c_in", "c_out"])
    }
}
