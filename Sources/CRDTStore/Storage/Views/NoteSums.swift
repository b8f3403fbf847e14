public import WorkspaceModel

extension ViewStore {
    /// A note's version: sums over the ids of its valid and invalid edits, so that adding an
    /// edit has a constant cost. Equal on all nodes with the same edits and verdicts. Erased
    /// edits are not counted.
    public struct NoteSums: Hashable, Sendable {
        private var valid = Sum()
        private var invalid = Sum()

        /// Modulo 2^64.
        private struct Sum: Hashable, Sendable {
            var count: UInt64 = 0
            /// Of the first 8 bytes of the ids.
            var first: UInt64 = 0
            /// Of the next 8 bytes.
            var second: UInt64 = 0

            mutating func add(_ id: OperationID) {
                count &+= 1
                first &+= id.words.0
                second &+= id.words.1
            }

            mutating func remove(_ id: OperationID) {
                count &-= 1
                first &-= id.words.0
                second &-= id.words.1
            }
        }

        /// A note without edits.
        public init() {}

        /// How many edits there are.
        public var count: UInt64 { valid.count &+ invalid.count }

        /// Adds an edit.
        public mutating func add(_ id: OperationID, _ state: NoteEditRow.State) {
            switch state {
            case .valid: valid.add(id)
            case .invalid: invalid.add(id)
            case .erased: break
            }
        }

        /// Removes an edit.
        public mutating func remove(_ id: OperationID, _ state: NoteEditRow.State) {
            switch state {
            case .valid: valid.remove(id)
            case .invalid: invalid.remove(id)
            case .erased: break
            }
        }

        private var words: [UInt64] {
            [
                valid.count, valid.first, valid.second, invalid.count, invalid.first,
                invalid.second,
            ]
        }

        /// 48 bytes: the six numbers, big endian.
        public var bytes: [UInt8] { words.flatMap(bigEndianBytes) }

        /// - Parameter bytes: gives `nil` unless there are 48.
        public init?(bytes: [UInt8]) {
            guard bytes.count == 48 else { return nil }
            let words = stride(from: 0, to: 48, by: 8).map { start in
                bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
            }
            valid = Sum(count: words[0], first: words[1], second: words[2])
            invalid = Sum(count: words[3], first: words[4], second: words[5])
        }
    }
}
