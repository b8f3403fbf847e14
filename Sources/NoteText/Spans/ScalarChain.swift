/// The scalars of a note while its whole history is read: a linked list.
///
/// Nobody needs a position before the end. So nothing is counted, split or searched: an insert
/// between neighbours writes three numbers, and a deletion one for each scalar. At the end, two
/// passes turn this into runs.
struct ScalarChain {
    /// The maximum number of scalars: each takes 5 bytes until the end.
    static let scalarsMax: Element = 1 << 22

    /// The scalar after each one, 0 if that has the next number.
    private var following = [Element](repeating: 0, count: roomMin)
    /// How many valid operations delete each one.
    private var deletes = [UInt8](repeating: 0, count: roomMin)
    /// The runs as they were inserted, ascending by number.
    private var runs: [Span] = []
    /// For every 64 numbers the first run that begins there or later, so that a run is
    /// found in a few steps.
    private var landmarks: [UInt32] = []
    private static let landmarkShift: Element = 6
    /// The number of the next scalar.
    private var end: Element = 0
    /// The initial capacity in scalars.
    private static let roomMin = 1 << 12

    /// An empty note: the two sentinels.
    init() {
        append(Span(sentinel: Span.start), before: Span.end)
        append(Span(sentinel: Span.end), before: Span.nothing)
    }

    // MARK: Reading the history

    /// Inserts a run at its place.
    ///
    /// - Returns: `false` if others inserted between its origins, so that the place must be
    ///   searched in the tree.
    /// - Precondition: its origins are here, and its scalars have the next numbers.
    mutating func insert(_ run: Span) -> Bool {
        guard run.count > 0, run.last < Self.scalarsMax else { return false }
        var run = run
        let next = scalar(behind: run.left)
        run.setDepth(depth(of: run))
        // As in `Note.weave`.
        let isAlone =
            next == run.right
            || run.depth == 0 && (next == Span.nothing || origin(of: next) != run.left)
        guard isAlone else { return false }
        following[Int(run.left)] = run.first
        append(run, before: next)
        return true
    }

    /// Records a deletion by a valid operation.
    ///
    /// - Returns: `false` if the count of one of them would overflow.
    mutating func delete(_ range: Range<Element>) -> Bool {
        deletes.withUnsafeMutableBufferPointer { deletes in
            let range = Int(range.lowerBound)..<Int(range.upperBound)
            for element in range where deletes[element] == .max { return false }
            for element in range { deletes[element] += 1 }
            return true
        }
    }

    private mutating func append(_ run: Span, before next: Element) {
        end = run.first + run.count
        if following.count < Int(end) {
            let room = max(2 * following.count, Int(end))
            following = following.lengthened(to: room)
            deletes = deletes.lengthened(to: room)
        }
        while landmarks.count <= Int(run.first >> Self.landmarkShift) {
            landmarks.append(UInt32(truncatingIfNeeded: runs.count))
        }
        runs.append(run)
        following[Int(run.last)] = next
        // Hidden text counts as deleted from the start.
        if run.deletes > 0 { _ = delete(run.first..<end) }
    }

    private func scalar(behind element: Element) -> Element {
        let next = following[Int(element)]
        return next == 0 ? element + 1 : next
    }

    /// The run that begins with a scalar.
    private func run(at element: Element) -> Span? {
        // Most scalars follow the one with the previous number. Its link is set only at a run's
        // end, and where other text was inserted between.
        guard element == 0 || following[Int(element) - 1] != 0 else { return nil }
        let mark = Int(element >> Self.landmarkShift)
        guard mark < landmarks.count else { return nil }
        var low = Int(landmarks[mark])
        var high = mark + 1 < landmarks.count ? Int(landmarks[mark + 1]) : runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].first < element { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].first == element ? runs[low] : nil
    }

    /// The left origin of a scalar.
    private func origin(of element: Element) -> Element {
        run(at: element)?.left ?? element - 1
    }

    /// The distance of a run to the right-hand child that it precedes.
    private func depth(of run: Span) -> UInt32 {
        guard run.right > Span.end, run.right != Span.nothing else { return 0 }
        guard let right = self.run(at: run.right) else {
            return run.right - 1 == run.left ? 1 : 0
        }
        return right.left == run.left ? right.depth + 1 : 0
    }

    // MARK: The end

    /// The tree of the runs.
    ///
    /// - Parameter text: their UTF-8, of deleted ones too.
    consuming func tree(text: consuming [UInt8]) -> SpanTree {
        let parts = parts(text)
        // What follows each part; then its first scalar records which part it begins.
        let next = parts.map { scalar(behind: $0.last) }
        for index in parts.indices {
            following[Int(parts[index].first)] = UInt32(truncatingIfNeeded: index)
        }
        var ordered: [Span] = []
        ordered.reserveCapacity(parts.count)
        var element = Span.start
        while element != Span.nothing {
            let index = Int(following[Int(element)])
            ordered.append(parts[index])
            element = next[index]
        }
        return SpanTree(ordered: ordered, end: end, text: text)
    }

    /// The parts, by number: scalars of one run that are adjacent and have the same
    /// number of deletions.
    private func parts(_ text: [UInt8]) -> [Span] {
        var parts: [Span] = []
        parts.reserveCapacity(runs.count + runs.count / 4)
        for run in runs {
            var rest = run
            while true {
                let count = length(of: rest)
                let isWhole = count == rest.count
                var part = rest
                part.deletes = UInt32(deletes[Int(rest.first)])
                part.count = count
                if !isWhole {
                    part.bytes = text.byteCount(of: rest, scalars: count)
                    rest = rest.tail(from: count, byteOffset: part.bytes)
                }
                if let last = parts.last, last.goesOn(in: part),
                    scalar(behind: last.last) == part.first
                {
                    parts[parts.count - 1].count += part.count
                    parts[parts.count - 1].bytes += part.bytes
                } else {
                    parts.append(part)
                }
                if isWhole { break }
            }
        }
        return parts
    }

    /// Leading scalars of a run that are adjacent and have the same number of deletions.
    private func length(of run: Span) -> UInt32 {
        let last = Int(run.last)
        return following.withUnsafeBufferPointer { following in
            deletes.withUnsafeBufferPointer { deletes in
                var index = Int(run.first)
                let times = deletes[index]
                // Sixteen at a time: as long as none ends the part, the order does not matter.
                while last - index >= 16 {
                    var ends: UInt32 = 0
                    for place in index..<index + 16 {
                        ends |= following[place] | UInt32(deletes[place + 1] ^ times)
                    }
                    guard ends == 0 else { break }
                    index += 16
                }
                while index < last, following[index] == 0, deletes[index + 1] == times {
                    index += 1
                }
                return UInt32(truncatingIfNeeded: index + 1) - run.first
            }
        }
    }
}

extension Array where Element: FixedWidthInteger {
    /// Padded with zeros to `count` elements.
    ///
    /// - Precondition: it has no more.
    fileprivate func lengthened(to count: Int) -> [Element] {
        let used = self.count
        precondition(count >= used, "an array cannot be lengthened to less")
        return [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
            withUnsafeBufferPointer { old in
                let rest = buffer[..<used].initialize(fromContentsOf: old)
                buffer[rest...].initialize(repeating: 0)
            }
            initialized = count
        }
    }
}
