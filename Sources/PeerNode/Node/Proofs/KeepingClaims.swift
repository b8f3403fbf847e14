import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Stores this person's claims, so that they continue after a restart.
extension Proofs {
    private static let keptName = "proofs.own"

    /// Forgets a claim.
    func drop(_ number: Int64) throws(StorageError) {
        guard own.removeValue(forKey: number) != nil else { return }
        try keep()
    }

    /// Stores the pending claims, sealed, so that they continue after a restart. Codes are not
    /// included.
    func keep() throws(StorageError) {
        guard home != nil else { return }
        let rows = own.sorted { $0.key < $1.key }.map { number, claim -> JSONValue in
            [
                "workspace": .integer(number), "claim": .string(Hexadecimal.text(claim.name.bytes)),
                "email": .string(claim.address),
                "verifier": JSONValue(orNull: claim.wanted.map { Hexadecimal.text($0.bytes) }),
                "sender": JSONValue(orNull: claim.sender.map { Hexadecimal.text($0.bytes) }),
                "sent": JSONValue(orNull: claim.sentAt.map { Int64(clamping: $0) }),
                "wants": .bool(claim.wantsLetter),
            ]
        }
        try setSealedValue(rows.isEmpty ? nil : JSONValue.array(rows).bytes, of: Self.keptName)
    }

    /// Reads that once.
    func load() throws(StorageError) {
        guard !isLoaded, home != nil else { return }
        isLoaded = true
        guard let bytes = try sealedValue(Self.keptName),
            let rows = (try? JSONValue(parsing: bytes))?.arrayValue
        else { return }
        for row in rows {
            guard let number = row["workspace"]?.integerValue, own[number] == nil,
                let name = spelled(row["claim"]).flatMap(ClaimName.init(untrusted:)),
                let address = row["email"]?.stringValue
            else { continue }
            var claim = OwnClaim(
                name, address: address,
                wanted: spelled(row["verifier"]).flatMap(MemberID.init(untrusted:)))
            claim.sender = spelled(row["sender"]).flatMap(DeviceID.init(untrusted:))
            claim.sentAt = row["sent"]?.integerValue.map { UInt64(clamping: $0) }
            claim.wantsLetter = row["wants"]?.boolValue ?? false
            own[number] = claim
        }
    }

    /// The bytes that hexadecimal digits spell.
    private func spelled(_ value: JSONValue?) -> [UInt8]? {
        guard let digits = value?.stringValue.map({ Array($0.utf8) }),
            digits.count.isMultiple(of: 2)
        else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard
                let byte = UInt8(
                    String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
