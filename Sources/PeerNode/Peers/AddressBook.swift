public import SyncProtocol
import WorkspaceCrypto
public import WorkspaceModel

/// The newest address record of each device, as peers pass them on.
///
/// A record counts for seven days from when its device signed it; a newer one replaces an older
/// one; when the book is full the oldest goes. The book stores nothing: rows go in and out as
/// bytes, and the owner keeps them.
public struct AddressBook: Sendable {
    /// What became of a record.
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

    /// The records of `devices` that still count, newest first, at most `limit`: what `peers`
    /// tells somebody who shares a workspace with these devices.
    public func records(
        of devices: [DeviceID], limit: Int, wallMilliseconds: UInt64
    ) -> [AddressRecord] {
        let found = devices.compactMap { records[$0] }
            .filter { AddressRecord.isTimely($0.at, wallMilliseconds: wallMilliseconds) }
            .sorted { ($1.at, $0.device) < ($0.at, $1.device) }
        return Array(found.prefix(limit))
    }

    /// What a member tells of the records that still count, newest first: at most
    /// `Limits.bookEntriesMax`.
    public func word(of devices: [DeviceID], wallMilliseconds: UInt64) -> BookWord {
        let all = records(
            of: devices, limit: Limits.bookEntriesMax, wallMilliseconds: wallMilliseconds)
        var encoder = CBOREncoder(reservingBytes: 48 * all.count + 8)
        encoder.array(count: all.count)
        for record in all.sorted(by: { $0.device < $1.device }) {
            encoder.array(count: 2)
            encoder.byteString(record.device)
            encoder.uint(record.at)
        }
        return BookWord(
            Identifier16(Array(Hash.personal("wsx-book1", encoder.bytes).prefix(16))),
            entries: all.map { .init($0.device, at: $0.at) })
    }

    /// Takes a record from anybody. The cheap checks come first; a signature costs 57 µs.
    public mutating func add(_ record: AddressRecord, wallMilliseconds: UInt64) -> Verdict {
        guard record.hasAllowedSize else { return .tooLarge }
        guard AddressRecord.isTimely(record.at, wallMilliseconds: wallMilliseconds) else {
            return .untimely
        }
        if let old = records[record.device], old.at >= record.at { return .known }
        guard record.isAuthentic else { return .badSignature }
        if records[record.device] == nil, records.count >= Limits.addressRecordsMax {
            guard let oldest = records.values.min(by: { ($0.at, $0.device) < ($1.at, $1.device) }),
                oldest.at < record.at
            else { return .full }
            records[oldest.device] = nil
        }
        records[record.device] = record
        return .added
    }

    /// Drops what no longer counts, and returns whose records those were, in order.
    public mutating func expire(wallMilliseconds: UInt64) -> [DeviceID] {
        let gone = records.values
            .filter { !AddressRecord.isTimely($0.at, wallMilliseconds: wallMilliseconds) }
            .map(\.device).sorted()
        for device in gone { records[device] = nil }
        return gone
    }

    /// Drops what is known of one device.
    public mutating func remove(_ device: DeviceID) { records[device] = nil }
}
