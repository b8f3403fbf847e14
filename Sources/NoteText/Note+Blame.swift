public import WorkspaceModel

/// A part of the text that one operation wrote.
public struct NoteAuthorship: Hashable, Sendable {
    /// Its scalars in the text.
    public let range: Range<Int>
    /// The author's log.
    public let author: NoteOperation.Author
    /// The operation, `nil` for the local draft.
    public let key: MessageKey?
}

// Authorship of the text.
extension Note {
    /// The text in parts, in order, with the author of each; adjacent parts differ.
    public func authorship() -> [NoteAuthorship] {
        var parts: [NoteAuthorship] = []
        var place = 0
        var open: (start: Int, entry: Int)?
        func close() {
            guard let last = open else { return }
            let entry = table.entries[last.entry]
            parts.append(
                NoteAuthorship(
                    range: last.start..<place, author: table.authors[Int(entry.author)],
                    key: last.entry == writing?.entry ? nil : entry.key))
        }
        forEachVisible { span in
            var element = span.first
            while element <= span.last {
                let index = table.piece(of: element)
                let piece = table.pieces[index]
                let end = min(span.last + 1, piece.first + table.count(ofPiece: index))
                if open?.entry != Int(piece.entry) {
                    close()
                    open = (place, Int(piece.entry))
                }
                place += Int(end - element)
                element = end
            }
        }
        close()
        return parts
    }

    /// The logs and places of the operations with these keys. Missing and erased ones are left out.
    public func places(
        of keys: [MessageKey]
    ) -> [(author: NoteOperation.Author, sequence: UInt64, key: MessageKey)] {
        keys.compactMap { key in
            guard let index = table.index(of: key), table.entries[index].state != .erased else {
                return nil
            }
            let entry = table.entries[index]
            return (table.authors[Int(entry.author)], entry.sequence, key)
        }
    }

    /// The applied operations, for a hash that names this version of the note: the authors in
    /// order, each with the number of its operations and the sum of their keys.
    ///
    /// Two notes with the same operations have the same frontier. Verdicts are not part of it.
    public var frontier: [UInt8] {
        var logs = table.authors.map { (author: $0, count: 0, words: (UInt64(0), UInt64(0))) }
        for (index, entry) in table.entries.enumerated()
        where index != writing?.entry && entry.state != .erased {
            let author = Int(entry.author)
            logs[author].count += 1
            logs[author].words.0 &+= entry.key.timestamp.rawValue
            logs[author].words.1 &+= entry.key.idPrefix
        }
        logs.removeAll { $0.count == 0 }
        logs.sort { $0.author < $1.author }
        var encoder = CBOREncoder(reservingBytes: 16 + 64 * logs.count)
        encoder.array(count: logs.count)
        for log in logs {
            encoder.array(count: 5)
            encoder.byteString(log.author.device)
            encoder.uint(UInt64(log.author.incarnation))
            encoder.int(log.count)
            encoder.uint(log.words.0)
            encoder.uint(log.words.1)
        }
        return encoder.bytes
    }
}
