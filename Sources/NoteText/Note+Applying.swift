public import WorkspaceModel

// Taking in what was written elsewhere.
extension Note {
    /// Takes in an operation.
    ///
    /// - Parameters:
    ///   - isValid: whether it counts; if not, its text enters deleted, and nothing else happens.
    ///   - isTold: whether the answer says what changed in the text, which costs a little.
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

    /// An operation whose payload is gone: as if it had never been written, so what refers to it
    /// stands at the end of the note.
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

    /// A second operation with the key of one that was taken in.
    private func meet(_ operation: NoteOperation, at index: Int) -> NoteOutcome {
        let entry = table.entries[index]
        guard entry.state != .erased, entry.idMiddle != 0 else { return .known }
        return operation.id.words.1 < entry.idMiddle ? .mustBeMadeAnew : .known
    }

    /// Takes in what waited for `key`, and what waited for that. A list, not a recursion: its depth
    /// is up to others.
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

    /// - Precondition: its sources were just resolved, and all are there.
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

    /// Does what an edit says.
    ///
    /// - Precondition: `table.resolved` is its operation and all of its sources.
    mutating func takeIn(_ edit: NoteEdit, isValid: Bool, isTold: Bool) -> PatchList {
        let entry = table.resolved[0]
        var list = PatchList()
        var offset: UInt32 = 0
        var deleted: [Range<Element>] = []
        edit.forEachStep { step in
            switch step {
            case .insert(let left, let right, let text, let count):
                let run = number(
                    text, UInt32(truncatingIfNeeded: count), as: entry, from: offset,
                    table.origins(left, right), isHidden: !isValid)
                offset += run.count
                if chain?.insert(run) == true { return }
                settle()
                let place = weave(run, of: entry)
                if isTold, run.isVisible {
                    let inside = Int(run.first - tree[place].first)
                    list.insert(
                        at: tree.position(of: place) + inside,
                        String(decoding: text, as: UTF8.self), count: Int(run.count))
                }
            case .delete(let reference, let count): table.append(reference, count, to: &deleted)
            case .mark(let from, let to, let mark):
                guard let from = table.element(from, or: Span.start),
                    let to = table.element(to, or: Span.end)
                else { return }
                marks.append(MarkEntry(entry: entry, from: from, to: to, mark: mark))
            case .block(let reference, let kind):
                guard let element = table.element(reference, or: Span.start) else { return }
                lineWords.append(LineEntry(entry: entry, element: element, kind: kind))
            }
        }
        guard isValid else { return list }
        deleted.unite()
        for range in deleted {
            if chain?.delete(range) == true { continue }
            settle()
            retouch(range, &list, isTold: isTold) { span in span.deletes += 1 }
        }
        return list
    }

    /// Makes the tree of what was read of its history.
    mutating func settle() {
        guard let chain = chain.take() else { return }
        var text: [UInt8] = []
        swap(&text, &tree.text)
        tree = chain.tree(text: text)
    }

    /// Numbers new scalars and keeps their text.
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
        // Every byte that does not go on a scalar begins one.
        reduce(0) { $0 + ($1 & 0xc0 != 0x80 ? 1 : 0) }
    }
}

extension String {
    /// Its Unicode scalars, without looking at each by itself.
    var scalarCount: Int {
        var copy = self
        return copy.withUTF8 { UnsafeRawBufferPointer($0).scalarCount }
    }
}

extension NoteOperation.Author {
    /// Who wrote an operation that nobody can read any more.
    static let nobody = NoteOperation.Author(device: .zero, incarnation: 0)
}
