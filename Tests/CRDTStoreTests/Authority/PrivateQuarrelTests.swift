import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

private let member = PrivateStory.member
private let key = PrivateStory.key

struct `People who do not know of each other in a private document` {
    private let start = PrivateStory(
        with: [("adam", .admin), ("anna", .admin), ("mina", .member), ("moritz", .member)])

    @Test func `remove the same member twice, and then agree on a key`() {
        var story = start
        let one = story.remove("mina", by: "adam", after: [story.root], key: 2)
        let two = story.remove("mina", by: "olga", after: [story.root], key: 3)
        let authority = story.judged()
        #expect(authority.isValid(one) && authority.isValid(two))
        #expect(authority.ends(of: member("mina")) == [one, two].sorted())
        // Neither author of a key knew of the other removal.
        #expect(authority.sealingEpoch(answering: []) == nil)
        let rekey = story.write("moritz", .rekey(PrivateStory.epoch(4)))
        #expect(story.judged().sealingEpoch(answering: [])?.operation == rekey)
    }

    @Test func `remove two members, and neither key will do`() {
        var story = start
        story.remove("mina", by: "adam", after: [story.root], key: 2)
        story.remove("moritz", by: "anna", after: [story.root], key: 3)
        #expect(story.judged().names(["mina", "moritz", "adam", "anna"]).count == 2)
        #expect(story.judged().sealingEpoch(answering: []) == nil)
    }

    @Test func `make two keys, of which everybody takes the same`() {
        var story = start
        let one = story.write("mina", after: [story.root], .rekey(PrivateStory.epoch(2)))
        let two = story.write("moritz", after: [story.root], .rekey(PrivateStory.epoch(3)))
        #expect(story.judged().sealingEpoch(answering: [])?.operation == max(one, two))
        let deeper = story.write("mina", after: [one], .rekey(PrivateStory.epoch(4)))
        #expect(story.judged().sealingEpoch(answering: [])?.operation == deeper)
        #expect(Set(story.judged().epochs.map(\.operation)) == [story.root, one, two, deeper])
    }

    // Two concurrent adds of one member give two seats; a member who leaves by one goes on writing
    // under the other.
    @Test func `leave by one of two seats, and make no key under the other`() {
        var story = start
        let one = story.add(["gil"], by: "adam", after: [story.root])
        let two = story.add(["gil"], by: "anna", after: [one])
        story.write("gil", after: [two], .leave(cuts: []), under: two)
        #expect(story.judged().names(["gil"]).isEmpty)
        let kept = story.write("moritz", .rekey(PrivateStory.epoch(4)))
        let rekey = story.write("gil", .rekey(PrivateStory.epoch(5)), under: one)
        let authority = story.judged()
        #expect(authority.isValid(rekey))
        #expect(authority.sealingEpoch(answering: [])?.operation == kept)
    }

    // adam is listed before anna, and so is the stronger of two admins of one depth.
    @Test func `fight, and the stronger wins whatever comes first`() {
        var story = start
        let one = story.remove("anna", by: "adam", after: [story.root], key: 2)
        let two = story.remove("adam", by: "anna", after: [story.root], key: 3)
        let authority = story.judged()
        #expect(authority.isValid(one) && authority.verdict(on: two) == .revoked(by: one))
        #expect(authority.names(["adam", "anna"]) == ["adam": .admin])
        #expect(authority.sealingEpoch(answering: [])?.epoch.keyID == key(2))
        #expect(!authority.introduces(key(3)))
        // The removal of a member also voids what that member admits meanwhile.
        let seat = story.add(["gil"], by: "anna", after: [two], key: 5)
        let content = story.write("gil", after: [seat], .rekey(PrivateStory.epoch(6)))
        let after = story.judged()
        #expect(!after.isValid(seat) && !after.isValid(content) && !after.introduces(key(6)))
    }

