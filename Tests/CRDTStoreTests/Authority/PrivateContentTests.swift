import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

private let member = PrivateStory.member
private let key = PrivateStory.key

struct `What is written in a private document` {
    private let start = PrivateStory(with: [("anna", .admin), ("mina", .member)])

    private func log(_ story: PrivateStory, _ number: UInt8 = 1) -> LogName {
        LogName(
            document: story.document, device: DeviceID([UInt8](repeating: number, count: 32)),
            incarnation: 1)
    }

    private func cut(_ log: LogName, at sequence: UInt64) -> CutEntry {
        CutEntry(log: log, sequence: sequence, id: Identifier16([UInt8](repeating: 1, count: 16)))
    }

    /// Whether the operation at `sequence` is valid, on a log that never forked.
    private func isValid(
        _ story: PrivateStory, _ name: String = "mina", under number: UInt8, at sequence: UInt64,
        in log: LogName? = nil
    ) -> Bool {
        story.judged()
            .contentLimit(of: member(name), in: log ?? self.log(story), under: key(number))
            .allows(sequence: sequence) { _ in true }
    }

    // A member who knows a key reads what is under it; others get it when they ask.
    @Test func `is valid from every member, no matter who introduced its key`() {
        var story = start
        #expect(isValid(story, under: 1, at: 1_000))
        #expect(isValid(story, under: 2, at: 0))
        #expect(!isValid(story, "gil", under: 1, at: 0))
        story.write("gil", .rekey(PrivateStory.epoch(2)), under: story.root)
        #expect(!isValid(story, "gil", under: 2, at: 0))
        story.write("mina", .rekey(PrivateStory.epoch(3)))
        #expect(isValid(story, "anna", under: 3, at: 0) && isValid(story, under: 1, at: 7))
    }

