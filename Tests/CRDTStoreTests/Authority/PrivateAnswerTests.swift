import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// What a key that says to answer the end of a membership proves: who ends the own one knows its name
/// before anybody has heard of it, and so do accomplices.
@Suite struct `An answer to the end of a membership` {
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
    func `has a key seal, unless whose it was gave it`(author: String, seals: Bool) {
        var story = Self.story()
        story.write(author, Self.answering(2))
        story.write("olga", .rekey(PrivateStory.epoch(3)))
        let sealing = Self.judged(story).sealingEpoch(answering: [Self.end])
        #expect(sealing?.epoch.keyID == (seals ? PrivateStory.key(3) : nil))
        // What it says of others' ends counts.
        let other = OperationID([UInt8](repeating: 8, count: 32))
        var others = Self.story()
        others.write("mina", .rekey(PrivateStory.epoch(2, answers: [other])))
        others.write("olga", .rekey(PrivateStory.epoch(3)))
        #expect(others.judged().sealingEpoch(answering: [other]) != nil)
    }

    @Test(arguments: [
        ("mina", false), ("rita", false), ("anna", false), ("olga", true), ("nobody", false),
    ])
    func `has a seat hold by the word of whoever gives it`(author: String, holds: Bool) {
        var story = Self.story()
        if author != "nobody" { story.write(author, Self.answering(2)) }
        story.add(["mina"], by: "olga")
        #expect((Self.judged(story).standing(of: Self.mina) != nil) == holds)
        // In the same operation, too.
        story.write(
            "olga",
            .add(
                PrivateAddition(
                    seats: [PrivateSeat(Self.mina, .member)],
                    epoch: PrivateStory.epoch(4, answers: [Self.end]))))
        #expect(Self.judged(story).standing(of: Self.mina) != nil)
    }

    @Test(arguments: [false, true])
    func `is to be given again by who gives another role`(isGiven: Bool) {
        var story = Self.story()
        story.write("olga", Self.answering(2))
        story.add(["mina"], by: "olga")
        if isGiven { story.write("anna", Self.answering(3)) }
        story.write("anna", .role(Self.mina, .guest, drops: false))
        let standing = Self.judged(story).standing(of: Self.mina)
        #expect(standing?.role == (isGiven ? .guest : nil))
    }
}