    @Test func `hand the document on twice, and the stronger counts`() {
        var story = start
        let one = story.write(
            "olga", after: [story.root], .role(member("adam"), .owner, drops: true))
        let two = story.write(
            "olga", after: [story.root], .role(member("anna"), .owner, drops: true))
        let names = story.judged().names(["olga", "adam", "anna"])
        let heir = one < two ? "adam" : "anna"
        #expect(names.filter { $0.value == .owner }.keys.sorted() == [heir])
        #expect(names["olga"] == .admin)
    }

    @Test func `change one role twice, and nobody is out`() {
        var story = start
        let one = story.write(
            "adam", after: [story.root], .role(member("mina"), .guest, drops: false))
        let two = story.write(
            "olga", after: [story.root], .role(member("mina"), .admin, drops: false))
        let authority = story.judged()
        #expect(authority.isValid(one) && authority.isValid(two))
        #expect(authority.standing(of: member("mina"))?.seat == two)
        story.write("olga", .role(member("mina"), .guest, drops: false))
        #expect(story.judged().standing(of: member("mina"))?.role == .guest)
    }

    @Test func `change a role while somebody lets the member in again`() {
        var story = start
        let removal = story.remove("mina", by: "anna", after: [story.root], key: 2)
        let back = story.add(["mina"], by: "anna", after: [removal], key: 3)
        story.write("olga", after: [story.root], .role(member("mina"), .guest, drops: false))
        #expect(story.judged().standing(of: member("mina"))?.seat == back)
    }

    @Test func `add and remove the same member`() {
        var story = start
        story.add(["gil"], by: "anna")
        let fork = story.heads
        let removal = story.remove("gil", by: "adam", after: fork, key: 2)
        let again = story.add(["gil"], by: "anna", after: fork, key: 3)
        // The second add did not know the removal, so it is not a readmission.
        let authority = story.judged()
        #expect(authority.isValid(removal) && authority.isValid(again))
        #expect(authority.standing(of: member("gil")) == nil)
        let back = story.add(["gil"], by: "anna", key: 4)
        #expect(story.judged().standing(of: member("gil"))?.seat == back)
    }

    @Test func `answer what the workspace took away`() {
        let gone = OperationID([UInt8](repeating: 0x66, count: 32))
        let left = OperationID([UInt8](repeating: 0x67, count: 32))
        var story = start
        #expect(story.judged().sealingEpoch(answering: [gone]) == nil)
        let one = story.write("mina", .rekey(PrivateStory.epoch(2, answers: [gone])))
        #expect(story.judged().sealingEpoch(answering: [gone])?.operation == one)
        #expect(story.judged().sealingEpoch(answering: [gone, left]) == nil)
        let aside = story.write(
            "anna", after: [story.root], .rekey(PrivateStory.epoch(3, answers: [left])))
        #expect(story.judged().sealingEpoch(answering: [left])?.operation == aside)
        #expect(story.judged().sealingEpoch(answering: [gone, left]) == nil)
        // An operation that knows both answers both, although it does not name them.
        let both = story.write("moritz", .rekey(PrivateStory.epoch(4)))
        #expect(story.judged().sealingEpoch(answering: [gone, left])?.operation == both)
        // An answer by a member without the right does not count.
        var forged = start
        forged.write("gil", .rekey(PrivateStory.epoch(5, answers: [gone])), under: forged.root)
        #expect(forged.judged().sealingEpoch(answering: [gone]) == nil)
    }
}

struct `The keys of a private document` {
    @Test func `are all for everybody where everything is shown`() {
        var story = PrivateStory(with: [("mina", .member)], history: .all)
        story.write("mina", .rekey(PrivateStory.epoch(2, older: [1])))
        story.add(["gil"], by: "olga")
        #expect(story.judged().keys(for: member("gil")) == [key(1), key(2)])
        #expect(story.judged().keys(for: member("nobody")).isEmpty)
        story.remove("gil", by: "olga", key: 3)
        #expect(story.judged().keys(for: member("gil")).isEmpty)
        #expect(story.judged().keys(for: member("mina")) == [key(1), key(2), key(3)])
    }