    @Test func `ends where the removal cuts it`() {
        var story = start
        let log = log(story)
        story.remove("mina", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        #expect(isValid(story, under: 1, at: 10) && !isValid(story, under: 1, at: 11))
        #expect(!isValid(story, under: 2, at: 11))
        // Nothing counts on a log that the removal does not list.
        #expect(!isValid(story, under: 1, at: 0, in: self.log(story, 2)))
        let limit = story.judged().contentLimit(of: member("mina"), in: log, under: key(1))
        #expect(limit.alternatives == [.cuts([[CutPlace(cut(log, at: 10))]])])
        let onAnother = limit.allows(sequence: 3) { _ in false }
        #expect(!onAnother)
        #expect(isValid(story, "anna", under: 1, at: 99))
    }

    @Test func `ends for two removals where either cuts it`() {
        var story = start
        let log = log(story)
        story.remove("mina", by: "olga", after: [story.root], key: 2, cuts: [cut(log, at: 10)])
        story.remove("mina", by: "anna", after: [story.root], key: 3, cuts: [cut(log, at: 4)])
        #expect(isValid(story, under: 1, at: 4) && !isValid(story, under: 1, at: 5))
    }

    @Test func `stays when somebody leaves as far as they say`() {
        var story = start
        let log = log(story)
        story.write("mina", .leave(cuts: [cut(log, at: 3)]))
        #expect(isValid(story, under: 1, at: 3) && !isValid(story, under: 1, at: 4))
    }

    // The epoch is the proof that the author has heard of the return.
    @Test func `of a returned member needs a key made after the removal`() {
        var story = start
        let log = log(story)
        story.remove("mina", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        story.add(["mina"], by: "olga", key: 3)
        #expect(isValid(story, under: 1, at: 10), "what the removal kept stays")
        #expect(!isValid(story, under: 1, at: 11), "what it cut does not come back")
        #expect(isValid(story, under: 3, at: 11) && isValid(story, under: 3, at: 500))
        // Introduced by the removal itself: holding this key proves knowledge of the removal.
        #expect(isValid(story, under: 2, at: 12))
        // A key made concurrently to the removal proves nothing.
        story.write("anna", after: [story.root], .rekey(PrivateStory.epoch(4)))
        #expect(!isValid(story, under: 4, at: 11) && isValid(story, "anna", under: 4, at: 11))
        let other = self.log(story, 2)
        #expect(isValid(story, under: 3, at: 0, in: other))
        #expect(!isValid(story, under: 1, at: 0, in: other))
    }

    @Test func `of a returned member needs that under every later seat`() {
        var story = start
        let log = log(story)
        story.remove("mina", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        story.add(["mina"], by: "olga", key: 3)
        story.write("olga", .role(member("mina"), .admin, drops: false))
        #expect(!isValid(story, under: 1, at: 11) && isValid(story, under: 3, at: 11))
        story.remove("mina", by: "olga", key: 4, cuts: [cut(log, at: 20)])
        #expect(isValid(story, under: 3, at: 20) && !isValid(story, under: 3, at: 21))
        story.add(["mina"], by: "olga", key: 5)
        #expect(!isValid(story, under: 3, at: 21) && isValid(story, under: 5, at: 21))
        #expect(!isValid(story, under: 1, at: 15), "cut by the first removal")
        #expect(isValid(story, under: 3, at: 15))
    }

    // Without a key an add gives a seat under which nothing older counts.
    @Test func `waits for a key where somebody was let in again without one`() {
        var story = start
        let log = log(story)
        story.remove("mina", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        story.add(["mina"], by: "olga")
        #expect(!isValid(story, under: 1, at: 11))
        let rekey = story.write("mina", .rekey(PrivateStory.epoch(3)))
        #expect(story.judged().isValid(rekey) && isValid(story, under: 3, at: 11))
    }

    // A key cannot be introduced again to give back what was cut.
    @Test func `does not come back when its key is introduced again`() {
        var story = start
        let log = log(story)
        story.remove("mina", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        story.add(["mina"], by: "olga", key: 3)
        let again = story.write("mina", .rekey(PrivateStory.epoch(1)))
        let authority = story.judged()
        #expect(authority.isValid(again) && authority.epochs.count == 3)
        #expect(!isValid(story, under: 1, at: 11))
        #expect(authority.sealingEpoch(answering: [])?.epoch.keyID == key(3))
    }

    @Test func `loses nothing by a change of role`() {
        var story = start
        story.write("olga", .role(member("mina"), .guest, drops: false))
        #expect(isValid(story, under: 1, at: 5))
        story.write("olga", .role(member("anna"), .owner, drops: true))
        #expect(isValid(story, "olga", under: 1, at: 5))
    }

    // The remover is too weak for the older seat; it ends with the seat that replaced it.
    @Test func `ends under a replaced role with the role that replaced it`() {
        var story = PrivateStory(with: [("anna", .admin), ("mina", .member)])
        let up = story.add(["tom"], as: .admin, by: "olga")
        story.write("olga", .role(member("anna"), .member, drops: false))
        #expect(isValid(story, "anna", under: 1, at: 11))
        let removal = story.remove("anna", by: "tom", key: 2, cuts: [cut(log(story), at: 10)])
        #expect(story.judged().isValid(removal) && story.judged().isValid(up))
        #expect(story.judged().standing(of: member("anna")) == nil)
        #expect(isValid(story, "anna", under: 1, at: 10))
        #expect(!isValid(story, "anna", under: 1, at: 11))
        #expect(story.judged().keys(for: member("anna")).isEmpty)
    }

    @Test func `is not cut by a weaker member or one without the right`() {
        var story = start
        story.remove("olga", by: "anna", key: 2)
        story.remove("anna", by: "mina", key: 3)
        #expect(isValid(story, "olga", under: 1, at: 5) && isValid(story, "anna", under: 1, at: 5))
        #expect(isValid(story, "anna", under: 3, at: 5))
    }

    // Otherwise a member could take content from all others, by an operation that does not know it.
    @Test func `of others stays when the introduction of its key loses its effect`() {
        var story = start
        let log = log(story)
        story.remove("anna", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        let back = story.add(["anna"], as: .admin, by: "olga", key: 3)
        let first = story.write("mina", .rekey(PrivateStory.epoch(4)))
        let rekey = story.write("mina", .rekey(PrivateStory.epoch(5)))
        #expect(story.judged().sealingEpoch(answering: [])?.epoch.keyID == key(5))
        story.write("mina", after: [story.root], .leave(cuts: []))
        let authority = story.judged()
        #expect(authority.isValid(back) && !authority.isValid(first) && !authority.isValid(rekey))
        #expect(isValid(story, "olga", under: 5, at: 7))
        #expect(isValid(story, "anna", under: 5, at: 11), "who came back, too")
        #expect(!isValid(story, "mina", under: 5, at: 0))
        // It no longer seals, and is handed on with the others.
        #expect(authority.sealingEpoch(answering: [])?.epoch.keyID != key(5))
        #expect(!authority.introduces(key(5)))
        #expect(authority.keysToHandOn(holding: [key(1), key(5)]).contains(key(5)))
    }

    // Content from while a member was out does not count under a key that they made themselves.
    @Test func `of who came back needs a key of somebody else where their own has no effect`() {
        var story = start
        let log = log(story)
        let removal = story.remove("mina", by: "olga", key: 2, cuts: [cut(log, at: 10)])
        let own = story.write(
            "mina", after: [removal], .rekey(PrivateStory.epoch(3)), under: story.root)
        story.add(["mina"], by: "olga", key: 4)
        #expect(!story.judged().isValid(own))
        #expect(!isValid(story, under: 3, at: 11))
        #expect(isValid(story, under: 4, at: 11))
    }

    @Test func `of one seat is enough`() {
        let none = PrivateContentLimit.nothing
        #expect(!none.allows(sequence: 0) { _ in true })
        #expect(PrivateContentLimit([.nothing, .everything]) == .everything)
        #expect(PrivateContentLimit.everything.allows(sequence: .max) { _ in false })
        let story = start
        let cuts = [UInt64(3), 7].map { ContentLimit.cuts([[CutPlace(cut(log(story), at: $0))]]) }
        let either = PrivateContentLimit(cuts + [.nothing])
        #expect(either.alternatives.count == 2)
        #expect(
            either.allows(sequence: 7) { _ in true } && !either.allows(sequence: 8) { _ in true })
    }
}
