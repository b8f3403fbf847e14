/// A copy-on-write array: copies share unchanged parts of 64 elements.
///
/// A document is tried out on a copy before anything is written, and one element that is added or
/// changed there copies one part. The array also grows by a part, and never by its own size.
struct SharedArray<Element: Sendable>: Sendable, RandomAccessCollection, MutableCollection {
    private static var shift: Int { 6 }
    private static var mask: Int { 1 << shift - 1 }

    private var parts: [[Element]] = []
    private(set) var count = 0

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(index: Int) -> Element {
        get { parts[index >> Self.shift][index & Self.mask] }
        _modify { yield &parts[index >> Self.shift][index & Self.mask] }
    }

    mutating func append(_ element: Element) {
        if count & Self.mask == 0 { parts.append([]) }
        parts[parts.count - 1].append(element)
        count += 1
    }

    /// Removes the last element.
    ///
    /// - Precondition: it has one.
    @discardableResult
    mutating func removeLast() -> Element {
        let last = parts[parts.count - 1].removeLast()
        count -= 1
        if count & Self.mask == 0 { parts.removeLast() }
        return last
    }
}

/// A value that copies share until one of them changes it: an array of one.
struct SharedValue<Value: Sendable>: Sendable {
    private var only: [Value]

    init(_ value: Value) { only = [value] }

    var value: Value {
        _read { yield only[0] }
        _modify { yield &only[0] }
    }

    /// Whether both share their storage.
    func isSame(as other: Self) -> Bool {
        only.withUnsafeBufferPointer { mine in
            other.only.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
        }
    }
}
