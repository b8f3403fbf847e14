import CRDTStore
import WorkspaceModel

extension Checking {
    /// What one operation gives.
    struct ExpectedAnnotation {
        let row: ViewStore.Annotation
        let cited: [OperationID]
        let isValid: Bool
    }
}

/// Comparing what is said about messages with what the view holds of it.
extension NodeCore {
    /// Notes what an operation says about a message.
    func note(
        _ annotation: MessageAnnotation, _ stored: StoredOperation, in workspace: Workspace,
        _ check: inout Checking
    ) throws(StorageError) {
        let source = AnnotationSource(stored)
        if let document = workspace.privateDocuments[stored.log.document],
            workspace.isOwn(document)
        {
            return
        }
        guard let row = row(of: annotation, source, in: workspace) else { return }
        check.annotations[row.register.document, default: [:]][row.register.target, default: []]
            .append(
                .init(
                    row: row, cited: source.cited,
                    isValid: try doesCount(annotation: stored, in: workspace)))
    }

    /// Compares all annotations of a workspace, message by message.
    func compareAnnotations(
        of workspace: Workspace, _ check: inout Checking
    ) throws(StorageError) {
        for document in store.operations.documents(ofWorkspace: workspace.number).sorted() {
            guard let row = store.operations.document(document, in: workspace.number),
                row.kind == .channel || row.kind == .privateDocument
            else { continue }
            var stored: [MessageKey: Set<ViewStore.StoredAnnotation>] = [:]
            for row in try store.view.annotations(of: row.number) {
                stored[row.row.register.target, default: []].insert(row)
            }
            let expected = check.annotations[row.number] ?? [:]
            for target in Set(stored.keys).union(expected.keys).sorted() {
                try compare(
                    expected[target] ?? [], stored[target] ?? [], about: target, in: row.number,
                    of: workspace, &check)
            }
        }
    }

    private func compare(
        _ noted: [Checking.ExpectedAnnotation], _ stored: Set<ViewStore.StoredAnnotation>,
        about target: MessageKey, in document: Int64, of workspace: Workspace,
        _ check: inout Checking
    ) throws(StorageError) {
        check.result.rows += Int64(noted.count)
        guard Self.rows(of: noted) != stored else { return }
        // Since it was noted, slices ago, a verdict may have changed or a payload may have gone.
        let expected = try renewed(noted, in: workspace)
        guard Self.rows(of: expected) != stored else { return }
        check.result.add(
            "view", PublicID.message(target), "what is said about a message differs",
            done: check.mended)
        guard check.repairs else { return }
        try write()
        try store.view.forgetAnnotations(of: target, in: document)
        for item in expected {
            try store.view.fold(item.row, citing: item.cited, isValid: item.isValid)
        }
        check.result.repaired += 1
    }

    /// What operations give by now.
    private func renewed(
        _ noted: [Checking.ExpectedAnnotation], in workspace: Workspace
    ) throws(StorageError) -> [Checking.ExpectedAnnotation] {
        var expected: [Checking.ExpectedAnnotation] = []
        for item in noted {
            guard let stored = try store.operations.operation(item.row.arrival),
                stored.entry.absent == nil
            else { continue }
            expected.append(
                .init(
                    row: item.row, cited: item.cited,
                    isValid: try doesCount(annotation: stored, in: workspace)))
        }
        return expected
    }

    /// The rows that operations give, from the rule itself: covered is what a valid one of the
    /// register has in its past.
    static func rows(
        of operations: [Checking.ExpectedAnnotation]
    ) -> Set<ViewStore.StoredAnnotation> {
        let byID = Dictionary(operations.map { ($0.row.id, $0) }) { first, _ in first }
        var covered: Set<OperationID> = []
        for operation in operations where operation.isValid {
            var open = operation.cited
            while let id = open.popLast() {
                guard let next = byID[id], next.row.register == operation.row.register,
                    covered.insert(id).inserted
                else { continue }
                open += next.cited
            }
        }
        return Set(
            operations.map {
                ViewStore.StoredAnnotation(
                    row: $0.row, isValid: $0.isValid, isCovered: covered.contains($0.row.id))
            })
    }
}
