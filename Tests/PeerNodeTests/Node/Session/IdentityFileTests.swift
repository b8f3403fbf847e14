import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `An identity file` {
    private static let cost = PassphraseVault.Cost(passes: 1, memoryKiB: 8)
    private let random = SeededRandom(seed: 7)

    private func identity() -> HomeIdentity {
        HomeIdentity(name: "Mina", createdAt: 1_795_150_800_123, using: random)
    }

    private func sealed(_ identity: HomeIdentity) throws -> (SealedIdentity, SymmetricKey) {
        let derivation = PassphraseVault.KeyDerivation(cost: Self.cost, using: random)
        let key = try derivation.key(of: SecretBytes(copying: Array(goodPassphrase.utf8)))
        return (SealedIdentity(identity, under: key, of: derivation, using: random), key)
    }

    @Test func `in the clear reads back as it was written`() throws {
        let identity = identity()
        guard case .clear(let read) = try IdentityFile(fileBytes: identity.fileBytes) else {
            Issue.record("not in the clear")
            return
        }
        #expect(read.device == identity.device && read.name == "Mina")
        #expect(read.homeKey.exposedCopy() == identity.homeKey.exposedCopy())
        #expect(read.box.exposedSecret() == identity.box.exposedSecret())
        #expect(read.fileBytes == identity.fileBytes)
    }

    /// From a backup that somebody made: what is shown as a time has to be one.
    @Test(arguments: [UInt64(Int64.max) + 1, .max])
    func `is refused with a time of making that is none`(time: UInt64) throws {
        let identity = HomeIdentity(name: "Mina", createdAt: time, using: random)
        #expect(throws: HomeFileError.self) {
            _ = try IdentityFile(fileBytes: identity.fileBytes)
        }
    }

    @Test func `that is sealed has its device outside, and its keys inside`() throws {
        let identity = identity()
        let (sealed, key) = try sealed(identity)
        let bytes = sealed.fileBytes
        #expect(bytes.starts(with: Array("wsxlock1".utf8) + identity.device.bytes))
        let file = try IdentityFile(fileBytes: bytes)
        #expect(file.device == identity.device)
        guard case .sealed(let read) = file else {
            Issue.record("not sealed")
            return
        }
        #expect(read.derivation == sealed.derivation)
        #expect(try read.opened(under: key)?.fileBytes == identity.fileBytes)
        let other = try read.derivation.key(of: SecretBytes(copying: [1, 2, 3]))
        #expect(try read.opened(under: other) == nil)
    }

    @Test(arguments: [false, true])
    func `is refused with any bit changed, and at any other length`(isSealed: Bool) throws {
        let identity = identity()
        let bytes = isSealed ? try sealed(identity).0.fileBytes : identity.fileBytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(throws: HomeFileError.self, "\(index)") {
                _ = try IdentityFile(fileBytes: changed)
            }
        }
        for count in 0..<bytes.count {
            #expect(throws: HomeFileError.self, "\(count)") {
                _ = try IdentityFile(fileBytes: Array(bytes.prefix(count)))
            }
        }
    }

    @Test func `with another device's keys inside is refused`() throws {
        let (mine, key) = try sealed(identity())
        let other = HomeIdentity(name: "Joon", createdAt: 1, using: random)
        let vault = SealedIdentity(other, under: key, of: mine.derivation, using: random).fileBytes
        var body = Array(mine.fileBytes.prefix(40)) + vault.dropFirst(40).dropLast(8)
        body += Hash.personal("wsx-keyfile2", body).prefix(8)
        guard case .sealed(let forged) = try IdentityFile(fileBytes: body) else {
            Issue.record("not sealed")
            return
        }
        #expect(throws: HomeFileError.self) { _ = try forged.opened(under: key) }
    }

    @Test func `never holds the same bytes twice`() throws {
        let identity = identity()
        #expect(try sealed(identity).0.fileBytes != sealed(identity).0.fileBytes)
    }
}
