import WorkspaceModel

// Lookups between scalars and operations.
extension OperationTable {
    /// The piece that contains a scalar.
    ///
    /// - Precondition: it belongs to an operation.
    func piece(of element: Element) -> Int {
        let mark = Int(element >> Self.landmarkShift)
        var low = landmarks[mark]
        var high = mark + 1 < landmarks.count ? landmarks[mark + 1] + 1 : pieces.count
        // Most lookups are for the last piece.
        if let last = pieces.last, last.first <= element { return pieces.count - 1 }
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].first <= element { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    /// The length of a piece: it ends where the next one begins.
    func count(ofPiece index: Int) -> UInt32 {
        (index + 1 < pieces.count ? pieces[index + 1].first : nextElement) - pieces[index].first
    }

    /// How many scalars from `first` on are in at most this many pieces, and in how many.
    func extent(
        from first: Element, atMost count: UInt32, pieces most: Int
    ) -> (count: UInt32, pieces: Int) {
        var index = piece(of: first)
        var end = pieces[index].first + self.count(ofPiece: index)
        var number = 1
        while end - first < count, number < most {
            index += 1
            number += 1
            end = pieces[index].first + self.count(ofPiece: index)
        }
        return (min(count, end - first), number)
    }

    /// The operation that inserted a scalar, and the scalar's offset in it.
    func origin(of element: Element) -> (entry: Int, offset: Int) {
        let piece = pieces[piece(of: element)]
        return (Int(piece.entry), Int(piece.offset + (element - piece.first)))
    }

    /// The scalars of an operation as ranges of numbers.
    func ranges(of entry: Int) -> [Range<Element>] {
        var ranges: [Range<Element>] = []
        append(entry, from: 0, count: .max, to: &ranges)
        return ranges
    }

    /// Adds the scalars of an operation from `offset` on, at most `count`, as ranges of numbers.
    func append(
        _ entry: Int, from offset: Int, count: Int, to ranges: inout [Range<Element>]
    ) {
        var next = entries[entry].piece
        let end = count > .max - offset ? Int.max : offset + count
        while next != Self.noPiece {
            let piece = pieces[Int(next)]
            let length = Int(self.count(ofPiece: Int(next)))
            let low = max(offset, Int(piece.offset))
            let high = min(end, Int(piece.offset) + length)
            if low < high {
                let first = piece.first + UInt32(low - Int(piece.offset))
                ranges.add(first..<first + UInt32(high - low))
            }
            next = piece.next
        }
    }

    /// The scalar at an offset of an operation, `nil` if it inserts fewer.
    func element(_ entry: Int, _ offset: Int) -> Element? {
        var next = entries[entry].piece
        while next != Self.noPiece {
            let piece = pieces[Int(next)]
            let inside = offset - Int(piece.offset)
            if inside >= 0, inside < Int(count(ofPiece: Int(next))) {
                return piece.first + UInt32(inside)
            }
            next = piece.next
        }
        return nil
    }

    /// Whether operation `left` comes before `right` if their origins are equal: by device,
    /// incarnation, place in the log, id.
    func precedes(_ left: Int, _ right: Int) -> Bool {
        let one = entries[left]
        let other = entries[right]
        if one.author != other.author {
            return authors[Int(one.author)] < authors[Int(other.author)]
        }
        return (one.sequence, one.key.idPrefix, one.key.timestamp)
            < (other.sequence, other.key.idPrefix, other.key.timestamp)
    }
}
