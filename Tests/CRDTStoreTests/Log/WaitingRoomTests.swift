import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The waiting room` {
    private static func guest(
        _ number: UInt64, entries: Int = 1, payload: Int = 0, from source: UInt64 = 1
    ) -> WaitingRoom.Guest {
        let entry = OperationRun.Entry(
            kind: 1, timestamp: HybridTimestamp(rawValue: number), grant: .zero, keyID: nil,
            dependencies: [], payload: [UInt8](repeating: 0, count: payload),
            signature: Signature([UInt8](repeating: 0, count: 64)))
        let log = LogName(document: .zero, device: .zero, incarnation: UInt32(number))
        return WaitingRoom.Guest(
            run: OperationRun(
                log: log, firstSequence: number, previous: number > 0 ? Self.id(9) : nil,
                entries: [OperationRun.Entry](repeating: entry, count: entries)),
            source: source, arrived: number)
    }

    private static func id(_ byte: UInt8) -> OperationID {
        OperationID([UInt8](repeating: byte, count: 32))
    }

    private static func missing(_ byte: UInt8) -> WaitingRoom.Missing { .operation(id(byte)) }

    @Test func `knows all that its guests need, and of members alone what else they do`() {
        var room = WaitingRoom()
        let stranger = WaitingRoom.Guest(
            run: Self.guest(1).run, source: 2, arrived: 1, isOutsiders: true)
        _ = room.admit(stranger, until: Self.missing(1), besides: [Self.id(2)])
        #expect(room.awaits(Self.missing(1)))
        #expect(!room.awaitsForMembers(Self.missing(1)) && !room.awaitsForMembers(Self.missing(2)))
        for number in UInt64(3)...4 {
            _ = room.admit(
                Self.guest(number, from: number), until: Self.missing(1),
                besides: [Self.id(2), Self.id(3)])
        }
        #expect((1...3).allSatisfy { room.awaitsForMembers(Self.missing($0)) })
        room.forget(source: 3)
        #expect((1...3).allSatisfy { room.awaitsForMembers(Self.missing($0)) })
        #expect(room.release(Self.missing(2)).isEmpty)
        _ = room.release(Self.missing(1))
        #expect(!(1...3).contains { room.awaitsForMembers(Self.missing($0)) })
    }

    @Test func `heeds what members' guests cite, and of one peer only so much`() {
        var room = WaitingRoom()
        let log = Self.guest(1).run.log
        func citation(_ number: Int) -> WaitingRoom.Citation {
            .init(Self.id(UInt8(number % 200)), at: .init(log, UInt64(number)))
        }
        func admit(_ numbers: Range<Int>, from source: UInt64, out: Bool = false) {
            let guest = WaitingRoom.Guest(
                run: Self.guest(UInt64(numbers.lowerBound)).run, source: source, arrived: 1,
                isOutsiders: out, cited: numbers.map(citation))
            _ = room.admit(guest, until: Self.missing(1))
        }
        let most = Limits.waitingCitationsPerPeerMax
        admit(0..<16, from: 1, out: true)
        #expect(room.citations(in: .zero).isEmpty)
        for start in stride(from: 0, to: 2 * most, by: 16) { admit(start..<start + 16, from: 2) }
        #expect(room.citations(in: .zero).count == most && !room.mayCite(1, 2))
        #expect(room.cites(citation(0)) && !room.cites(citation(most)))
        // Two cite the same, and each of them for itself.
        admit(0..<16, from: 3)
        room.forget(source: 2)
        #expect(Set(room.citations(in: .zero)) == Set((0..<16).map(citation)))
        for source in UInt64(10)..<100 { admit(0..<16, from: source) }
        #expect(!room.mayCite(1, 99))
        _ = room.release(Self.missing(1))
        #expect(room.citations(in: .zero).isEmpty && room.mayCite(most, 2))
    }

    @Test func `knows who else wants what lies in a log, and up to where`() {
        var room = WaitingRoom()
        let log = Self.guest(1).run.log
        let other = LogName(
            document: .zero, device: DeviceID(words: (2, 0, 0, 0)), incarnation: 2)
        let third = DeviceID(words: (3, 0, 0, 0))
        let (ada, bob) = (WaitingRoom.Voucher([1], log.device), WaitingRoom.Voucher([2], third))
        let eve = WaitingRoom.Voucher([3], other.device)
        func admit(
            _ voucher: WaitingRoom.Voucher, _ sequence: UInt64, from source: UInt64,
            out: Bool = false
        ) {
            let guest = WaitingRoom.Guest(
                run: Self.guest(9).run, source: source, arrived: 1, isOutsiders: out,
                vouchers: [voucher], needed: [.init(log, sequence), .init(other, sequence)])
            _ = room.admit(guest, until: Self.missing(UInt8(source)))
        }
        func vouchers(_ sequence: UInt64, of log: LogName = log) -> [WaitingRoom.Voucher] {
            room.vouchers(for: .init(log, sequence))
        }
        admit(bob, 50, from: 1, out: true)
        #expect(vouchers(5) == [])
        admit(eve, 20, from: 2)
        #expect(vouchers(20) == [eve] && vouchers(21) == [])
        #expect(vouchers(5, of: other) == [], "a device does not speak for itself")
        admit(ada, 10, from: 3)
        #expect(vouchers(10) == [eve] && vouchers(10, of: other) == [ada])
        let laptop = WaitingRoom.Voucher(ada.member, third)
        admit(laptop, 5, from: 4)
        #expect(vouchers(5) == [laptop, eve] && vouchers(5, of: other) == [ada, laptop])
        #expect(room.isWanted(.init(log, 20)) && !room.isWanted(.init(log, 21)))
        room.forget(source: 4)
        #expect(vouchers(5) == [eve])
        _ = room.release(Self.missing(2))
        #expect(vouchers(5) == [] && vouchers(5, of: other) == [ada])
    }

    @Test func `gives back who waited, in the order of coming`() {
        var room = WaitingRoom()
        for number in UInt64(0)..<20 {
            let isAdmitted = room.admit(
                Self.guest(number, from: number % 3), until: Self.missing(UInt8(number % 2)))
            #expect(isAdmitted)
        }
        #expect(room.operationCount == 20)
        let odd = room.release(Self.missing(1))
        #expect(odd.map(\.arrived) == [1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
        #expect(odd.map(\.run.firstSequence) == odd.map(\.arrived))
        #expect(room.release(Self.missing(1)).isEmpty)
        #expect(room.release(Self.missing(7)).isEmpty)
        #expect(room.release(Self.missing(0)).count == 10)
        #expect(room.operationCount == 0 && room.byteCount == 0)
    }

    @Test func `tells what a run goes on from from what it cites`() {
        var room = WaitingRoom()
        let isAdmitted = room.admit(Self.guest(1), until: .previous(Self.id(4)))
        #expect(isAdmitted)
        #expect(!room.awaits(Self.missing(4)) && room.awaits(.previous(Self.id(4))))
        #expect(room.release(.previous(Self.id(5))).isEmpty)
        #expect(room.release(Self.missing(4)).isEmpty)
        #expect(room.release(.previous(Self.id(4))).count == 1)
    }

    // O06
    @Test func `takes 10,000 operations of a peer and not one more`() {
        var room = WaitingRoom()
        for number in UInt64(0)..<1_249 {
            _ = room.admit(Self.guest(number, entries: 8), until: Self.missing(0))
        }
        #expect(room.operationCount == 9_992)
        let tooMany = room.admit(Self.guest(2_000, entries: 9), until: Self.missing(0))
        #expect(!tooMany)
        let last = room.admit(Self.guest(2_001, entries: 8), until: Self.missing(0))
        #expect(last)
        #expect(room.operationCount == Limits.waitingPerPeerMax)
        let another = room.admit(Self.guest(2_002), until: Self.missing(0))
        #expect(!another)
        let elsewhere = room.admit(Self.guest(0, from: 2), until: Self.missing(1))
        #expect(elsewhere)
        let before = room.byteCount
        let released = room.release(Self.missing(0))
        #expect(released.count == 1_250)
        #expect(room.operationCount == 1 && room.byteCount < before)
        let again = room.admit(Self.guest(0, entries: 9), until: Self.missing(0))
        #expect(again)
    }

    // O06
    @Test func `takes 16 MiB of a peer and 64 MiB in all`() {
        var room = WaitingRoom()
        var number: UInt64 = 0
        func fill(_ payload: Int, from source: UInt64) {
            while room.admit(
                Self.guest(number, payload: payload, from: source), until: Self.missing(0))
            { number += 1 }
        }
        for source in UInt64(1)...5 {
            // Each as much as it may to the last bytes, so that the fifth finds no gap.
            fill(1 << 18, from: source)
            fill(0, from: source)
            let limit = min(Int(source) * Limits.waitingBytesPerPeerMax, Limits.waitingBytesMax)
            #expect(room.byteCount <= limit)
            #expect(room.byteCount > limit - 5 << 18)
        }
        #expect(room.byteCount <= Limits.waitingBytesMax)
        #expect(room.byteCount + 5 * 368 > Limits.waitingBytesMax)
    }

    @Test func `makes the peer that brought most give way to others`() {
        var room = WaitingRoom()
        var number: UInt64 = 0
        func admits(_ payload: Int, from source: UInt64) -> Bool {
            number += 1
            return room.admit(
                Self.guest(number, payload: payload, from: source), until: Self.missing(0))
        }
        for source in UInt64(1)...4 {
            while admits(1 << 18, from: source) {}
        }
        #expect(admits(1 << 10, from: 5))
        let full = room.byteCount
        for _ in 0..<8 { #expect(admits(1 << 18, from: 5)) }
        // One of the four is gone, and no more than one.
        #expect(room.byteCount < full - (10 << 20))
        #expect(room.byteCount > full - (16 << 20))
        for _ in 0..<8 { #expect(admits(1 << 18, from: 6)) }
        #expect(room.byteCount > full - (16 << 20))
    }

    /// What an honest peer passes on is others', who may write until nothing more of it has room.
    @Test func `makes the author with most at one peer give way to others`() {
        var room = WaitingRoom()
        var number: UInt64 = 0
        func admits(_ payload: Int, by author: UInt8, isAdmins: Bool = false) -> Bool {
            number += 1
            return room.admit(
                WaitingRoom.Guest(
                    run: Self.guest(number, payload: payload).run, source: 1, arrived: 0,
                    isAuthority: true, payer: [author], isAdmins: isAdmins),
                until: Self.missing(0))
        }
        for payload in [1 << 16, 1 << 10, 0] {
            while admits(payload, by: 1) || admits(payload, by: 2) {}
        }
        let full = room.byteCount
        #expect(full > Limits.waitingAuthorityBytesPerPeerMax - 4_096)
        #expect(admits(1 << 16, by: 3))
        // One of the two was evicted, and neither is evicted for a source with more than that.
        #expect(room.byteCount < full * 3 / 4 && room.byteCount > full / 4)
        while admits(1 << 16, by: 3) {}
        #expect(!admits(1 << 21, by: 3))
        // Owners and admins wait in a room of their own.
        let before = room.byteCount
        #expect(admits(1 << 21, by: 4, isAdmins: true))
        #expect(room.byteCount > before + 1 << 21)
    }

    /// Whose words need it may be known only when it comes again.
    @Test func `holds a run once, charged to its latest payer`() {
        var room = WaitingRoom()
        var number: UInt64 = 0
        func guest(_ payload: Int, of payer: UInt8, admins: Bool = false) -> WaitingRoom.Guest {
            WaitingRoom.Guest(
                run: Self.guest(number, payload: payload).run, source: 1, arrived: 0,
                isAuthority: true, payer: [payer], isAdmins: admins)
        }
        func admits(_ payload: Int, of payer: UInt8) -> Bool {
            number += 1
            return room.admit(guest(payload, of: payer), until: Self.missing(0))
        }
        while admits(1 << 16, of: 1) {}
        while admits(0, of: 1) {}
        number = 1
        let (bytes, count) = (room.byteCount, room.operationCount)
        let isAdmitted = room.admit(guest(1 << 16, of: 2, admins: true), until: Self.missing(0))
        #expect(isAdmitted)
        #expect(room.byteCount == bytes && room.operationCount == count)
        // The room that it left is free for others of the same.
        number = 100_000
        #expect(admits(1 << 15, of: 1))
        let released = room.release(Self.missing(0))
        #expect(released.count == count + 1)
        #expect(room.byteCount == 0 && room.operationCount == 0)
    }

    @Test func `has less for what changes rights, beside the rest`() {
        var room = WaitingRoom()
        var number: UInt64 = 0
        func fill(_ isAuthority: Bool) -> Int {
            let before = room.byteCount
            var hasRoom = true
            while hasRoom {
                number += 1
                hasRoom = room.admit(
                    WaitingRoom.Guest(
                        run: Self.guest(number, payload: 1 << 16).run, source: 1, arrived: 0,
                        isAuthority: isAuthority), until: Self.missing(0))
            }
            return room.byteCount - before
        }
        let (rest, rights) = (fill(false), fill(true))
        #expect(rest > Limits.waitingBytesPerPeerMax - 1 << 17)
        #expect(rights <= Limits.waitingAuthorityBytesPerPeerMax)
        #expect(rights > Limits.waitingAuthorityBytesPerPeerMax - 1 << 17)
        room.forget(source: 1)
        #expect(room.byteCount == 0 && fill(true) == rights)
    }

    @Test func `lets a run wait once, for what it cites by then`() {
        var room = WaitingRoom()
        let citation = WaitingRoom.Citation(Self.id(9), at: .init(Self.guest(1).run.log, 4))
        func guest(_ number: UInt64, from source: UInt64, cited: Bool) -> WaitingRoom.Guest {
            .init(
                run: Self.guest(number).run, source: source, arrived: 0,
                cited: cited ? [citation] : [])
        }
        for _ in 0..<3 {
            let isAdmitted = room.admit(
                guest(1, from: 1, cited: false), until: Self.missing(0))
            #expect(isAdmitted && room.operationCount == 1 && !room.cites(citation))
        }
        for _ in 0..<Limits.waitingCitationsPerPeerMax + 1 {
            let isAdmitted = room.admit(guest(1, from: 1, cited: true), until: Self.missing(0))
            #expect(isAdmitted && room.operationCount == 1 && room.cites(citation))
        }
        #expect(room.mayCite(Limits.waitingCitationsPerPeerMax - 1, 1))
        // It is known what more it needs.
        let more = WaitingRoom.Citation(Self.id(8), at: .init(Self.guest(1).run.log, 3))
        _ = room.admit(
            .init(run: Self.guest(1).run, source: 1, arrived: 0, cited: [citation, more]),
            until: Self.missing(0))
        #expect(room.operationCount == 1 && room.cites(citation) && room.cites(more))
        #expect(!room.mayCite(Limits.waitingCitationsPerPeerMax - 1, 1))
        // Somebody wants it who did not before.
        _ = room.admit(
            .init(
                run: Self.guest(1).run, source: 1, arrived: 0,
                vouchers: [.init([1], .zero)], needed: [.init(Self.guest(7).run.log, 2)]),
            until: Self.missing(0))
        #expect(room.operationCount == 1 && room.isWanted(.init(Self.guest(7).run.log, 2)))
        #expect(room.cites(citation) && room.cites(more))
        // Another one of the same place, by somebody else, and for something else.
        for other in [guest(2, from: 1, cited: true), guest(1, from: 2, cited: true)] {
            _ = room.admit(other, until: Self.missing(0))
        }
        _ = room.admit(guest(1, from: 1, cited: true), until: Self.missing(1))
        // The first one waits as what it was brought as last.
        #expect(room.operationCount == 4)
        room.forget(source: 1)
        #expect(room.operationCount == 1 && room.cites(citation) && !room.cites(more))
        #expect(room.release(Self.missing(0)).count == 1 && room.release(Self.missing(1)).isEmpty)
        #expect(!room.cites(citation) && room.byteCount == 0)
        // What has gone may come again.
        _ = room.admit(guest(1, from: 1, cited: true), until: Self.missing(0))
        #expect(room.operationCount == 1 && room.cites(citation))
    }

    @Test func `forgets a peer and nobody else`() {
        var room = WaitingRoom()
        for number in UInt64(0)..<90 {
            _ = room.admit(
                Self.guest(number, payload: 10, from: number % 3),
                until: Self.missing(UInt8(number % 4)))
        }
        let before = room.byteCount
        room.forget(source: 1)
        room.forget(source: 77)
        #expect(room.operationCount == 60)
        #expect(room.byteCount == before / 3 * 2)
        var left: [UInt64] = []
        for byte in UInt8(0)..<4 {
            let released = room.release(Self.missing(byte)).map(\.arrived)
            #expect(released == released.sorted())
            left += released
        }
        #expect(left.sorted() == (0..<90).filter { $0 % 3 != 1 })
        #expect(room.byteCount == 0 && room.operationCount == 0)
    }

    @Test func `forgets a peer with 10,000 operations that wait for one thing`() {
        var room = WaitingRoom()
        for number in UInt64(0)..<10_000 {
            _ = room.admit(Self.guest(number, from: number % 2), until: Self.missing(0))
        }
        room.forget(source: 0)
        #expect(room.operationCount == 5_000)
        let isAdmitted = room.admit(Self.guest(1, entries: 9_999, from: 0), until: Self.missing(1))
        #expect(isAdmitted)
        #expect(room.release(Self.missing(0)).count == 5_000)
    }

    @Test(arguments: Seeds.explore(30))
    func `counts what it holds`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var room = WaitingRoom()
        var model: [(missing: UInt8, source: UInt64, count: Int, ticket: UInt64)] = []
        for ticket in UInt64(0)..<200 {
            switch random.below(8) {
            case 0:
                let byte = UInt8(random.below(5))
                let released = room.release(Self.missing(byte)).map(\.arrived)
                let expected = model.filter { $0.missing == byte }.map(\.ticket)
                #expect(released == expected, "WSX_SEED=\(seed)")
                model.removeAll { $0.missing == byte }
            case 1:
                let source = UInt64(random.below(4))
                room.forget(source: source)
                model.removeAll { $0.source == source }
            default:
                let byte = UInt8(random.below(5))
                let source = UInt64(random.below(4))
                let count = 1 + random.below(2_500)
                let used = model.filter { $0.source == source }.reduce(0) { $0 + $1.count }
                let isAdmitted = room.admit(
                    Self.guest(ticket, entries: count, from: source), until: Self.missing(byte))
                #expect(isAdmitted == (used + count <= 10_000), "WSX_SEED=\(seed)")
                if isAdmitted { model.append((byte, source, count, ticket)) }
            }
            #expect(
                room.operationCount == model.reduce(0) { $0 + $1.count }, "WSX_SEED=\(seed)")
        }
    }
}
