import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// a device is listed with the canonical encoding of its key.
struct `A device listed with another form of a key` {
    @Test func `has no part in anything, though it has signed`() throws {
        let random = SeededRandom(seed: 5)
        let signing = SigningKey(using: random)
        let key = AgreementKey(using: random, lifetime: .brief).publicKey
        let consent = DeviceConsent.adding(
            to: WorkspaceID([UInt8](repeating: 1, count: 32)), before: signing.device,
            member: MemberID([UInt8](repeating: 2, count: 16)))
        func isSigned(with key: [UInt8]) -> Bool {
            let entry = DeviceEntry(device: signing.device, agreementKey: key, signature: .zero)
            let signature = signing.signature(for: consent.message(for: [entry]))
            return consent.isSigned(
                by: [DeviceEntry(device: signing.device, agreementKey: key, signature: signature)],
                mayRecover: false)
        }
        #expect(isSigned(with: key.bytes))
        var twin = key.bytes
        twin[31] ^= 0x80
        #expect(!isSigned(with: twin))
    }
}
