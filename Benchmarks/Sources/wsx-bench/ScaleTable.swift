import Glibc
import WorkspaceModel

/// Figures of one thing at some sizes, and with which power of the size each grows.
struct ScaleTable {
    private let sizes: [Int]
    private var rows: [(name: String, kind: Kind, values: [Double])] = []

    /// How a figure is compared between sizes.
    enum Kind {
        /// What all of them cost together beyond what there was at the first size, 0: linear is 1.
        ///
        /// - Parameter noise: less than this is not told from nothing.
        case whole(noise: Double)
        /// What one call takes: the same at every size is 0.
        case call
    }

    init(sizes: [Int]) { self.sizes = sizes }

    /// The next size's value of the row `name`.
    mutating func add(_ name: String, _ kind: Kind, _ value: Double) {
        if let index = rows.firstIndex(where: { $0.name == name }) {
            rows[index].values.append(value)
        } else {
            rows.append((name, kind, [value]))
        }
    }

    /// The slope of the logarithm of `costs` over that of `sizes`, from the first cost above `noise` to
    /// the last; `nil` when there are no two.
    static func exponent(of costs: [Double], at sizes: [Int], noise: Double) -> Double? {
        let told = zip(sizes, costs).filter { $0.0 > 0 && $0.1 > max(noise, 0) }
        guard let first = told.first, let last = told.last, first.0 < last.0,
            costs.last == last.1
        else { return nil }
        return log(last.1 / first.1) / log(Double(last.0) / Double(first.0))
    }

    /// One JSON line to the output, and the same as a table to the errors, for people.
    func print(_ anchor: String, _ thing: String) {
        var figures = Figures(anchor)
        figures.note("thing", thing)
        let line = "| \(thing) | " + sizes.map { "\($0)" }.joined(separator: " | ")
        var text = line + " | for each | exponent |\n"
        text += "| --- |" + String(repeating: " ---: |", count: sizes.count + 2) + "\n"
        for row in rows {
            for (size, value) in zip(sizes, row.values) where value.isFinite {
                figures.add("\(row.name)_at_\(size)", value)
            }
            let (each, exponent) = growth(row.kind, row.values)
            if let each { figures.add("\(row.name)_each", each) }
            if let exponent { figures.add("exponent_\(row.name)", exponent) }
            let growth = [each, exponent].map { $0.map(Self.short) ?? "" }
            let cells = row.values.map(Self.short) + growth
            text += "| \(row.name) | " + cells.joined(separator: " | ") + " |\n"
        }
        figures.print()
        fflush(nil)
        _ = write(STDERR_FILENO, text, text.utf8.count)
    }

    /// What each more costs between the last two sizes, and the exponent.
    private func growth(_ kind: Kind, _ values: [Double]) -> (each: Double?, exponent: Double?) {
        let count = values.count
        guard count == sizes.count, count > 2, let base = values.first else { return (nil, nil) }
        switch kind {
        case .whole(let noise):
            let more = Double(sizes[count - 1] - sizes[count - 2])
            let costs = values.map { $0 - base }
            return (
                (values[count - 1] - values[count - 2]) / more,
                Self.exponent(of: costs, at: sizes, noise: noise)
            )
        case .call: return (nil, Self.exponent(of: values, at: sizes, noise: 0))
        }
    }

    private static func short(_ value: Double) -> String {
        let scale = abs(value) < 10 ? 1_000.0 : abs(value) < 100 ? 100.0 : 10.0
        return "\((value * scale).rounded() / scale)"
    }
}
