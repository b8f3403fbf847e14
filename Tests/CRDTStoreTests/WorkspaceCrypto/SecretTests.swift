import CSodium
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `Secret bytes` {
    @Test(arguments: [SecretBytes.Lifetime.long, .brief])
    func `are kept but not shown`(lifetime: SecretBytes.Lifetime) {
        let secret = SecretBytes(copying: [0xab, 0xcd, 0xef], lifetime: lifetime)
        #expect(secret.exposedCopy() == [0xab, 0xcd, 0xef])
        #expect(secret.count == 3)
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(text.contains("SecretBytes(3)"))
            #expect(!text.contains("171") && !text.contains("abcd"))
        }
    }

    @Test func `leave nothing in an array that is wiped`() {
        var bytes: [UInt8] = [1, 2, 3]
        SecretBytes.wipe(&bytes)
        #expect(bytes.isEmpty)
        SecretBytes.wipe(&bytes)
        #expect(bytes.isEmpty)
    }

    @Test func `are not shown by a key that holds them`() {
        let key = SymmetricKey([UInt8](repeating: 0xab, count: 32))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key)".contains("171") && !dumped.contains("171"))
        #expect(SymmetricKey(untrusted: [1, 2, 3]) == nil)
        #expect(SymmetricKey(untrusted: [UInt8](0..<33)) == nil)
        #expect(SymmetricKey(untrusted: [UInt8](0..<32))?.exposedCopy() == [UInt8](0..<32))
    }
}

struct `A seeded random source` {
    @Test(arguments: Seeds.explore(20))
    func `gives one stream however it is cut`(seed: UInt64) {
        let whole = SeededRandom(seed: seed).bytes(5_000)
        let cut = SeededRandom(seed: seed)
        let sizes = SeededRandom(seed: seed &+ 1)
        var joined: [UInt8] = []
        while joined.count < whole.count {
            let count = Int(sizes.number(below: 1_500))
            joined += cut.bytes(min(count, whole.count - joined.count))
        }
        #expect(joined == whole, "WSX_SEED=\(seed)")
    }

    @Test func `is the ChaCha20 key stream of its seed`() {
        let seed = [UInt8](0..<32)
        var stream = [UInt8](repeating: 0, count: 1_024)
        let status = crypto_stream_chacha20(
            &stream, 1_024, [UInt8](repeating: 0, count: 8), seed)
        #expect(status == 0)
        let random = SeededRandom(seed: seed)
        #expect(random.bytes(1_024) == stream)
        #expect(random.bytes(1_024) != stream)
    }

    @Test func `differs for every seed and never repeats`() {
        let streams = (0..<100).map { SeededRandom(seed: UInt64($0)).bytes(16) }
        #expect(Set(streams).count == 100)
        let random = SeededRandom(seed: 1)
        #expect(Set((0..<1_000).map { _ in random.bytes(16) }).count == 1_000)
        #expect(random.bytes(0).isEmpty)
    }

    @Test(arguments: [1, 2, 3, 7, 1 << 63, .max] as [UInt64])
    func `draws numbers below a bound`(bound: UInt64) {
        let random = SeededRandom(seed: bound)
        var seen: Set<UInt64> = []
        for _ in 0..<200 { seen.insert(random.number(below: bound)) }
        #expect(seen.allSatisfy { $0 < bound })
        #expect(seen.count == min(Int(clamping: bound), 200))
    }
}

struct `The system's random source` {
    @Test func `gives fresh bytes`() {
        let random = SystemRandom()
        #expect(random.bytes(0).isEmpty)
        #expect(Set((0..<100).map { _ in random.bytes(16) }).count == 100)
        #expect(SigningKey(using: random).device != SigningKey(using: random).device)
    }
}
