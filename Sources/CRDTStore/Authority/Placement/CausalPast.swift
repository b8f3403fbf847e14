/// The set of all ancestors of an operation, as one number per branch.
///
/// A branch is a chain of operations, each with the one before it in its past, so a prefix of it
/// is one number. A log is a branch until it forks; the second successor of an operation opens a
/// new branch, whose first operation has the stem in its past like any other ancestor. Therefore
/// the relation between branches need not be known.
///
/// Branches are numbered as they arrive here: the numbers differ between nodes, the sets do not.
///
/// The numbers are in the leaves of a tree whose parts operations share. Adding one operation
/// copies the path to one leaf: for B branches that is O(log B), about 0.5 KiB for 100,000 and one
/// leaf up to 32. An author who writes on many logs costs others that much and no more. Parts that
/// two sets share are skipped when these are united or compared.
struct CausalPast: Equatable, Sendable {
    /// Part of the tree. Neither form ends in zeros or empty nodes, so equal sets are equal trees;
    /// an empty leaf stands for any part without branches.
    enum Node: Equatable, Sendable {
        /// For up to 32 neighbouring branches, how many operations are in the set.
        case leaf([UInt32])
        /// Up to 16 parts of equal span.
        case inner([Node])
    }

    private static let leafBits = 5
    private static let innerBits = 4

    private(set) var root = Node.empty
    /// How many inner nodes lie above each leaf.
    private var height = 0

    /// Whether the operation at `position` of `branch` is in the set.
    func contains(branch: Int, position: UInt32) -> Bool {
        guard branch >> Self.shift(height) == 0 else { return false }
        var node = root
        var level = height
        while case .inner(let parts) = node {
            level -= 1
            let part = Self.part(of: branch, below: level)
            guard part < parts.count else { return false }
            node = parts[part]
        }
        guard case .leaf(let counts) = node else { return false }
        let slot = branch & Self.slotMask
        return slot < counts.count && counts[slot] > position
    }

    /// Adds the operation at a place and all before it on its branch.
    mutating func insert(_ place: AuthPlace) {
        insert(branch: place.branch, position: place.position)
    }

    /// Adds the operations of `branch` up to and including `position`.
    mutating func insert(branch: Int, position: UInt32) {
        guard !contains(branch: branch, position: position) else { return }
        while branch >> Self.shift(height) > 0 { grow() }
        Self.set(position + 1, of: branch, in: &root, level: height)
    }

    /// Adds everything in `other`.
    mutating func formUnion(_ other: Self) {
        var other = other
        while other.height < height { other.grow() }
        while height < other.height { grow() }
        root = Self.union(root, other.root)
    }

    /// Keeps only what is also in `other`.
    mutating func formIntersection(_ other: Self) {
        var other = other
        while other.height < height { other.grow() }
        while height < other.height { grow() }
        root = Self.intersection(root, other.root)
        // As if the set had never held anything else.
        if root.isEmpty { height = 0 }
        while case .inner(let parts) = root, parts.count == 1, let only = parts.first {
            root = only
            height -= 1
        }
    }

    /// Makes room for 16 times as many branches.
    private mutating func grow() {
        root = root.isEmpty ? .empty : .inner([root])
        height += 1
    }

    // MARK: Places

    private static let slotMask = 1 << leafBits - 1
    private static let partMask = 1 << innerBits - 1

    /// The number of bits that number the branches below a node of that level.
    private static func shift(_ level: Int) -> Int { leafBits + innerBits * level }

    /// The child of a node that contains `branch`; children are of that level.
    private static func part(of branch: Int, below level: Int) -> Int {
        branch >> shift(level) & partMask
    }

    // MARK: Changing

    /// Copies what is shared, and changes in place what is not.
    private static func set(
        _ count: UInt32, of branch: Int, in node: inout Node, level: Int
    ) {
        guard level > 0 else {
            var counts = node.takeCounts()
            let slot = branch & slotMask
            counts.extend(to: slot + 1, with: 0)
            counts[slot] = count
            node = .leaf(counts)
            return
        }
        var parts = node.takeParts()
        let part = part(of: branch, below: level - 1)
        parts.extend(to: part + 1, with: .empty)
        set(count, of: branch, in: &parts[part], level: level - 1)
        node = .inner(parts)
    }

    // MARK: Uniting

