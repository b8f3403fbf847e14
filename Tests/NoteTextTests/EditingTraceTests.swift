import Foundation
import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A real editing history (`data/editing-traces` of the shared data).
struct EditingTrace {
    struct Transaction {
        let parents: [Int]
        let agent: Int
        let patches: [NotePatch]

        init(_ fields: [String: Any]) throws {
            parents = fields["parents"] as? [Int] ?? []
            agent = fields["agent"] as? Int ?? 0
            patches = try #require(fields["patches"] as? [[Any]]).map { patch in
                NotePatch(
                    at: try #require(patch[0] as? Int), deleted: try #require(patch[1] as? Int),
                    inserted: try #require(patch[2] as? String))
            }
        }
    }

    let transactions: [Transaction]
    let end: String
    let writers: Int

    init(_ name: String) throws {
        let file = try Vectors.editingTrace(named: name)
        transactions = try #require(file["txns"] as? [[String: Any]]).map(Transaction.init)
        end = try #require(file["endContent"] as? String)
        writers = file["numAgents"] as? Int ?? 1
    }
}

struct `Real editing histories` {
    @Test(
        .vectors(Vectors.editingTrace("rustcode")),
        arguments: [
            "automerge-paper", "seph-blog1", "rustcode", "sveltecomponent", "friendsforever_flat",
            "clownschool_flat",
        ])
    func `end in their text, for who wrote and who reads`(name: String) throws {
        let trace = try EditingTrace(name)
        var random = SeededGenerator(seed: 1)
        var writer = NoteWriter(1)
        var reader = Note()
        func publish() throws {
            guard writer.note.draft != nil else { return }
            reader.apply(try writer.publish(using: &random), isTold: false)
        }
        for (index, transaction) in trace.transactions.enumerated() {
            for patch in transaction.patches {
                var rest: NotePatch? = patch
                while let more = rest {
                    rest = try writer.note.edit(more, as: writer.author)
                    if rest != nil { try publish() }
                }
            }
            if index % 20 == 19 { try publish() }
        }
        try publish()
        #expect(writer.note.text == trace.end)
        #expect(reader.text == trace.end)
        let snapshot = try #require(reader.snapshot(verdictChanges: 0))
        #expect(try NotePage(decoding: snapshot.page).text == trace.end)
        #expect(try Note(snapshot).text == trace.end)
    }

    @Test(
        .vectors(Vectors.editingTrace("friendsforever.concurrent")),
        arguments: ["friendsforever.concurrent", "clownschool.concurrent"])
    func `of two who wrote at once end in their text`(name: String) throws {
        let trace = try EditingTrace(name)
        var random = SeededGenerator(seed: 1)
        var writers = (0..<trace.writers).map { NoteWriter($0) }
        var known = writers.map { _ in Set<Int>() }
        var operations: [NoteOperation?] = []
        for (index, transaction) in trace.transactions.enumerated() {
            let agent = transaction.agent
            var open = transaction.parents
            var missing: [Int] = []
            while let parent = open.popLast() {
                guard known[agent].insert(parent).inserted else { continue }
                missing.append(parent)
                open += trace.transactions[parent].parents
            }
            for parent in missing.sorted() {
                if let operation = operations[parent] { writers[agent].note.apply(operation) }
            }
            for patch in transaction.patches {
                try writers[agent].note.edit(patch, as: writers[agent].author)
            }
            let isWritten = writers[agent].note.draft != nil
            operations.append(isWritten ? try writers[agent].publish(using: &random) : nil)
            known[agent].insert(index)
        }
        let all = operations.compactMap { $0 }
        #expect(note(of: all).text == trace.end)
        // What waits has a bound, so what comes late does not come later than that.
        var late: [NoteOperation] = []
        for start in stride(from: 0, to: all.count, by: 1_000) {
            late += all[start..<min(all.count, start + 1_000)].shuffled(using: &random)
        }
        #expect(note(of: late).text == trace.end)
    }
}
