import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Whether a private channel is judged at the same cost for each change however many there were:
/// one member who changes the key over and over, and an owner who puts 64 people out and in.
enum SeatsBench {
    static func run(_ options: Options) throws {
        var figures = Figures("wsx_seats")
        let sizes = [1_000, 4_000, 16_000]
        for _ in 0..<options.runs {
            try measure("rekeys", sizes, { Changes.rekeys($0) }, &figures)
            try measure("returns", sizes, { Changes.returns($0) }, &figures)
        }
        figures.print()
    }

    private static func measure(
        _ name: String, _ sizes: [Int], _ changes: (Int) -> Changes, _ figures: inout Figures
    ) throws {
        var each: [Double] = []
        for size in sizes {
            let changes = changes(size)
            var authority = PrivateAuthority(of: changes.document, [])
            let judging = seconds {
                authority = PrivateAuthority(of: changes.document, changes.operations)
            }
            precondition(authority.validOperations.count == size)
            var key: KeyID?
            let asking = seconds {
                key = authority.sealingEpoch(answering: [])?.epoch.keyID
                _ = authority.members
                _ = authority.keysToHandOn(holding: changes.keys)
                for comer in changes.comers {
                    let seats = authority.seatRights(of: comer)
                    for log in changes.logs {
                        _ = authority.contentLimit(by: seats, in: log, under: changes.lastKey)
                    }
                }
            }
            precondition(key == changes.lastKey)
            let floor = Floors.citations(
                changes.operations.map {
                    ($0.id, $0.dependencies + [$0.previous, $0.change?.seat].compactMap { $0 })
                })
            let change = 1e6 / Double(size)
            each.append((judging + asking) * change)
            figures.add("\(name)_\(size)_judged_us_each", judging * change)
            figures.add("\(name)_\(size)_asked_us_each", asking * change)
            figures.add("\(name)_\(size)_floor_citations_us_each", floor * change)
        }
        figures.add("ratio_\(name)_largest_to_smallest", each[each.count - 1] / each[0])
    }
}

/// What is written in one private channel, by one who goes on for long.
private struct Changes {
    let owner = MemberID(words: (1, 1))
    /// Who is put out and let in again.
    let comers = (1...64).map { MemberID(words: (2, $0)) }
    private(set) var operations: [PrivateOperation] = []
    private(set) var keys: Set<KeyID> = []
    private(set) var lastKey = KeyID.zero

    var document: DocumentID { Hash.name("seats", [0, 0]) }
    private var root: OperationID { OperationID(sameBytesAs: document) }
    /// Some logs of a member who joins and leaves.
    var logs: [LogName] {
        (1...4).map {
            LogName(document: document, device: DeviceID(words: ($0, 0, 0, 0)), incarnation: 1)
        }
    }

    static func rekeys(_ count: Int) -> Self {
        var changes = Self()
        changes.write(.root(changes.founding))
        while changes.operations.count < count { changes.write(.rekey(changes.nextEpoch)) }
        return changes
    }

    /// Each time with a new key, as programs do.
    static func returns(_ count: Int) -> Self {
        var changes = Self()
        changes.write(.root(changes.founding))
        while changes.operations.count + 2 <= count {
            let comer = changes.comers[changes.operations.count / 2 % changes.comers.count]
            changes.write(.remove(comer, cuts: [], epoch: changes.nextEpoch))
            changes.write(
                .add(
                    PrivateAddition(
                        seats: [PrivateSeat(comer, .member)], epoch: changes.nextEpoch)))
        }
        while changes.operations.count < count { changes.write(.rekey(changes.nextEpoch)) }
        return changes
    }

    private var founding: PrivateRoot {
        PrivateRoot(
            subtype: .channel,
            seats: [PrivateSeat(owner, .owner)] + comers.map { PrivateSeat($0, .member) },
            name: "board")
    }

    /// The next key, which hands on the last.
    private var nextEpoch: PrivateEpoch {
        let sealed = [UInt8](repeating: 0, count: OlderPrivateKey.sealedByteCount)
        return PrivateEpoch(
            keyID: KeyID(words: (UInt64(operations.count), 7)),
            older: [OlderPrivateKey(keyID: lastKey, form: .whole, sealed: sealed)])
    }

    private mutating func write(_ action: PrivateAction) {
        let number = operations.count
        let id: OperationID = Hash.name("seats", [UInt8(number >> 8), UInt8(number & 255)])
        let key = action.epoch?.keyID ?? (number == 0 ? KeyID(words: (9, 9)) : lastKey)
        operations.append(
            PrivateOperation(
                id: id, author: owner, previous: operations.last?.id, dependencies: [],
                keyID: key, change: PrivateChange(action, seat: number == 0 ? nil : root),
                isAllowed: true))
        lastKey = key
        keys.insert(key)
    }
}
