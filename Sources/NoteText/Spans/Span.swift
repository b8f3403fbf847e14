/// The number of a scalar in this copy of a note, in the order of arrival. It is never sent.
typealias Element = UInt32

/// A run of scalars that were written consecutively and are still adjacent.
///
/// Only the first scalar stores origins: each other one has its predecessor as left origin, and the
/// same right origin. 32 bytes, so that a leaf of 64 fits in half a page.
struct Span {
    /// The first scalar; the others follow by number.
    var first: Element
    /// Scalars, at least one.
    var count: UInt32
    /// The left origin of the first scalar.
    var left: Element
    /// Its right origin.
    var right: Element
    /// Where its UTF-8 begins in the tree's text, or `Span.noText`.
    var text: UInt32
    /// Bytes of UTF-8.
    var bytes: UInt32
    /// How many valid operations delete it.
    var deletes: UInt32
    /// Twice the distance to the right-hand child that it precedes, plus one if its
    /// operation is invalid.
    var state: UInt32

    /// Precedes everything; no text is inserted before it.
    static let start: Element = 0
    /// Follows all regularly placed text; text that refers to an erased operation comes after it.
    static let end: Element = 1
    /// The first number of a written scalar.
    static let firstWritten: Element = 2
    /// No origin: the left one of both sentinels, the right one of text at the end.
    static let nothing: Element = .max
    /// Scalars at most, which bounds the work for one run.
    static let countMax: UInt32 = 1 << 16
    /// The text was left out of a snapshot, because it is deleted.
    static let noText: UInt32 = .max

    /// One of the two sentinels, which are invisible.
    init(sentinel: Element) {
        first = sentinel
        count = 1
        left = Self.nothing
        right = Self.nothing
        text = Self.noText
        bytes = 0
        deletes = 1
        state = 0
    }

    init(
        first: Element, count: UInt32, left: Element, right: Element, text: UInt32, bytes: UInt32,
        deletes: UInt32, depth: UInt32, isHidden: Bool
    ) {
        self.first = first
        self.count = count
        self.left = left
        self.right = right
        self.text = text
        self.bytes = bytes
        self.deletes = deletes
        state = depth << 1 | (isHidden ? 1 : 0)
    }

    /// Its last scalar.
    var last: Element { first &+ (count &- 1) }
    /// The distance to the right-hand child that it precedes, among runs with the same left origin.
    var depth: UInt32 { state >> 1 }

    /// Whether its operation is invalid.
    var isHidden: Bool {
        get { state & 1 == 1 }
        set { state = state & ~1 | (newValue ? 1 : 0) }
    }

    /// Whether it is part of the text.
    var isVisible: Bool { deletes == 0 && state & 1 == 0 }
    /// Its scalars in the text.
    var visible: Int { isVisible ? Int(count) : 0 }
    /// Its bytes in the text.
    var visibleBytes: Int { isVisible ? Int(bytes) : 0 }

    /// Whether `next`, directly behind it, continues this run.
    func goesOn(in next: Span) -> Bool {
        next.first == first &+ count && next.left == last && next.right == right
            && count <= Self.countMax &- min(next.count, Self.countMax) && next.depth == 0
            && next.deletes == deletes && next.isHidden == isHidden
            && (text == Self.noText
                ? next.text == Self.noText : next.text == text &+ bytes && next.text != Self.noText)
    }

    /// The part from scalar `offset` on; its text begins after `byteOffset` bytes.
    func tail(from offset: UInt32, byteOffset: UInt32) -> Span {
        Span(
            first: first &+ offset, count: count &- offset, left: first &+ offset &- 1,
            right: right, text: text == Self.noText ? text : text &+ byteOffset,
            bytes: bytes &- byteOffset, deletes: deletes, depth: 0, isHidden: isHidden)
    }
}
