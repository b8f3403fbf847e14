import CSodium
import Foundation
import Testing
import WorkspaceTestKit

@testable import WorkspaceCrypto

struct `The arena of long-lived secrets` {
    private static func bytes(_ slot: SecretArena.Slot) -> [UInt8] {
        [UInt8](UnsafeBufferPointer(start: slot.base, count: SecretArena.slotByteCount))
    }

    private static func fill(
        _ arena: SecretArena, with byte: UInt8, count: Int = SecretArena.slotByteCount
    ) -> SecretArena.Slot? {
        arena.take(count) { $0.update(repeating: byte, count: count) }
    }

    /// The protection of the page at an address, as the kernel tells it.
    private static func protection(at address: UInt) throws -> String {
        // The file says that it is empty, so it is read until nothing comes.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2, (ends[0]..<ends[1]).contains(address) { return String(words[1]) }
        }
        return "none"
    }

    @Test func `gives each slot zeroed, and to one at a time`() throws {
        let arena = SecretArena(chunkCountMax: 1)
        let first = try #require(Self.fill(arena, with: 0xab))
        #expect(Self.bytes(first).allSatisfy { $0 == 0xab })
        let second = try #require(Self.fill(arena, with: 0xcd, count: 3))
        #expect(Self.bytes(second) == [0xcd, 0xcd, 0xcd] + [UInt8](repeating: 0, count: 61))
        #expect(Self.bytes(first).allSatisfy { $0 == 0xab })
        arena.giveBack(first)
        #expect(Self.bytes(first).allSatisfy { $0 == 0 })
        var seen: [UInt8]?
        let again = try #require(
            arena.take(32) { memory in
                seen = [UInt8](UnsafeBufferPointer(start: memory, count: 64))
            })
        #expect(again.base == first.base)
        #expect(seen == [UInt8](repeating: 0, count: 64))
    }

    @Test func `fills up to its bound, says so, and goes on when one comes back`() throws {
        let arena = SecretArena(chunkCountMax: 2)
        var slots: [SecretArena.Slot] = []
        while let slot = Self.fill(arena, with: UInt8(truncatingIfNeeded: slots.count)) {
            slots.append(slot)
            guard slots.count <= 5_000 else { break }
        }
        #expect(slots.count == 2 * SecretArena.slotsPerChunk)
        #expect(Set(slots.map(\.base)).count == slots.count)
        for (number, slot) in slots.enumerated() {
            #expect(Self.bytes(slot).allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
        }
        #expect(arena.usage == .init(slots: slots.count, chunks: 2, outside: 0))
        arena.giveBack(slots[700])
        #expect(try #require(Self.fill(arena, with: 1)).base == slots[700].base)
        #expect(Self.fill(arena, with: 1) == nil)
        for slot in slots { arena.giveBack(slot) }
        #expect(arena.usage == .init(slots: 0, chunks: 2, outside: 0))
    }

    @Test func `is read-only, between pages that nobody may touch`() throws {
        let arena = SecretArena(chunkCountMax: 1)
        let slot = try #require(Self.fill(arena, with: 1))
        let address = UInt(bitPattern: slot.base)
        #expect(try Self.protection(at: address) == "r--p")
        let chunk = UInt(SecretArena.slotsPerChunk * SecretArena.slotByteCount)
        #expect(try Self.protection(at: address + chunk) == "---p")
        #expect(try Self.protection(at: address - 64 - 4_096) == "---p")
        arena.giveBack(slot)
        #expect(try Self.protection(at: address) == "r--p")
    }

    @Test func `does not trap when full, and keeps every secret`() {
        for arena in [
            SecretArena(chunkCountMax: 0), SecretArena(chunkCountMax: 4) { _ in nil },
        ] {
            #expect(Self.fill(arena, with: 1) == nil)
            var secrets = (0..<100).map { number in
                SecretBytes(count: 32, lifetime: .long, in: arena) {
                    $0.update(repeating: number, count: 32)
                }
            }
            for (number, secret) in secrets.enumerated() {
                #expect(secret.exposedCopy() == [UInt8](repeating: UInt8(number), count: 32))
            }
            #expect(arena.usage == .init(slots: 0, chunks: 0, outside: 100))
            secrets = []
            #expect(arena.usage.outside == 0)
        }
    }

    @Test func `leaves what is longer than a slot to ordinary memory`() {
        let arena = SecretArena(chunkCountMax: 1)
        var secret: SecretBytes? = SecretBytes(count: 65, lifetime: .long, in: arena) {
            $0.update(repeating: 7, count: 65)
        }
        #expect(secret?.exposedCopy() == [UInt8](repeating: 7, count: 65))
        #expect(arena.usage == .init(slots: 0, chunks: 0, outside: 1))
        secret = SecretBytes(count: 64, lifetime: .long, in: arena) { $0[63] = 9 }
        #expect(secret?.exposedCopy().last == 9)
        #expect(arena.usage == .init(slots: 1, chunks: 1, outside: 0))
        // Ephemeral ones never come here.
        _ = SecretBytes(count: 32, lifetime: .brief, in: arena) { $0[0] = 1 }
        #expect(arena.usage == .init(slots: 1, chunks: 1, outside: 0))
    }

    @Test func `gives every slot to one of several at a time`() {
        let arena = SecretArena(chunkCountMax: 1)
        let wrong = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let random = SeededRandom(seed: UInt64(number))
            var held: [(SecretArena.Slot, UInt8)] = []
            for _ in 0..<2_000 {
                if held.count < 100, random.number(below: 2) == 0 {
                    let byte = UInt8(random.number(below: 255)) + 1
                    if let slot = Self.fill(arena, with: byte) { held.append((slot, byte)) }
                } else if let (slot, byte) = held.popLast() {
                    if Self.bytes(slot).contains(where: { $0 != byte }) { wrong.add() }
                    arena.giveBack(slot)
                }
            }
            for (slot, _) in held { arena.giveBack(slot) }
        }
        #expect(wrong.count == 0)
        #expect(arena.usage == .init(slots: 0, chunks: 1, outside: 0))
    }
}

/// Counts from several threads.
private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0

    var count: Int { lock.withLock { number } }
    func add() { lock.withLock { number += 1 } }
}
