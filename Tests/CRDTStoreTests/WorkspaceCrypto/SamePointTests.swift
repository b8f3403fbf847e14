import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// X25519 ignores the highest bit of a key, and accepts numbers above its prime: two encodings of
/// one point agree with everybody on the same secret.
struct `Two keys of one point` {
    private let random = SeededRandom(seed: 77)
    private static let document = DocumentID([UInt8](repeating: 0xd0, count: 32))
    private static let place = MailboxPlace(
        mailbox: MailboxPlace.mailbox(of: document), sender: TestDevice(1).id, incarnation: 0,
        sequence: 0)

    private func twin(of key: AgreementPublicKey) -> AgreementPublicKey {
        var bytes = key.bytes
        bytes[31] ^= 0x80
        return AgreementPublicKey(bytes)
    }

    @Test func `have one canonical form`() throws {
        for _ in 0..<20 {
            let key = AgreementKey(using: random, lifetime: .brief)
            #expect(key.publicKey.isCanonical)
            #expect(!twin(of: key.publicKey).isCanonical)
            #expect(twin(of: key.publicKey).canonical == key.publicKey)
            let other = AgreementKey(using: random, lifetime: .brief)
            let payload = MailboxPayload.sealing(
                [MailboxDelivery(.notice(.zero, in: Self.document), to: twin(of: key.publicKey))],
                from: other, at: Self.place, using: random)
            let secret = try MailboxSecret(own: key, other: other.publicKey)
            #expect(secret.open(payload, at: Self.place) != nil)
        }
        // 2^255 - 19 and what follows are 0 and so on.
        for value in UInt8(0)...18 {
            var bytes = [UInt8](repeating: 0xff, count: 32)
            bytes[0] = 0xed + value
            bytes[31] = 0x7f
            let key = AgreementPublicKey(bytes)
            #expect(!key.isCanonical)
            #expect(key.canonical.bytes == [value] + [UInt8](repeating: 0, count: 31))
            #expect(key.canonical.isCanonical)
        }
        var largest = [UInt8](repeating: 0xff, count: 32)
        largest[0] = 0xec
        largest[31] = 0x7f
        #expect(AgreementPublicKey(largest).isCanonical)
    }

    /// In one batch, two boxes had the same tag for every nonce: sealing never ended.
    @Test(arguments: [1, 3, 255, 300])
    func `get their boxes in different operations`(others: Int) throws {
        let sender = AgreementKey(using: random, lifetime: .brief)
        let key = AgreementKey(using: random, lifetime: .brief)
        let people = (0..<others).map { _ in
            AgreementKey(using: random, lifetime: .brief).publicKey
        }
        let recipients = [key.publicKey] + people + [twin(of: key.publicKey)]
        let batches = MailboxPayload.batches(
            of: recipients.map { MailboxDelivery(.notice(.zero, in: Self.document), to: $0) })
        #expect(batches.joined().count == recipients.count)
        let secret = try MailboxSecret(own: key, other: sender.publicKey)
        var opened = 0
        for batch in batches {
            #expect(Set(batch.map(\.recipient.canonical)).count == batch.count)
            let payload = MailboxPayload.sealing(batch, from: sender, at: Self.place, using: random)
            if secret.open(payload, at: Self.place) != nil { opened += 1 }
        }
        #expect(opened == 2)
    }
}
