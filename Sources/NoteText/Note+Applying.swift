public import WorkspaceModel

// Applying remote operations.
extension Note {
    /// Applies an operation.
    ///
    /// - Parameters:
    ///   - isValid: whether it is valid; if not, its text is inserted as deleted, and it has no
    ///     other effect.
    ///   - isTold: whether the result lists the changes of the text, which costs a little.
    @discardableResult
    public mutating func apply(
        _ operation: NoteOperation, isValid: Bool = true, isTold: Bool = true
    ) -> NoteOutcome {
        let key = operation.key
        if let index = table.index(of: key) { return meet(operation, at: index) }
        if !waiting.isEmpty, let other = waiting.operation(key) {
            guard operation.id < other.id else { return .known }
            waiting.remove(key)
        }
        if let missing = table.resolve(operation.edit) {
            guard waiting.add(operation, isValid: isValid, for: missing) else {
                hasDropped = true
                return .full
            }
            return .waits
        }
        guard hasRoom(for: operation.edit) else {
            hasDropped = true
            return .full
        }
        let change = takeIn(operation, isValid: isValid, isTold: isTold)
        guard !waiting.isEmpty else { return .applied([change]) }
        var changes = [change]
        releaseWaiting(for: key, isTold: isTold, &changes)
        return .applied(changes)
    }

    /// An operation whose payload was erased: treated as if it had never been written, so text that
    /// refers to it moves to the end of the note.
    @discardableResult
    public mutating func erase(_ key: MessageKey, isTold: Bool = true) -> NoteOutcome {
        if let index = table.index(of: key) {
            return table.entries[index].state == .erased ? .known : .mustBeMadeAnew
        }
        waiting.remove(key)
        _ = table.add(
            OperationTable.Entry(
                key: key, idMiddle: 0, sequence: 0, author: table.author(.nobody), state: .erased))
        var changes: [NoteChange] = []
        releaseWaiting(for: key, isTold: isTold, &changes)
        return .applied(changes)
    }

    /// A second operation with the key of an applied one.
    private func meet(_ operation: NoteOperation, at index: Int) -> NoteOutcome {
        let entry = table.entries[index]
        guard entry.state != .erased, entry.idMiddle != 0 else { return .known }
        return operation.id.words.1 < entry.idMiddle ? .mustBeMadeAnew : .known
    }

    /// Applies what waited for `key`, and what waited for that. A loop, not a recursion: others
    /// determine the depth.
    private mutating func releaseWaiting(
        for key: MessageKey, isTold: Bool, _ changes: inout [NoteChange]
    ) {
        var arrived = [key]
        while let key = arrived.popLast() {
            for (operation, isValid) in waiting.release(key) {
                if let missing = table.resolve(operation.edit) {
                    // There was room for it a moment ago.
                    _ = waiting.add(operation, isValid: isValid, for: missing)
                } else if hasRoom(for: operation.edit) {
                    changes.append(takeIn(operation, isValid: isValid, isTold: isTold))
                    arrived.append(operation.key)
                } else {
                    hasDropped = true
                }
            }
        }
    }

    private func hasRoom(for edit: NoteEdit) -> Bool {
        tree.text.count + NoteLimits.editBytesMax <= NoteLimits.historyBytesMax
            && edit.changeCount <= NoteLimits.changesMax
    }

    // MARK: One operation

    /// - Precondition: its sources were just resolved, and all are present.
    private mutating func takeIn(
        _ operation: NoteOperation, isValid: Bool, isTold: Bool
    ) -> NoteChange {
        table.resolved[0] = table.add(
            OperationTable.Entry(
                key: operation.key, idMiddle: operation.id.words.1, sequence: operation.sequence,
                author: table.author(operation.author), state: isValid ? .valid : .invalid))
        return NoteChange(
            operation.key, takeIn(operation.edit, isValid: isValid, isTold: isTold))
    }

    /// Applies an edit.
    ///
    /// - Precondition: `table.resolved` contains its operation and all of its sources.
    mutating func takeIn(_ edit: NoteEdit, isValid: Bool, isTold: Bool) -> PatchList {
        var effect = Effect(entry: table.resolved[0], isValid: isValid, isTold: isTold)
        switch edit.form {
        case .made(let changes): for change in changes { take(change, &effect) }
        case .read(let body, let steps):
            // The steps capture nothing of the note: a captured part would be copied.
            body.withUnsafeBytes { body in
                for step in steps { take(step, of: body, &effect) }
            }
        }
        guard isValid else { return effect.list }
        effect.deleted.unite()
        for range in effect.deleted {
            if chain?.delete(range) == true { continue }
            settle()
            retouch(range, &effect.list, isTold: isTold) { span in span.deletes += 1 }
        }
        return effect.list
    }

