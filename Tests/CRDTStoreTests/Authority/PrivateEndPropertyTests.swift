import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// An owner who knows everything removes people from a private channel. They and other former
/// members then write anything, in every past and under every seat: none of it counts.
struct `A member removed from a private document by an owner who knows all` {
    /// A document, what its owner wrote last, and who is out from then on.
    private struct Scene {
        var fuzzer: PrivateFuzzer
        let owner: String
        let out: [String]
    }

    private func scene(_ seed: UInt64) -> Scene? {
        var fuzzer = PrivateFuzzer(seed: seed, hasEnds: false)
        fuzzer.run(steps: 30)
        let authority = fuzzer.story.judged()
        let isChannel = authority.root?.subtype == .channel
        guard isChannel,
            let owner = PrivateFuzzer.names.first(where: {
                authority.standing(of: PrivateStory.member($0))?.role == .owner
            })
        else { return nil }
        let some = PrivateFuzzer.names.filter { $0 != owner && !fuzzer.generator.oneIn(3) }
        let removals = some.indices.map { number in
            fuzzer.putOut(some[number], by: owner, key: UInt8(240 + number))
        }
        let after = fuzzer.story.judged()
        // An owner who has removed somebody under all kinds of seats before may meet the bounds of
        // D-10.
        let out = zip(some, removals).filter { after.isValid($0.1) }.map(\.0)
        return out.isEmpty ? nil : Scene(fuzzer: fuzzer, owner: owner, out: out)
    }

    @Test(arguments: Seeds.explore(120))
    func `changes nothing any more`(seed: UInt64) {
        guard var scene = scene(seed) else { return }
        let before = scene.fuzzer.story.judged()
        guard before.standing(of: PrivateStory.member(scene.owner)) != nil else { return }
        for name in scene.out {
            #expect(before.keys(for: PrivateStory.member(name)).isEmpty, "\(name)")
        }
        // Nothing tells which of two transfers under one key came first: so none is tried beside.
        scene.fuzzer.attack(by: scene.out, steps: 25, transferring: false)
        let after = scene.fuzzer.story.judged(shuffledBy: seed)
        #expect(after.members == before.members)
        #expect(after.fields == before.fields)
        #expect(
            after.sealingEpoch(answering: [])?.operation
                == before.sealingEpoch(answering: [])?.operation)
        for name in PrivateFuzzer.names {
            let member = PrivateStory.member(name)
            #expect(after.keys(for: member) == before.keys(for: member), "\(name)")
        }
        #expect(Set(after.validOperations) == Set(before.validOperations))
        let log = LogName(document: scene.fuzzer.story.document, device: .zero, incarnation: 1)
        for name in scene.out {
            let member = PrivateStory.member(name)
            #expect(!after.leadsInThePast(member), "\(name)")
            for key in UInt8(1)...250 {
                let limit = after.contentLimit(of: member, in: log, under: PrivateStory.key(key))
                #expect(limit == .nothing, "\(name) under \(key)")
            }
        }
    }

    @Test func `occurs in most of the documents`() {
        let scenes = (UInt64(0)..<100).compactMap(scene)
        #expect(scenes.count > 50)
        #expect(scenes.reduce(0) { $0 + $1.out.count } > 200)
    }
}

extension PrivateFuzzer {
    /// Lets an owner who knows everything remove a member, with a new key.
    fileprivate mutating func putOut(
        _ name: String, by owner: String, key: UInt8
    ) -> OperationID {
        let seat = story.judged().standing(of: PrivateStory.member(owner))?.seat
        let epoch = PrivateStory.epoch(key)
        return write(
            owner, .remove(PrivateStory.member(name), cuts: [], epoch: epoch), under: seat)
    }
}
