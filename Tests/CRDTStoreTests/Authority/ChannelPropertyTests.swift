import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Random channels in random documents. A failure names the seed; `WSX_SEED` repeats it.
struct `A channel's owner, roles and settings are one function of the operations` {
    private func channels(_ seed: UInt64) -> ChannelFuzzer {
        var fuzzer = ChannelFuzzer(seed: seed)
        fuzzer.run(steps: 60)
        return fuzzer
    }

    private func ruling(
        _ creation: OperationID, _ fuzzer: ChannelFuzzer, _ evaluator: AuthEvaluator
    ) -> JudgedChannel? {
        evaluator.ruling(
            on: DocumentID(sameBytesAs: creation), claims: fuzzer.claims[creation] ?? [],
            isDefault: false)
    }

    @Test(arguments: Seeds.explore(50))
    func `the ruling equals the recursive definition`(seed: UInt64) throws {
        var fuzzer = channels(seed)
        let history = fuzzer.authority.history
        let evaluator = try AuthEvaluator.evaluateFromScratch(history.operations)
        let authority = AuthDefinition(history, visitingWith: &fuzzer.authority.generator)
        for creation in fuzzer.creations {
            let definition = ChannelDefinition(
                authority, creation: creation, claims: fuzzer.claims[creation] ?? [])
            guard let ruling = ruling(creation, fuzzer, evaluator) else {
                #expect(!definition.isMade)
                continue
            }
            #expect(ruling.owner == definition.owner)
            #expect(Set(ruling.admins) == definition.admins)
            #expect(Set(ruling.chain) == definition.links)
            #expect(ruling.lastLink == definition.lastLink)
            let deletions = Set(
                (fuzzer.claims[creation] ?? []).filter { $0.change == nil }.map(\.id))
            #expect(Set(ruling.counting) == definition.counting.subtracting(deletions))
            #expect(
                (ruling.deletion != nil) == !definition.counting.isDisjoint(with: deletions))
            #expect(ruling.isArchived == (definition.word { $0.change?.archived } ?? false))
            #expect(ruling.history == (definition.word { $0.change?.history } ?? 0))
        }
    }

    @Test(arguments: Seeds.explore(60))
    func `every causal order of delivery ends in the same rulings`(seed: UInt64) throws {
        var fuzzer = channels(seed)
        let history = fuzzer.authority.history
        let full = try AuthEvaluator.evaluateFromScratch(history.operations)
        for _ in 0..<3 {
            var evaluator = AuthEvaluator()
            for operation in history.shuffledCausally(with: &fuzzer.authority.generator) {
                // An operation with a fault is refused.
                _ = try? evaluator.add(operation)
            }
            for creation in fuzzer.creations {
                let claims = (fuzzer.claims[creation] ?? [])
                    .shuffled(using: &fuzzer.authority.generator)
                let shuffled = evaluator.ruling(
                    on: DocumentID(sameBytesAs: creation), claims: claims, isDefault: false)
                #expect(shuffled == ruling(creation, fuzzer, full))
            }
            #expect(
                evaluator.defaultChannel(among: fuzzer.creations)
                    == full.defaultChannel(among: fuzzer.creations.reversed()))
        }
    }

    @Test(arguments: Seeds.explore(50))
    func `a former owner changes nothing any more`(seed: UInt64) throws {
        var fuzzer = channels(seed)
        var evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.authority.history.operations)
        for creation in fuzzer.creations {
            guard let before = ruling(creation, fuzzer, evaluator), before.chain.count > 1 else {
                continue
            }
            for _ in 0..<10 {
                guard
                    let claim = writeAsReplaced(about: creation, before, &fuzzer, evaluator)
                else { continue }
                _ = try? evaluator.add(try #require(fuzzer.authority.history[claim.id]))
                #expect(ruling(creation, fuzzer, evaluator) == before)
            }
        }
    }

    @Test func `the fuzzer reaches the interesting cases`() throws {
        var counts = (links: 0, siblings: 0, replaced: 0, counting: 0, ignored: 0, deleted: 0)
        var isEnough: Bool {
            counts.links > 60 && counts.siblings > 30 && counts.replaced > 10
                && counts.counting > 100 && counts.ignored > 100 && counts.deleted > 10
        }
        for seed in UInt64(0)..<60 where !isEnough {
            var fuzzer = channels(seed)
            let evaluator = try AuthEvaluator.evaluateFromScratch(
                fuzzer.authority.history.operations)
            for creation in fuzzer.creations {
                guard let ruling = ruling(creation, fuzzer, evaluator) else { continue }
                let claims = fuzzer.claims[creation] ?? []
                counts.links += ruling.chain.count - 1
                counts.siblings += claims.count { claim in
                    claim.change?.isLink == true && evaluator.isValid(claim.id)
                        && ruling.chain.dropLast().contains(claim.link ?? creation)
                        && !ruling.chain.contains(claim.id)
                }
                counts.counting += ruling.counting.count
                counts.ignored += claims.count { claim in
                    evaluator.isValid(claim.id) && !ruling.counting.contains(claim.id)
                }
                counts.deleted += ruling.deletion == nil ? 0 : 1
                if writeAsReplaced(about: creation, ruling, &fuzzer, evaluator) != nil {
                    counts.replaced += 1
                }
            }
        }
        #expect(isEnough, "\(counts)")
    }
}

/// A setting or deletion by an author who is not an admin of the workspace, under a replaced link,
/// and written without knowing the replacement.
private func writeAsReplaced(
    about creation: OperationID, _ ruling: JudgedChannel, _ fuzzer: inout ChannelFuzzer,
    _ evaluator: AuthEvaluator
) -> ChannelClaim? {
    guard let link = ruling.chain.dropLast().randomElement(using: &fuzzer.authority.generator)
    else { return nil }
    let history = fuzzer.authority.history
    let plain = history.operations.filter { operation in
        evaluator.role(ofGrant: operation.id).map { $0 >= .member } == true
    }
    guard let grant = plain.randomElement(using: &fuzzer.authority.generator) else { return nil }
    let past = history.closure(of: [link, grant.id, creation])
    let change: ChannelChange? =
        fuzzer.authority.generator.oneIn(3) ? nil : ChannelChange(archived: true)
    return fuzzer.write(
        about: creation, knowing: past, under: grant, change: .some(change), link: link)
}
