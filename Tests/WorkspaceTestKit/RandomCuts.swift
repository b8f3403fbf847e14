/// Cuts a sequence into parts of random lengths, as networks, files and turns do.
///
/// A consumer of such parts must give the same result as for the whole.
///
/// ```swift
/// for part in RandomCuts.parts(of: bytes, upTo: [2, 60], using: &random) { parser.append(part) }
/// ```
public enum RandomCuts {
    /// The parts of `whole`, one behind the other.
    ///
    /// - Parameters:
    ///   - bounds: the most elements of a part; for each part one of these is drawn. A bound that is named
    ///     twice is drawn twice as often.
    ///   - least: the fewest elements, but of the last part; with 0 some parts are empty.
    public static func parts<Whole: Collection>(
        of whole: Whole, upTo bounds: [Int], from least: Int = 0,
        using random: inout SeededGenerator
    ) -> [Whole.SubSequence] {
        precondition(bounds.allSatisfy { $0 >= max(least, 1) }, "it would not end")
        var parts: [Whole.SubSequence] = []
        var rest = whole[...]
        while !rest.isEmpty {
            let bound = bounds[random.below(bounds.count)]
            let part = rest.prefix(least + random.below(bound - least + 1))
            parts.append(part)
            rest = rest[part.endIndex...]
        }
        return parts
    }
}
