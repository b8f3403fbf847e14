public import SyncProtocol
import WorkspaceCrypto
public import WorkspaceModel

/// The newest address record of each device, as peers relay them.
///
/// A record is valid for seven days from when its device signed it; a newer one replaces an older
/// one; when the book is full, the person with the most records loses the oldest. The book stores
/// nothing: rows are passed in and out as bytes, and its owner stores them.
public struct AddressBook: Sendable {
    /// The outcome for a record.
    public enum Verdict: Equatable, Sendable {
        /// It is in the book now; store its row and pass it on.
        case added
        /// Nothing new.
        case known
        /// Older than a week, or of a time that has not come yet.
        case untimely
        /// The signature is not the device's.
        case badSignature
        /// More addresses or longer ones than `Limits` allows.
        case tooLarge
        /// The book is full of newer ones.
        case full
    }

    private var records: [DeviceID: AddressRecord] = [:]
    /// Whose devices those are, any bytes that name one person; none for who is not known.
    private var people: [DeviceID: [UInt8]] = [:]
    /// The same the other way round: a full book looks at it for each record that comes.
    private var devices: [[UInt8]: Set<DeviceID>] = [:]

    /// An empty book.
    public init() {}

    /// How many devices have a record.
    public var count: Int { records.count }

    /// The record of `device`.
    public func record(of device: DeviceID) -> AddressRecord? { records[device] }

    /// All records, in the order of their devices.
    public var all: [AddressRecord] {
        records.values.sorted { $0.device < $1.device }
    }

    /// The valid records of people's devices, at most `limit`: what `peers` tells a member of the
    /// same workspace. First the newest of each person, then the second of each, and so on, so that
    /// a person with very many devices does not push out those of others.
    public func records(
        of people: [[DeviceID]], limit: Int, wallMilliseconds: UInt64
    ) -> [AddressRecord] {
        var ranked: [(rank: Int, record: AddressRecord)] = []
        for devices in people {
            let found = devices.compactMap { records[$0] }
                .filter { AddressRecord.isTimely($0.at, wallMilliseconds: wallMilliseconds) }
                .sorted { ($1.at, $0.device) < ($0.at, $1.device) }
            for (rank, record) in found.enumerated() { ranked.append((rank, record)) }
        }
        ranked.sort {
            ($0.rank, $1.record.at, $0.record.device) < ($1.rank, $0.record.at, $1.record.device)
        }
        return ranked.prefix(limit).map(\.record)
    }

    /// A member's digest of the valid records of each person's devices: at most
    /// `Limits.bookEntriesMax`.
    public func word(of people: [[DeviceID]], wallMilliseconds: UInt64) -> AddressBookUpdate {
        let all = records(
            of: people, limit: Limits.bookEntriesMax, wallMilliseconds: wallMilliseconds)
        var encoder = CBOREncoder(reservingBytes: 48 * all.count + 8)
        encoder.array(count: all.count)
        for record in all.sorted(by: { $0.device < $1.device }) {
            encoder.array(count: 2)
            encoder.byteString(record.device)
            encoder.uint(record.at)
        }
        return AddressBookUpdate(
            Identifier16(Array(Hash.personal("wsx-book1", encoder.bytes).prefix(16))),
            entries: all.map { .init($0.device, at: $0.at) })
    }

    /// Takes a record from anybody. The cheap checks come first; a signature costs 57 µs.
    ///
    /// - Parameter person: whose device it is; `nil` where that is not known or known already.
    public mutating func add(
        _ record: AddressRecord, of person: [UInt8]? = nil, wallMilliseconds: UInt64
    ) -> Verdict {
        guard record.hasAllowedSize else { return .tooLarge }
        guard AddressRecord.isTimely(record.at, wallMilliseconds: wallMilliseconds) else {
            return .untimely
        }
        if let old = records[record.device], old.at >= record.at { return .known }
        guard record.isAuthentic else { return .badSignature }
        if records[record.device] == nil, records.count >= Limits.addressRecordsMax {
            guard let oldest = oldestOfMost(besides: person ?? []),
                person ?? [] != people[oldest.device] || oldest.at < record.at
            else { return .full }
            remove(oldest.device)
        }
        records[record.device] = record
        note(record.device, isOf: person ?? people[record.device])
        return .added
    }

    /// Notes whose a device is, where there is a record of it.
    mutating func note(_ device: DeviceID, isOf person: [UInt8]?) {
        guard records[device] != nil, person ?? [] != people[device] else { return }
        forgetPerson(of: device)
        people[device] = person ?? []
        devices[person ?? [], default: []].insert(device)
    }

    private mutating func forgetPerson(of device: DeviceID) {
        guard let person = people.removeValue(forKey: device) else { return }
        devices[person]?.remove(device)
        if devices[person]?.isEmpty == true { devices[person] = nil }
    }

    /// The oldest record of who has most, with the one more that somebody is to have.
    private func oldestOfMost(besides person: [UInt8]) -> AddressRecord? {
        func count(_ owner: [UInt8], _ devices: Set<DeviceID>) -> Int {
            devices.count + (owner == person ? 1 : 0)
        }
        let most = devices.max {
            let (left, right) = (count($0.key, $0.value), count($1.key, $1.value))
            return left == right ? $1.key.lexicographicallyPrecedes($0.key) : left < right
        }
        return most?.value.compactMap { records[$0] }
            .min { ($0.at, $0.device) < ($1.at, $1.device) }
    }

    /// Drops what is known of one device.
    public mutating func remove(_ device: DeviceID) {
        records[device] = nil
        forgetPerson(of: device)
    }
}
