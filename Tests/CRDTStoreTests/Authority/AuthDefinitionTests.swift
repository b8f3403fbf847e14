import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Tests of the definition against which the evaluator is tested.
struct `The definition of the rules` {
    private func document(_ seed: UInt64) -> AuthFuzzer {
        var fuzzer = AuthFuzzer(seed: seed, replacesPhrases: seed.isMultiple(of: 3))
        fuzzer.run(steps: 50)
        return fuzzer
    }

    @Test(arguments: Seeds.explore(40))
    func `says the same in every order of asking, and is not circular`(seed: UInt64) {
        var fuzzer = document(seed)
        let first = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
        let second = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
        #expect(first.validOperations() == second.validOperations())
        #expect(first.refusals == second.refusals)
        // The fuzzer's definition also knows what honest authors judged and did not sign.
        let everything = fuzzer.everything
        #expect(
            first.refusals == fuzzer.definition.refusals.filter { everything.contains($0.key) })
        #expect(!first.foundCycle && !second.foundCycle)
    }

    @Test(arguments: Seeds.explore(40))
    func `gives the same verdicts without what is void and nothing valid knows (S-2)`(
        seed: UInt64
    ) {
        let fuzzer = document(seed)
        let valid = fuzzer.definition.validOperations(among: fuzzer.everything)
        let stored = fuzzer.history.closure(of: valid)
        #expect(fuzzer.definition.validOperations(among: stored) == valid)
    }

    @Test func `is asked about every rule by the fuzzer`() {
        var broken: [String: Int] = [:]
        var counts = (valid: 0, void: 0, refused: 0)
        // A-10 takes sixteen requests on one invite, which few documents have.
        let rules = ([8, 9] + (11...25)).map { "A-\($0)" } + ["A-1 to A-4", "A-7", "4.0.2", "S-1"]
        var isEnough: Bool {
            counts.valid > 3_000 && counts.void > 300 && counts.refused > 1_000
                && rules.allSatisfy { broken[$0, default: 0] > 0 }
        }
        for seed in UInt64(0)..<200 where !isEnough {
            let fuzzer = document(seed)
            let valid = fuzzer.definition.validOperations(among: fuzzer.everything).count
            let written = fuzzer.everything
            let refused = fuzzer.definition.refusals.filter { written.contains($0.key) }
            counts.valid += valid
            counts.refused += refused.count
            counts.void += fuzzer.everything.count - valid - refused.count
            for refusal in refused.values {
                switch refusal {
                case .fault(let rule): broken[rule, default: 0] += 1
                case .citesRefused: broken["S-1", default: 0] += 1
                }
            }
        }
        for rule in rules { #expect(broken[rule, default: 0] > 0, "\(rule) of \(broken)") }
        #expect(counts.valid > 3_000 && counts.void > 300 && counts.refused > 1_000, "\(counts)")
    }
}
