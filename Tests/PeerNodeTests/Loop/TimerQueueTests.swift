import PeerNode
import Testing
import WorkspaceTestKit

struct `A timer queue` {
    @Test func `gives the earliest first, and of equal ones the one that was set first`() {
        var timers = TimerQueue<String>()
        timers.set("late", deadline: 30)
        timers.set("b", deadline: 10)
        timers.set("a", deadline: 10)
        timers.set("later", deadline: 40)
        #expect(timers.nextDeadline == 10)
        #expect(timers.takeDue(now: 9) == [])
        #expect(timers.takeDue(now: 30) == ["b", "a", "late"])
        #expect(timers.nextDeadline == 40)
    }

    @Test func `moves a name that is set again, both ways`() {
        var timers = TimerQueue<String>()
        timers.set("a", deadline: 10)
        timers.set("a", deadline: 50)
        #expect(timers.takeDue(now: 49) == [])
        timers.set("a", deadline: 20)
        #expect(timers.takeDue(now: 20) == ["a"])
        #expect(timers.takeDue(now: .max) == [])
        #expect(timers.count == 0)
    }

    @Test func `forgets a name that was cancelled`() {
        var timers = TimerQueue<String>()
        timers.set("a", deadline: 1)
        timers.set("b", deadline: 2)
        timers.cancel("a")
        timers.cancel("nobody")
        #expect(timers.nextDeadline == 2)
        #expect(timers.takeDue(now: 9) == ["b"])
        #expect(timers.nextDeadline == nil)
    }

    /// A list that is sorted each time is slow, and too simple to be wrong.
    @Test(arguments: Seeds.explore(20))
    func `does what a sorted list does, whatever is set, moved, cancelled and taken`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var timers = TimerQueue<Int>()
        var model: [(deadline: UInt64, order: Int, name: Int)] = []
        for step in 0..<2_000 {
            let name = Int.random(in: 0..<60, using: &random)
            let time = UInt64.random(in: 0..<500, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...6:
                model.removeAll { $0.name == name }
                model.append((time, step, name))
                timers.set(name, deadline: time)
            case 7:
                model.removeAll { $0.name == name }
                timers.cancel(name)
            default:
                let now = time / 4
                let due = model.filter { $0.deadline <= now }.sorted {
                    ($0.deadline, $0.order) < ($1.deadline, $1.order)
                }
                model.removeAll { $0.deadline <= now }
                #expect(timers.takeDue(now: now) == due.map(\.name), "WSX_SEED=\(seed)")
            }
            #expect(timers.count == model.count, "WSX_SEED=\(seed)")
            #expect(timers.nextDeadline == model.map(\.deadline).min(), "WSX_SEED=\(seed)")
        }
    }
}
