import CRDTStore
import Testing
import WorkspaceModel

@testable import PeerNode

/// When reminders are reported, without a node.
struct `The times of reminders` {
    private static func row(_ name: UInt8, due: UInt64?) -> ViewStore.Register {
        ViewStore.Register(
            .init(
                workspace: 1, kind: .reminder, subject: [UInt8](repeating: name, count: 16)),
            at: .zero, by: .zero, arrival: Int64(name),
            key: due.map { MessageKey(timestamp: HybridTimestamp(rawValue: $0), idPrefix: 0) })
    }

    @Test func `are those that are not told yet, the first one first`() {
        var told = ReminderTimes.Told([])
        var times = ReminderTimes()
        #expect(times.wantsLook(at: 0), "nobody has looked yet")
        let rows = [Self.row(1, due: 500), Self.row(2, due: 300), Self.row(3, due: nil)]
        times.take(rows, told)
        #expect(times.next == 300 && !times.wantsLook(at: 299) && times.wantsLook(at: 300))
        told.note(rows[1])
        times.take(rows, told)
        #expect(times.next == 500)
        // One that was put off is told again.
        times.take([rows[0], Self.row(2, due: 400)], told)
        #expect(times.next == 400)
    }

    @Test func `are kept as bytes in one form, of those alone that there are`() {
        let rows = [Self.row(2, due: 300), Self.row(1, due: .max)]
        var told = ReminderTimes.Told([])
        #expect(told.bytes == nil)
        for row in rows { told.note(row) }
        let bytes = told.bytes ?? []
        #expect(bytes.count == 48 && bytes.first == 1)
        #expect(ReminderTimes.Told(bytes).dues == told.dues)
        #expect(ReminderTimes.Told(Array(bytes.dropLast())).dues.count == 1)
        told.keep([rows[1]])
        #expect(told.dues.count == 1)
        told.keep([Self.row(1, due: 5)])
        #expect(told.bytes == nil)
    }

    @Test func `wait a little where nobody was there, once`() {
        var times = ReminderTimes()
        times.take([Self.row(1, due: 1_000)], ReminderTimes.Told([]))
        let late = 1_000 + Limits.reminderLateMilliseconds
        let end = 50 + Limits.reminderGraceMilliseconds
        let (early, atFirst) = (
            times.waits(at: TurnTime(wall: late, monotonic: 50)),
            times.waits(at: TurnTime(wall: late + 1, monotonic: 50))
        )
        #expect(!early && atFirst)
        #expect(times.deadline(at: TurnTime(wall: late + 1, monotonic: 50)) == end)
        let (inBetween, atLast) = (
            times.waits(at: TurnTime(wall: late + 2, monotonic: end - 1)),
            times.waits(at: TurnTime(wall: late + 3, monotonic: end))
        )
        #expect(inBetween && !atLast)
        // A clock that was put back begins again.
        #expect(times.deadline(at: TurnTime(wall: 400, monotonic: end)) == end + 600)
    }

    @Test(arguments: [UInt64(0), 5_000, .max])
    func `are deadlines that lie ahead, however far`(_ due: UInt64) throws {
        var times = ReminderTimes()
        #expect(times.deadline(at: TurnTime(wall: 1_000, monotonic: 50)) == nil)
        times.take([Self.row(1, due: due)], ReminderTimes.Told([]))
        let deadline = try #require(times.deadline(at: TurnTime(wall: 1_000, monotonic: 50)))
        #expect(deadline == (due > 1_000 ? 50 + min(due - 1_000, 1 << 53) : 50))
    }
}
