extension Array {
    /// The first place whose element fits, of elements that all fit behind the first that does.
    func firstPlace(where fits: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if fits(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The first elements of all in an order, as many as are wanted: what a page shows does not have
    /// everything behind it sorted, too.
    ///
    /// - Parameter precedes: a strict order of all elements.
    func leading(_ wanted: Int, inOrder precedes: (Element, Element) -> Bool) -> [Element] {
        guard wanted > 0 else { return [] }
        let (room, overflow) = wanted.multipliedReportingOverflow(by: 2)
        guard !overflow, count > room else { return Array(sorted(by: precedes).prefix(wanted)) }
        var best: [Element] = []
        best.reserveCapacity(room)
        var last: Element?
        // The latest elements are mostly displayed first.
        for element in reversed() {
            if let last, !precedes(element, last) { continue }
            best.append(element)
            guard best.count == room else { continue }
            best = Array(best.sorted(by: precedes).prefix(wanted))
            last = best.last
        }
        return Array(best.sorted(by: precedes).prefix(wanted))
    }
}