    /// The operation being applied, and its effects so far.
    private struct Effect {
        let entry: Int
        let isValid: Bool
        let isTold: Bool
        /// Inserted scalars so far.
        var offset: UInt32 = 0
        var deleted: [Range<Element>] = []
        var list = PatchList()
    }

    private mutating func take(
        _ step: ReadStep, of body: UnsafeRawBufferPointer, _ effect: inout Effect
    ) {
        switch step.kind {
        case .insert:
            insert(
                step.text(in: body), step.count,
                table.origins(step.left.reference, step.right.reference), &effect)
        case .delete:
            guard let first = step.left.reference else { return }
            table.append(first, Int(step.count), to: &effect.deleted)
        case .block:
            guard let kind = step.lineKind else { return }
            say(kind, of: step.left.reference, effect.entry)
        }
    }

    private mutating func take(_ change: NoteEdit.Change, _ effect: inout Effect) {
        switch change {
        case .insert(let left, let right, var text):
            let origins = table.origins(left, right)
            text.withUTF8 { text in
                let text = UnsafeRawBufferPointer(text)
                insert(text, UInt32(truncatingIfNeeded: text.scalarCount), origins, &effect)
            }
        case .delete(let reference, let count):
            table.append(reference, count, to: &effect.deleted)
        case .mark(let from, let to, let mark):
            guard let from = table.element(from, or: Span.start),
                let to = table.element(to, or: Span.end)
            else { return }
            marks.append(MarkEntry(entry: effect.entry, from: from, to: to, mark: mark))
        case .block(let reference, let kind): say(kind, of: reference, effect.entry)
        }
    }

    private mutating func say(
        _ kind: NoteBlockKind, of line: NoteEdit.Reference?, _ entry: Int
    ) {
        guard let element = table.element(line, or: Span.start) else { return }
        lineWords.append(LineEntry(entry: entry, element: element, kind: kind))
    }

    private mutating func insert(
        _ text: UnsafeRawBufferPointer, _ count: UInt32, _ origins: OperationTable.Origins,
        _ effect: inout Effect
    ) {
        let run = number(
            text, count, as: effect.entry, from: effect.offset, origins,
            isHidden: !effect.isValid)
        effect.offset += run.count
        if chain?.insert(run) == true { return }
        settle()
        let place = weave(run, of: effect.entry)
        guard effect.isTold, run.isVisible else { return }
        let inside = Int(run.first - tree[place].first)
        effect.list.insert(
            at: tree.position(of: place) + inside, String(decoding: text, as: UTF8.self),
            count: Int(run.count))
    }

    /// Builds the tree after reading the history.
    mutating func settle() {
        guard let chain = chain.take() else { return }
        var text: [UInt8] = []
        swap(&text, &tree.text)
        tree = chain.tree(text: text)
    }

    /// Numbers new scalars and stores their text.
    private mutating func number(
        _ text: UnsafeRawBufferPointer, _ count: UInt32, as entry: Int, from offset: UInt32,
        _ origins: OperationTable.Origins, isHidden: Bool
    ) -> Span {
        let start = tree.text.count
        tree.text.append(contentsOf: text)
        return Span(
            first: table.number(count, of: entry, offset: offset), count: count,
            left: origins.left, right: origins.right, text: UInt32(truncatingIfNeeded: start),
            bytes: UInt32(truncatingIfNeeded: text.count), deletes: origins.isBroken ? 1 : 0,
            depth: 0, isHidden: isHidden)
    }
}

extension UnsafeRawBufferPointer {
    /// The Unicode scalars of UTF-8.
    var scalarCount: Int {
        // Every byte that does not continue a scalar begins one.
        reduce(0) { $0 + ($1 & 0xc0 != 0x80 ? 1 : 0) }
    }
}

extension String {
    /// The number of Unicode scalars, without decoding each.
    var scalarCount: Int {
        var copy = self
        return copy.withUTF8 { UnsafeRawBufferPointer($0).scalarCount }
    }
}

extension NoteOperation.Author {
    /// The author of an erased operation.
    static let nobody = NoteOperation.Author(device: .zero, incarnation: 0)
}
