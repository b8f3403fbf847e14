import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// The incrementally maintained ledger of a channel. A failure names the seed;
/// `WSX_SEED` repeats it.
struct `What is kept of a channel` {
    /// After each operation, in several orders: verdicts change on the way.
    @Test(arguments: Seeds.explore(15))
    func `equals what is made from nothing, after each operation`(seed: UInt64) throws {
        var fuzzer = ChannelFuzzer(seed: seed)
        fuzzer.run(steps: 60)
        var said: [OperationID: (creation: OperationID, claim: ChannelClaim)] = [:]
        for (creation, claims) in fuzzer.claims {
            for claim in claims { said[claim.id] = (creation, claim) }
        }
        for _ in 0..<2 {
            let order = fuzzer.authority.history.shuffledCausally(
                with: &fuzzer.authority.generator)
            var kept = Kept(creations: fuzzer.creations)
            for operation in order {
                // An operation with a fault is refused.
                guard let change = try? kept.evaluator.add(operation) else { continue }
                kept.take(change, said)
                let touched = (change.becameValid + change.becameInvalid).compactMap {
                    said[$0]?.creation ?? (fuzzer.creations.contains($0) ? $0 : nil)
                }
                for creation in Set(touched) { kept.check(creation, fuzzer.claims[creation] ?? []) }
            }
            for creation in fuzzer.creations {
                kept.check(creation, fuzzer.claims[creation] ?? [])
            }
        }
    }

    /// Each operation costs few looks, even if there are many links.
    @Test(arguments: ["handed on by its owner", "given admins by one and the same", "edited"])
    func `costs no more for each operation the longer it is`(_ kind: String) throws {
        let (few, many) = (try looks(100, kind), try looks(400, kind))
        #expect(few >= 100 && few <= 600)
        #expect(many <= 5 * few, "\(few) looks at 100 operations, \(many) at 400")
    }

    /// A hundred claims that wait for each other, added at once.
    private func looks(_ count: Int, _ kind: String) throws -> Int {
        var story = Story(admins: [], members: ["bob", "cat"])
        let creation = story.write("bob", after: story.heads, .createDocument)
        var evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        var ledger = evaluator.ledger(of: DocumentID(sameBytesAs: creation))
        var (last, link): (OperationID, OperationID?) = (creation, nil)
        for number in 0..<count {
            let heir = ["cat", "bob"][number % 2]
            let change =
                switch kind {
                case "handed on by its owner": ChannelChange(owner: story.member(heir))
                case "edited": ChannelChange(archived: number % 3 == 0)
                default: ChannelChange(admins: [story.member(heir)])
                }
            let author = kind == "handed on by its owner" ? ["bob", "cat"][number % 2] : "bob"
            let id = story.write(author, after: [last], .setDocument)
            let change2 = try evaluator.add(try #require(story.history[id]))
            #expect(change2.becameValid == [id])
            let claim = ChannelClaim(id: id, link: link, change: change)
            #expect(evaluator.update(&ledger, with: [claim]).added == [id])
            last = id
            if change.isLink { link = id }
        }
        let judged = try #require(evaluator.judged(ledger))
        #expect(judged.counting.count == count)
        #expect(judged.chain.count == (kind == "edited" ? 1 : count + 1))
        return ledger.looks
    }

    /// The roles at a time are found by a binary search in the chain.
    @Test(arguments: Seeds.explore(20))
    func `tells owner and admins of any time as its links do`(seed: UInt64) throws {
        var fuzzer = ChannelFuzzer(seed: seed)
        fuzzer.run(steps: 60)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.authority.history.operations)
        for creation in fuzzer.creations {
            let claims = fuzzer.claims[creation] ?? []
            let ledger = evaluator.ledger(of: DocumentID(sameBytesAs: creation), claims: claims)
            let chain = evaluator.chain(of: ledger)
            let times = chain.compactMap { evaluator.operation($0)?.timestamp }
            for time in [0] + times + times.map({ $0 &+ 1 }) {
                var owner = evaluator.author(of: creation)
                var admins: [MemberID] = []
                for link in chain.dropFirst() {
                    guard let written = evaluator.operation(link)?.timestamp, written <= time
                    else { break }
                    let change = claims.first { $0.id == link }?.change
                    owner = change?.owner ?? owner
                    admins = (change?.admins).map { Set($0).sorted() } ?? admins
                }
                let told = evaluator.roles(in: ledger, until: time)
                #expect(told?.owner == owner && told?.admins == (owner == nil ? nil : admins))
            }
        }
    }
}

/// Ledgers together with their evaluator.
private struct Kept {
    var evaluator = AuthEvaluator()
    private var ledgers: [OperationID: ChannelLedger] = [:]
    private var counting: [OperationID: Set<OperationID>] = [:]
    private var made = MadeChannels()
    private let creations: [OperationID]

    init(creations: [OperationID]) {
        self.creations = creations
        for creation in creations {
            ledgers[creation] = evaluator.ledger(of: DocumentID(sameBytesAs: creation))
        }
    }

    mutating func take(
        _ change: AuthChange,
        _ said: [OperationID: (creation: OperationID, claim: ChannelClaim)]
    ) {
        let changed = change.becameValid + change.becameInvalid
        var claims: [OperationID: [ChannelClaim]] = [:]
        for id in changed {
            if creations.contains(id) {
                made.note(id, in: evaluator)
                claims[id, default: []] += []
            }
            said[id].map { claims[$0.creation, default: []].append($0.claim) }
        }
        for (creation, claims) in claims {
            guard var ledger = ledgers[creation] else { continue }
            let told = evaluator.update(&ledger, with: claims)
            ledgers[creation] = ledger
            counting[creation, default: []].subtract(told.removed)
            counting[creation, default: []].formUnion(told.added)
        }
        #expect(made.first == evaluator.defaultChannel(among: creations))
    }

    func check(_ creation: OperationID, _ claims: [ChannelClaim]) {
        guard let ledger = ledgers[creation] else { return }
        let channel = DocumentID(sameBytesAs: creation)
        for isDefault in [false, true] {
            let anew = evaluator.ruling(on: channel, claims: claims, isDefault: isDefault)
            #expect(evaluator.judged(ledger, isDefault: isDefault) == anew)
        }
        let all = claims.map(\.id).filter { evaluator.counts($0, in: ledger) }
        #expect(Set(all) == counting[creation] ?? [])
        let anew = evaluator.ledger(of: channel, claims: claims)
        #expect(all == claims.map(\.id).filter { evaluator.counts($0, in: anew) })
    }
}
