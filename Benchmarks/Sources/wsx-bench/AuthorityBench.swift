import CRDTStore
import WorkspaceModel

/// Who may do what in a workspace of 1,000 members, 2,000 devices and 5,000 authority operations:
/// everything judged from scratch, one more operation of content, one more removal.
enum AuthorityBench {
    static func run(_ options: Options) throws {
        try growth()
        var workspace = try LargeWorkspace(seed: 1)
        let operations = workspace.operations
        var figures = Figures("wsx_authority")
        let judged = try AuthEvaluator.evaluateFromScratch(operations)
        figures.note("operations", operations.count)
        figures.note("valid", judged.validOperations.count)
        figures.note("members_ever", workspace.people.count)
        figures.note("members_now", judged.members.count)
        figures.note("devices_ever", workspace.people.reduce(0) { $0 + $1.devices.count })
        for _ in 0..<options.runs {
            let scratch = try seconds { _ = try AuthEvaluator.evaluateFromScratch(operations) }
            var evaluator = AuthEvaluator()
            let arriving = try seconds { for item in operations { try evaluator.add(item) } }
            figures.add("from_scratch_ms", scratch * 1e3)
            figures.add("one_after_the_other_ms", arriving * 1e3)
            let citations = Floors.citations(
                operations.map {
                    ($0.id, $0.dependencies + [$0.previous, $0.grant].compactMap { $0 })
                })
            figures.add("floor_citations_ms", citations * 1e3)
            figures.add("floor_verify_ms", Double(operations.count) / verifyRate * 1e3)
            figures.add("ratio_from_scratch_to_citations", scratch / citations)
            let verdict = contentVerdict(evaluator, workspace)
            let lookup = lookupFloor(operations)
            figures.add("content_verdict_us", verdict * 1e6)
            figures.add("floor_lookup_us", lookup * 1e6)
            figures.add("ratio_content_verdict_to_lookup", verdict / lookup)
            figures.add("members_ms", seconds { _ = evaluator.members } * 1e3)
            try removals(evaluator, &workspace, &figures)
        }
        figures.print()
    }

    /// The same of 100, 1,000 and 4,000 members with 500, 5,000 and 20,000 operations.
    private static func growth() throws {
        let sizes = [100, 1_000, 4_000]
        var table = ScaleTable(sizes: sizes.map { 5 * $0 })
        var kept: [AuthEvaluator] = []
        for size in sizes {
            let workspace = try LargeWorkspace(seed: 1, members: size)
            let operations = workspace.operations
            let each = 1e6 / Double(operations.count)
            // First, so that it does not get memory that something else has given back.
            let before = try heapKilobytes()
            var evaluator = AuthEvaluator()
            let arriving = try processorSeconds {
                for item in operations { try evaluator.add(item) }
            }
            let memory = try heapKilobytes() - before
            kept.append(evaluator)
            let scratch = try processorSeconds {
                _ = try AuthEvaluator.evaluateFromScratch(operations)
            }
            table.add("from_scratch_us_each", .call, scratch * each)
            table.add("one_after_the_other_us_each", .call, arriving * each)
            table.add("memory_kB_each", .call, memory / Double(operations.count))
            let citations = Floors.citations(
                operations.map {
                    ($0.id, $0.dependencies + [$0.previous, $0.grant].compactMap { $0 })
                })
            table.add("floor_citations_us_each", .call, citations * each)
            table.add("floor_verify_us_each", .call, 1e6 / verifyRate)
            table.add("content_verdict_us", .call, contentVerdict(evaluator, workspace) * 1e6)
            table.add("members_ms", .call, seconds { _ = evaluator.members } * 1e3)
        }
        precondition(kept.count == sizes.count)
        table.print("wsx_authority_growth", "authority operations")
    }

    /// What this program holds of memory that no file is behind.
    private static func heapKilobytes() throws -> Double {
        for line in try readFile("/proc/self/status").split(separator: "\n")
        where line.hasPrefix("RssAnon:") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return Double(words[1]) ?? 0
        }
        throw BenchError("no RssAnon")
    }

    /// Signatures checked a second: what operations cost before authority is asked.
    private static let verifyRate = Floors.signatures().verify

    private static func lookupFloor(_ operations: [AuthOperation]) -> Double {
        var table: [OperationID: Int] = [:]
        for (index, operation) in operations.enumerated() { table[operation.id] = index }
        var found = 0
        let rounds = 20
        let time = seconds {
            for _ in 0..<rounds { for item in operations { found += table[item.id] ?? 0 } }
        }
        precondition(found > 0)
        return time / Double(rounds * operations.count)
    }

    /// Seconds for one message of everybody's every device.
    private static func contentVerdict(
        _ evaluator: AuthEvaluator, _ workspace: LargeWorkspace
    ) -> Double {
        let channel = DocumentID(words: (1, 2, 3, 4))
        var (asked, allowed) = (0, 0)
        let time = seconds {
            for person in workspace.people {
                for (device, grant) in zip(person.devices, person.grants) {
                    let log = LogName(document: channel, device: device, incarnation: 1)
                    asked += 1
                    let limit = evaluator.contentLimit(
                        grant: grant, log: log, leastRole: .member)
                    if limit.allows(sequence: 7, isAtOrBefore: { _ in true }) { allowed += 1 }
                }
            }
        }
        precondition(allowed > 0)
        return time / Double(asked)
    }

    /// The owner removes plain members, and then an admin, without having everything that this
    /// admin, and the members he admitted, wrote.
    private static func removals(
        _ evaluator: AuthEvaluator, _ workspace: inout LargeWorkspace, _ figures: inout Figures
    ) throws {
        var evaluator = evaluator
        let owner = workspace.people[0]
        var last: AuthOperation?
        var heads = evaluator.heads
        // The first change makes the copy its own.
        for person in workspace.people.suffix(31) {
            let operation = workspace.draft(
                by: owner.devices[1], citing: heads, under: owner.grants[1],
                .remove(member: person.member), after: last)
            let time = try seconds { _ = try evaluator.add(operation) }
            if last != nil { figures.add("removal_ms", time * 1e3) }
            last = operation
            heads = [operation.id]
        }
        let founded = workspace.operations[21].id
        for admin in workspace.people[1...10] {
            let operation = workspace.draft(
                by: owner.devices[1], citing: [founded], under: owner.grants[1],
                .remove(member: admin.member))
            var change = AuthChange()
            let time = try seconds { change = try evaluator.add(operation) }
            figures.add("blind_removal_of_an_admin_ms", time * 1e3)
            figures.add("verdicts_it_changes", Double(change.becameInvalid.count))
        }
    }
}