    @Test func `begin with their own addition if the past is not shown`() {
        var story = PrivateStory(with: [("mina", .member)], history: .fromJoin)
        story.write("mina", .rekey(PrivateStory.epoch(2)))
        let fork = story.heads
        story.add(["gil"], by: "olga", after: fork, key: 3)
        // Made without knowing the add: not for gil.
        story.write("mina", after: fork, .rekey(PrivateStory.epoch(4)))
        story.write("mina", .rekey(PrivateStory.epoch(5)))
        let authority = story.judged()
        #expect(authority.keys(for: member("gil")) == [key(3), key(5)])
        #expect(Set(authority.keys(for: member("mina"))) == Set((1...5).map { key($0) }))
    }

    // A returning member gets what was written since the return, not what was written meanwhile.
    @Test func `begin again with a return`() {
        var story = PrivateStory(with: [("gil", .member)], history: .fromJoin)
        story.remove("gil", by: "olga", key: 2)
        story.write("olga", .rekey(PrivateStory.epoch(3)))
        story.add(["gil"], by: "olga", key: 4)
        #expect(story.judged().keys(for: member("gil")) == [key(4)])
        // A change of role is no admission: the earlier seat still counts.
        story.write("olga", .rekey(PrivateStory.epoch(5)))
        story.write("olga", .role(member("gil"), .admin, drops: false))
        #expect(story.judged().keys(for: member("gil")) == [key(4), key(5)])
    }

    @Test func `lead to the older ones that were in their past`() {
        var story = PrivateStory(with: [("mina", .member)])
        let two = story.write("mina", .rekey(PrivateStory.epoch(2, older: [1])))
        let aside = story.write(
            "olga", after: [story.root], .rekey(PrivateStory.epoch(3, older: [1, 2])))
        story.write("mina", after: [two], .rekey(PrivateStory.epoch(4, older: [9])))
        let authority = story.judged()
        #expect(authority.olderKeys(under: key(2)).map(\.keyID) == [key(1)])
        #expect(authority.olderKeys(under: key(3)).map(\.keyID) == [key(1)])
        #expect(authority.olderKeys(under: key(4)).isEmpty)
        #expect(authority.olderKeys(under: key(99)).isEmpty)
        #expect(authority.isValid(aside))
        let all = Set((1...4).map { key($0) })
        #expect(Set(authority.keysToHandOn(holding: all)) == [key(2), key(3), key(4)])
        #expect(authority.keysToHandOn(holding: [key(1)]) == [key(1)])
        #expect(authority.keysToHandOn(holding: [key(1), key(2)]) == [key(2)])
        #expect(authority.keysToHandOn(holding: [key(77)]).isEmpty)
    }

    // A subkey leads to no content, so it does not replace the key where content is shown.
    @Test(arguments: [
        (PrivateHistory.all, OlderPrivateKey.Form.whole, [UInt8(2)]), (.all, .authority, [1, 2]),
        (.fromJoin, .authority, [2]), (.fromJoin, .whole, [2]),
    ])
    func `lead on in the form that is handed on`(
        _ history: PrivateHistory, _ form: OlderPrivateKey.Form, _ expected: [UInt8]
    ) {
        var story = PrivateStory(with: [("mina", .member)], history: history)
        story.write("mina", .rekey(PrivateStory.epoch(2, older: [1], form: form)))
        let keys = story.judged().keysToHandOn(holding: [key(1), key(2)])
        #expect(keys == expected.map { key($0) })
    }

    @Test func `are handed on as far as there is room`() {
        var story = PrivateStory(with: [("mina", .member)])
        for number in UInt8(2)...100 {
            story.write("mina", after: [story.root], .rekey(PrivateStory.epoch(number)))
        }
        let all = Set((1...100).map { key($0) })
        let keys = story.judged().keysToHandOn(holding: all)
        #expect(keys.count == Limits.olderKeysMax && !keys.contains(key(1)))
    }
}
