import CRDTStore
import WorkspaceModel

/// Comparing what the own documents say with what the view holds of it.
extension NodeCore {
    /// Notes what an operation of an own document gives.
    func note(
        _ register: OwnRegister, _ stored: StoredOperation, in workspace: Workspace,
        _ check: inout Checking
    ) throws(StorageError) {
        guard let row = try row(of: register, stored, in: workspace) else { return }
        if case .read(_, _, let frontier) = register, !frontier.isEmpty {
            check.frontiers[row.place, default: ReadFrontier()].merge(frontier)
        }
        if let known = check.registers[row.place], !row.counts(before: known) { return }
        check.registers[row.place] = row
    }

    /// Compares all registers of a workspace.
    func compareRegisters(
        of workspace: Workspace, _ check: inout Checking
    ) throws(StorageError) {
        let expected = check.registers.filter { $0.key.workspace == workspace.number }
        var shown: [ViewStore.Register.Place: ViewStore.Register] = [:]
        for row in try store.view.registers(of: workspace.number) { shown[row.place] = row }
        check.result.rows += Int64(expected.count)
        for place in Set(expected.keys).union(shown.keys).sorted()
        where expected[place] != shown[place] {
            let operation = (expected[place] ?? shown[place])?.id
            check.result.add(
                "view", operation.map(PublicID.operation) ?? "register",
                "a register of the own document differs", done: check.mended)
            guard check.repairs else { continue }
            try write()
            if let row = expected[place] {
                try store.view.put(row)
            } else {
                try store.view.remove(place)
            }
            check.result.repaired += 1
        }
        try compareFrontiers(of: workspace, &check)
    }

    private func compareFrontiers(
        of workspace: Workspace, _ check: inout Checking
    ) throws(StorageError) {
        let expected = check.frontiers.filter { $0.key.workspace == workspace.number }
        var shown: [ViewStore.Register.Place: ReadFrontier] = [:]
        for (subject, frontier) in try store.view.frontiers(of: workspace.number) {
            shown[.init(workspace: workspace.number, kind: .read, subject: subject)] = frontier
        }
        check.result.rows += Int64(expected.count)
        for place in Set(expected.keys).union(shown.keys).sorted()
        where expected[place] != shown[place] {
            check.result.add(
                "view", PublicID.conversation(place.subject),
                "what was read of its logs differs", done: check.mended)
            guard check.repairs else { continue }
            try write()
            try store.view.removeFrontier(place)
            try store.view.fold(expected[place] ?? ReadFrontier(), at: place)
            check.result.repaired += 1
        }
    }
}
