/// The scalars of a note whose whole history is read, each of which names the one behind it.
///
/// Nobody asks for a position before the end. So nothing is counted, cut or searched for: an
/// insertion between neighbours is three numbers, and a deletion one for each scalar. The runs are
/// made of that at the end, in two passes.
struct ScalarChain {
    /// Scalars at most: each takes 12 bytes until the end.
    static let scalarsMax: Element = 1 << 22

    /// The scalar behind each one, 0 where that has the next number.
    private var following: [Element]
    /// How many operations that count delete each one.
    private var deletes: [UInt32]
    /// The number of a run by its first scalar, counted from 1.
    private var starts: [UInt32]
    /// The runs as they were inserted.
    private var runs: [Span] = []
    /// The number of the next scalar.
    private var end: Element = 0

    /// An empty note: the two sentinels.
    init() {
        (following, deletes, starts) = ([0, 0], [0, 0], [0, 0])
        append(Span(sentinel: Span.start), before: Span.end)
        append(Span(sentinel: Span.end), before: Span.nothing)
    }

    // MARK: Reading the history

    /// Puts a run into its place.
    ///
    /// - Returns: whether it could. Where others inserted between its origins, it has to be looked
    ///   for in the tree.
    /// - Precondition: its origins are here, and its scalars have the next numbers.
    mutating func insert(_ run: Span) -> Bool {
        guard run.count > 0, run.last < Self.scalarsMax else { return false }
        var run = run
        let next = scalar(behind: run.left)
        run.setDepth(depth(of: run))
        // As `Note.weave` has it.
        let isAlone =
            next == run.right
            || run.depth == 0 && (next == Span.nothing || origin(of: next) != run.left)
        guard isAlone else { return false }
        following[Int(run.left)] = run.first
        append(run, before: next)
        return true
    }

    /// An operation that counts deletes these.
    mutating func delete(_ range: Range<Element>) {
        for element in range { deletes[Int(element)] &+= 1 }
    }

    private mutating func append(_ run: Span, before next: Element) {
        end = run.first + run.count
        while following.count < Int(end) {
            let more = repeatElement(UInt32(0), count: following.count)
            following += more
            deletes += more
            starts += more
        }
        runs.append(run)
        following[Int(run.last)] = next
        starts[Int(run.first)] = UInt32(truncatingIfNeeded: runs.count)
        if run.deletes > 0 { delete(run.first..<end) }
    }

    private func scalar(behind element: Element) -> Element {
        let next = following[Int(element)]
        return next == 0 ? element + 1 : next
    }

    /// The left origin of a scalar.
    private func origin(of element: Element) -> Element {
        let number = Int(starts[Int(element)])
        return number == 0 ? element - 1 : runs[number - 1].left
    }

    /// Steps of a run to the right-hand child that it stands before.
    private func depth(of run: Span) -> UInt32 {
        guard run.right != Span.nothing, origin(of: run.right) == run.left else { return 0 }
        let number = Int(starts[Int(run.right)])
        return number == 0 ? 1 : runs[number - 1].depth + 1
    }

    // MARK: The end

    /// The tree of the runs.
    ///
    /// - Parameter text: their UTF-8, of deleted ones too.
    consuming func tree(text: consuming [UInt8]) -> SpanTree {
        let parts = parts(text)
        var ordered: [Span] = []
        ordered.reserveCapacity(parts.count)
        var element = Span.start
        while element != Span.nothing {
            let part = parts[Int(starts[Int(element)]) - 1]
            ordered.append(part)
            element = scalar(behind: part.last)
        }
        return SpanTree(ordered: ordered, end: end, text: text)
    }

    /// What is of one run, deleted by as many and stands together, by number. `starts` is made that
    /// of these.
    private mutating func parts(_ text: [UInt8]) -> [Span] {
        var parts: [Span] = []
        parts.reserveCapacity(runs.count + runs.count / 4)
        for run in runs {
            var rest = run
            while true {
                let count = length(of: rest)
                let isWhole = count == rest.count
                var part = rest
                part.deletes = deletes[Int(rest.first)]
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
                    starts[Int(part.first)] = UInt32(truncatingIfNeeded: parts.count)
                }
                if isWhole { break }
            }
        }
        return parts
    }

    /// Scalars at the beginning of a run that stand together and are deleted by as many.
    private func length(of run: Span) -> UInt32 {
        let last = Int(run.last)
        return following.withUnsafeBufferPointer { following in
            deletes.withUnsafeBufferPointer { deletes in
                var index = Int(run.first)
                let times = deletes[index]
                while index < last, following[index] == 0, deletes[index + 1] == times {
                    index += 1
                }
                return UInt32(truncatingIfNeeded: index + 1) - run.first
            }
        }
    }
}