    /// Both are of one level. A result equal to one of them is not rebuilt, so that the union
    /// shares it.
    private static func union(_ left: Node, _ right: Node) -> Node {
        switch (left, right) {
        case (.leaf(let mine), .leaf(let theirs)):
            return union(mine, theirs, left, right)
        case (.inner(let mine), .inner(let theirs)):
            if mine.isSame(as: theirs) { return left }
            return union(mine, theirs, left, right)
        case (.inner, .leaf): return left
        case (.leaf, .inner): return right
        }
    }

    private static func union(
        _ mine: [UInt32], _ theirs: [UInt32], _ left: Node, _ right: Node
    ) -> Node {
        if mine.isSame(as: theirs) { return left }
        var isMine = mine.count >= theirs.count
        var isTheirs = theirs.count >= mine.count
        for slot in 0..<min(mine.count, theirs.count) {
            if mine[slot] < theirs[slot] { isMine = false }
            if theirs[slot] < mine[slot] { isTheirs = false }
        }
        if isMine { return left }
        if isTheirs { return right }
        var (union, other) = mine.count < theirs.count ? (theirs, mine) : (mine, theirs)
        for slot in other.indices where union[slot] < other[slot] { union[slot] = other[slot] }
        return .leaf(union)
    }

    private static func union(
        _ mine: [Node], _ theirs: [Node], _ left: Node, _ right: Node
    ) -> Node {
        var isMine = mine.count >= theirs.count
        var isTheirs = theirs.count >= mine.count
        let parts = (0..<max(mine.count, theirs.count)).map { part -> Node in
            guard part < mine.count else { return theirs[part] }
            guard part < theirs.count else { return mine[part] }
            let both = union(mine[part], theirs[part])
            isMine = isMine && both.isSame(as: mine[part])
            isTheirs = isTheirs && both.isSame(as: theirs[part])
            return both
        }
        return isMine ? left : isTheirs ? right : .inner(parts)
    }

    // MARK: Intersecting

    /// Both are of one level. A result equal to one of them is not rebuilt, as in a union.
    private static func intersection(_ left: Node, _ right: Node) -> Node {
        switch (left, right) {
        case (.leaf(let mine), .leaf(let theirs)):
            if mine.isSame(as: theirs) { return left }
            var common = zip(mine, theirs).map { min($0, $1) }
            while common.last == 0 { common.removeLast() }
            return common == mine ? left : common == theirs ? right : .leaf(common)
        case (.inner(let mine), .inner(let theirs)):
            if mine.isSame(as: theirs) { return left }
            var common = zip(mine, theirs).map { intersection($0, $1) }
            while common.last?.isEmpty == true { common.removeLast() }
            if common.isEmpty { return .empty }
            if common.isAllSame(as: mine) { return left }
            return common.isAllSame(as: theirs) ? right : .inner(common)
        // Both are of one level, so the leaf is an empty one.
        case (.inner, .leaf), (.leaf, .inner): return .empty
        }
    }
}

extension CausalPast.Node {
    /// A part without branches.
    static var empty: Self { .leaf([]) }

    var isEmpty: Bool {
        switch self {
        case .leaf(let counts): counts.isEmpty
        case .inner(let parts): parts.isEmpty
        }
    }

    /// Whether both share their storage, so that they are equal.
    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.leaf(let mine), .leaf(let theirs)): mine.isSame(as: theirs)
        case (.inner(let mine), .inner(let theirs)): mine.isSame(as: theirs)
        default: false
        }
    }

    /// Moves the numbers out of the node, so that they can be changed without a copy.
    fileprivate mutating func takeCounts() -> [UInt32] {
        guard case .leaf(let counts) = self else { return [] }
        self = .empty
        return counts
    }

    /// Moves the parts out of the node, likewise.
    fileprivate mutating func takeParts() -> [Self] {
        guard case .inner(let parts) = self else { return [] }
        self = .empty
        return parts
    }
}

extension Array where Element == CausalPast.Node {
    /// Whether both have the same parts, pairwise in shared storage.
    fileprivate func isAllSame(as other: Self) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
    }
}

extension Array {
    /// Whether both share their storage.
    fileprivate func isSame(as other: Self) -> Bool {
        withUnsafeBufferPointer { mine in
            other.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
        }
    }

    /// Extends it with `filling`, without spare capacity: most copies are never extended again.
    fileprivate mutating func extend(to count: Int, with filling: Element) {
        guard self.count < count else { return }
        var extended: Self = []
        extended.reserveCapacity(count)
        extended += self
        extended += repeatElement(filling, count: count - self.count)
        self = extended
    }
}
