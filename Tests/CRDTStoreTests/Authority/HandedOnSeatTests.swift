import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// An owner of a private channel hands it on while an admin, who has not heard of that, removes the
/// owner and grants a lesser role: the transfer takes what that role grants, and the removal ends
/// what the owner kept. The owner must lose keys and content as well, or an owner and an admin
/// together could leave a reader behind whom nobody sees.
struct `An owner removed while handing a private channel over` {
    private func story(isGivenRole: Bool = true) -> PrivateStory {
        var story = PrivateStory(by: "olga", with: [("adam", .admin), ("anna", .admin)])
        let start = story.heads
        let removal = story.remove("olga", by: "adam", after: start, key: 2)
        var known = [removal]
        if isGivenRole {
            known = [
                story.write(
                    "adam", after: known, .role(PrivateStory.member("olga"), .member, drops: false))
            ]
        }
        let transfer = story.write(
            "olga", after: start, .role(PrivateStory.member("anna"), .owner, drops: true))
        story.write("anna", after: known + [transfer], .rekey(PrivateStory.epoch(3)))
        return story
    }

    @Test(arguments: [false, true])
    func `has no seat, gets no key and writes nothing that counts`(isGivenRole: Bool) {
        let story = story(isGivenRole: isGivenRole)
        let olga = PrivateStory.member("olga")
        for shuffle in UInt64(0)..<6 {
            let authority = story.judged(shuffledBy: shuffle)
            #expect(authority.members.map(\.role) == [.admin, .owner])
            #expect(authority.standing(of: olga) == nil)
            #expect(authority.keys(for: olga).isEmpty)
            let log = LogName(document: story.document, device: .zero, incarnation: 1)
            for key in UInt8(1)...3 {
                let limit = authority.contentLimit(
                    of: olga, in: log, under: PrivateStory.key(key))
                #expect(limit == .nothing, "under \(key)")
            }
        }
    }

    /// As above with an end in the workspace in the place of the removal: the member who adds her
    /// again knows that end, and not the transfer, which takes the seat.
    @Test func `gets no key by a seat that the transfer took`() {
        var story = PrivateStory(by: "olga", with: [("adam", .admin), ("anna", .admin)])
        let (start, olga) = (story.heads, PrivateStory.member("olga"))
        let end = OperationID([UInt8](repeating: 9, count: 32))
        story.ends[olga] = [end]
        let transfer = story.write(
            "olga", after: start, .role(PrivateStory.member("anna"), .owner, drops: true))
        let seats = [PrivateSeat(olga, .member)]
        let addition = story.write(
            "adam", after: start,
            .add(PrivateAddition(seats: seats, epoch: PrivateStory.epoch(2))), knowing: [end])
        story.write("anna", after: [transfer, addition], .rekey(PrivateStory.epoch(3)))
        let authority = story.judged()
        #expect(authority.standing(of: olga) == nil)
        #expect(authority.keys(for: olga).isEmpty)
        #expect(!authority.keys(for: PrivateStory.member("adam")).isEmpty)
    }

    /// Only both together put the owner out permanently: added by somebody who knows both, she is
    /// in.
    @Test func `is in again when somebody who knows both adds them`() {
        var story = story()
        story.add(["olga"], by: "anna", key: 4)
        let authority = story.judged()
        let olga = PrivateStory.member("olga")
        #expect(authority.standing(of: olga)?.role == .member)
        #expect(authority.keys(for: olga).contains(PrivateStory.key(4)))
    }
}

/// A founder of a private channel who handed it on, and then was removed or left: an operation
/// under the former seat is stronger than all of the new owner's, and can have any date.
struct `A former owner of a private channel` {
    private func story() -> (story: PrivateStory, before: OperationID, transfer: OperationID) {
        var story = PrivateStory(by: "kim", with: [("mina", .member), ("nora", .member)])
        let before = story.write("kim", .rekey(PrivateStory.epoch(2)))
        let transfer = story.write(
            "kim", .role(PrivateStory.member("mina"), .owner, drops: true))
        story.remove("kim", by: "mina", key: 3)
        return (story, before, transfer)
    }

    @Test(arguments: [
        PrivateAction.delete,
        .remove(PrivateStory.member("mina"), cuts: [], epoch: PrivateStory.epoch(8)),
        .add(PrivateAddition(seats: [PrivateSeat(PrivateStory.member("eve"), .admin)], epoch: nil)),
        .set(PrivateSettings(name: "mine")), .rekey(PrivateStory.epoch(9)),
    ])
    func `changes nothing by a backdated operation`(_ action: PrivateAction) {
        var (story, _, _) = story()
        let expected = story.judged()
        let dated = story.write("kim", after: [story.root], action, under: story.root)
        let authority = story.judged()
        #expect(!authority.isValid(dated))
        #expect(authority.members == expected.members)
        #expect(authority.fields == expected.fields)
        #expect(authority.epochs == expected.epochs)
    }

    @Test func `keeps what was known at the handover`() {
        let (story, before, transfer) = story()
        let authority = story.judged()
        #expect(authority.isValid(before) && authority.isValid(transfer))
        #expect(authority.members.map(\.role) == [.owner, .member])
    }

    /// A chain: of two concurrent transfers one counts, and what rests on the other has no effect.
    @Test func `hands over to one heir, and each owner may hand over`() {
        var (story, before, transfer) = story()
        let other = story.write(
            "kim", after: [before], .role(PrivateStory.member("nora"), .owner, drops: true))
        let authority = story.judged()
        #expect(authority.isValid(transfer) != authority.isValid(other))
        let owners = authority.members.filter { $0.role == .owner }
        #expect(owners.count == 1)
    }
}
