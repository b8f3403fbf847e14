import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// What a key proves that claims to answer the end of a membership: the author of the end, and any
/// accomplice, knows its id before others have heard of it.
struct `An answer to the end of a membership` {
    private static let end = OperationID([UInt8](repeating: 9, count: 32))
    private static let mina = PrivateStory.member("mina")

    private static func story() -> PrivateStory {
        PrivateStory(with: [("anna", .admin), ("mina", .member), ("rita", .member)])
    }

    private static func judged(_ story: PrivateStory) -> PrivateAuthority {
        PrivateAuthority(of: story.document, story.operations, ends: [mina: [end]])
    }

    private static func answering(_ key: UInt8) -> PrivateAction {
        .rekey(PrivateStory.epoch(key, answers: [end]))
    }

    @Test(arguments: [("mina", false), ("rita", true), ("anna", true), ("olga", true)])
    func `makes its key the sealing key, unless the departed member wrote it`(
        author: String, seals: Bool
    ) {
        var story = Self.story()
        story.write(author, Self.answering(2))
        story.write("olga", .rekey(PrivateStory.epoch(3)))
        let sealing = Self.judged(story).sealingEpoch(answering: [Self.end])
        #expect(sealing?.epoch.keyID == (seals ? PrivateStory.key(3) : nil))
        // Its answers to the ends of others count.
        let other = OperationID([UInt8](repeating: 8, count: 32))
        var others = Self.story()
        others.write("mina", .rekey(PrivateStory.epoch(2, answers: [other])))
        others.write("olga", .rekey(PrivateStory.epoch(3)))
        #expect(others.judged().sealingEpoch(answering: [other]) != nil)
    }

    @Test func `does not count from the departed member, even after a return`() {
        var story = Self.story()
        story.write("mina", Self.answering(2))
        story.write("olga", .rekey(PrivateStory.epoch(3)), knowing: [Self.end])
        story.add(["mina"], by: "olga")
        let judged = Self.judged(story)
        #expect(judged.standing(of: Self.mina) != nil)
        #expect(judged.sealingEpoch(answering: [Self.end]) == nil)
        story.write("mina", Self.answering(4), knowing: [Self.end])
        #expect(
            Self.judged(story).sealingEpoch(answering: [Self.end])?.epoch.keyID
                == PrivateStory.key(4))
    }

    /// Keys by members who are out by now answer nothing: accomplices may have known the id as
    /// well.
    @Test func `stops counting when its author is out`() {
        var story = Self.story()
        story.write("rita", Self.answering(2))
        story.remove("rita", by: "olga", key: 3)
        #expect(Self.judged(story).sealingEpoch(answering: [Self.end]) == nil)
        story.write("anna", Self.answering(4))
        #expect(
            Self.judged(story).sealingEpoch(answering: [Self.end])?.epoch.keyID
                == PrivateStory.key(4))
    }

    @Test(arguments: ["mina", "rita", "anna", "olga"])
    func `makes no seat valid, no matter who wrote it`(author: String) {
        var story = Self.story()
        story.write(author, Self.answering(2))
        story.add(["mina"], by: "olga")
        #expect(Self.judged(story).standing(of: Self.mina) == nil)
        story.write(
            "olga",
            .add(
                PrivateAddition(
                    seats: [PrivateSeat(Self.mina, .member)],
                    epoch: PrivateStory.epoch(4, answers: [Self.end]))))
        #expect(Self.judged(story).standing(of: Self.mina) == nil)
    }

    @Test(arguments: ["mina", "rita", "olga"])
    func `is proved by an operation that knows the end, before a seat or with it`(
        author: String
    ) {
        var story = Self.story()
        story.write(author, .rekey(PrivateStory.epoch(2)), knowing: [Self.end])
        #expect(Self.judged(story).standing(of: Self.mina) == nil)
        story.add(["mina"], by: "olga")
        #expect(Self.judged(story).standing(of: Self.mina) != nil)
        // The same holds for a member who changes a role.
        story.write("anna", .role(Self.mina, .guest, drops: false))
        #expect(Self.judged(story).standing(of: Self.mina)?.role == .guest)
    }
}
