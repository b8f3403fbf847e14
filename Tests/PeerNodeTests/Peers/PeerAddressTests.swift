import PeerNode
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `A peer's address` {
    static let spellings: [(String, String)] = [
        ("192.0.2.7:29790", "192.0.2.7:29790"),
        ("0.0.0.0:1", "0.0.0.0:1"),
        ("[::1]:65535", "[::1]:65535"),
        ("[::]:80", "[::]:80"),
        ("[2001:DB8:0:0:0:0:0:1]:80", "[2001:db8::1]:80"),
        ("[2001:db8::1:0:0:1]:80", "[2001:db8::1:0:0:1]:80"),
        ("[2001:db8:0:1:1:1:1:1]:80", "[2001:db8:0:1:1:1:1:1]:80"),
        ("[1:2:3:4:5:6:7::]:80", "[1:2:3:4:5:6:7:0]:80"),
        ("[1:0:0:2:0:0:0:3]:80", "[1:0:0:2::3]:80"),
        ("[fe80::1%3]:80", "[fe80::1%3]:80"),
        ("[2001:db8::1%3]:80", "[2001:db8::1]:80"),
        ("[::ffff:c000:207]:80", "192.0.2.7:80"),
        ("Node.Example:80", "node.example:80"),
        ("my_host-1:80", "my_host-1:80"),
    ]

    @Test(arguments: spellings)
    func `has one text`(typed: String, text: String) throws {
        let address = try #require(PeerAddress(typed))
        #expect(address.text == text)
        #expect(PeerAddress(text) == address)
    }

    @Test(arguments: [
        "", ":", ":80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:+80",
        "1.2.3.4:080", "1.2.3:80", "1.2.3.4.5:80", "256.1.1.1:80", "01.2.3.4:80", "127.1:80",
        "::1:80", "[::1]", "[::1]80", "[::1:80", "[:::1]:80", "[1:2:3:4:5:6:7:8:9]:80",
        "[1::2::3]:80", "[:1:2:3:4:5:6:7:8]:80", "[1:2:3:4:5:6:7:8:]:80", "[12345::]:80",
        "[g::]:80", "[fe80::1%]:80", "[fe80::1%eth0]:80", "[fe80::1%0]:80", "[1.2.3.4]:80",
        "-a:80", "a-:80", "a..b:80", ".a:80", "a.:80", "a b:80", "a\u{301}:80", "a/b:80",
        "a.1:80", "[]:80", "[::1]:80:80", "a:80\n", "a:８０",
    ])
    func `is not read from a text that has more than one reading or none`(text: String) {
        #expect(PeerAddress(text) == nil)
    }

    @Test func `may lack its port where there is one to assume`() {
        #expect(PeerAddress("node", defaultPort: 9)?.text == "node:9")
        #expect(PeerAddress("::1", defaultPort: 9)?.text == "[::1]:9")
        #expect(PeerAddress("[::1]", defaultPort: 9)?.text == "[::1]:9")
        #expect(PeerAddress("1.2.3.4:5", defaultPort: 9)?.text == "1.2.3.4:5")
        #expect(PeerAddress("1.2.3.4:", defaultPort: 9) == nil)
        #expect(PeerAddress(String(repeating: "a", count: 300), defaultPort: 9) == nil)
    }

    static let reaches: [(String, PeerAddress.Reach)] = [
        ("127.3.2.1:1", .loopback), ("[::1]:1", .loopback), ("localhost:1", .loopback),
        ("169.254.1.1:1", .linkLocal), ("[fe80::1%2]:1", .linkLocal),
        ("10.1.1.1:1", .site), ("172.16.0.1:1", .site), ("172.31.255.255:1", .site),
        ("192.168.0.1:1", .site), ("100.64.0.1:1", .site), ("[fd00::1]:1", .site),
        ("172.32.0.1:1", .global), ("8.8.8.8:1", .global), ("[2001:db8::1]:1", .global),
        ("node.example:1", .global), ("0.1.2.3:1", .none), ("[::]:1", .none),
        ("224.0.0.1:1", .none), ("255.255.255.255:1", .none), ("[ff02::1]:1", .none),
    ]

    @Test(arguments: reaches)
    func `knows how far it reaches`(text: String, reach: PeerAddress.Reach) {
        #expect(PeerAddress(text)?.reach == reach)
    }

    @Test(arguments: Seeds.explore(200))
    func `survives its own text, and any text at all`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let groups = (0..<2).map { _ in
            random.next() & (random.oneIn(2) ? 0xffff_0000_0000_ffff : .max)
        }
        let address = try #require(
            PeerAddress(host: .ipv6(groups[0], groups[1], scope: 0), port: 1))
        #expect(PeerAddress(address.text) == address)
        let letters = Array("[]:%.0123456789abcdef-g".utf8)
        let text = (0..<random.below(30)).map { _ in letters[random.below(letters.count)] }
        if let read = PeerAddress(String(decoding: text, as: UTF8.self), defaultPort: 7) {
            #expect(PeerAddress(read.text) == read)
        }
    }
}

struct `An address record` {
    static let wall: UInt64 = 1_795_000_000_000
    static let key = SigningKey(using: SeededRandom(seed: 1))

    static func record(
        _ texts: [String] = ["192.0.2.7:1"], at: UInt64 = wall, key: SigningKey = key
    ) -> AddressRecord {
        AddressRecord(signedBy: key, at: at, addresses: texts.compactMap { PeerAddress($0) })
    }

    @Test func `is its device's word and nobody else's`() {
        let record = Self.record()
        #expect(record.isAuthentic)
        var other = record
        other.addresses.append("192.0.2.8:1")
        #expect(!other.isAuthentic)
        other = record
        other.at += 1
        #expect(!other.isAuthentic)
        other = record
        other.device = SigningKey(using: SeededRandom(seed: 2)).device
        #expect(!other.isAuthentic)
    }

    @Test func `tells at most 16 addresses that mean something elsewhere`() {
        let many = (1...30).map { "192.0.2.\($0):1" }
        #expect(Self.record(many).addresses == Array(many.prefix(16)))
        #expect(Self.record(["[fe80::1%1]:1", "0.0.0.0:1", "a:1"]).addresses == ["a:1"])
    }

    @Test func `keeps what it does not understand, and does not dial it`() throws {
        let message = AddressRecord(
            device: Self.key.device, at: 1,
            addresses: ["onion!x", "[fe80::1]:1", "a:1", "127.0.0.2:1", "[::1]:1", "192.0.2.1:1"],
            signature: Signature([UInt8](repeating: 0, count: 64)))
        // Names would have their owner's name server hear who is in a workspace.
        #expect(message.dialable(isAlone: false).map(\.text) == ["192.0.2.1:1"])
        // Who listens on this machine alone has its peers there.
        #expect(
            message.dialable(isAlone: true).map(\.text)
                == ["127.0.0.2:1", "[::1]:1", "192.0.2.1:1"])
        #expect(try AddressRecord(row: message.row) == message)
    }

    @Test func `survives its row, and a row cut anywhere does not`() throws {
        let row = Self.record(["192.0.2.7:1", "node:2"]).row
        #expect(try AddressRecord(row: row) == Self.record(["192.0.2.7:1", "node:2"]))
        for count in 0..<row.count {
            #expect(throws: Malformed.self) { try AddressRecord(row: Array(row.prefix(count))) }
        }
        #expect(throws: Malformed.self) { try AddressRecord(row: row + [0]) }
    }

    @Test func `counts for a week, and the newest replaces the others`() {
        let week = Limits.addressRecordMilliseconds
        var book = AddressBook()
        #expect(
            book.add(Self.record(at: Self.wall - week - 1), wallMilliseconds: Self.wall)
                == .untimely)
        let early = Self.record(at: Self.wall + week + 1)
        #expect(book.add(early, wallMilliseconds: Self.wall) == .untimely)
        #expect(book.add(Self.record(at: Self.wall - week), wallMilliseconds: Self.wall) == .added)
        #expect(book.add(Self.record(at: Self.wall - week), wallMilliseconds: Self.wall) == .known)
        #expect(book.add(Self.record(["b:1"]), wallMilliseconds: Self.wall) == .added)
        #expect(book.add(Self.record(at: Self.wall - 1), wallMilliseconds: Self.wall) == .known)
        #expect(book.record(of: Self.key.device)?.addresses == ["b:1"])
        for (later, count) in [(week, 1), (week + 1, 0)] {
            let time = Self.wall + later
            let told = book.records(of: [[Self.key.device]], limit: 9, wallMilliseconds: time)
            #expect(told.count == count)
        }
    }

    @Test func `of a forger or a boaster is refused`() {
        var book = AddressBook()
        var forged = Self.record()
        forged.addresses = ["evil:1"]
        #expect(book.add(forged, wallMilliseconds: Self.wall) == .badSignature)
        forged.addresses = [String](repeating: "a:1", count: 17)
        #expect(book.add(forged, wallMilliseconds: Self.wall) == .tooLarge)
        forged.addresses = [String(repeating: "a", count: 261)]
        #expect(book.add(forged, wallMilliseconds: Self.wall) == .tooLarge)
        #expect(book.all.isEmpty)
    }

    @Test func `is told newest first`() {
        var book = AddressBook()
        let keys = (1...3).map { SigningKey(using: SeededRandom(seed: $0)) }
        for (index, key) in keys.enumerated() {
            _ = book.add(
                Self.record(at: Self.wall - UInt64(index), key: key), wallMilliseconds: Self.wall)
        }
        let told = book.records(
            of: [keys.reversed().map(\.device)], limit: 2, wallMilliseconds: Self.wall)
        #expect(told.map(\.device) == keys.prefix(2).map(\.device))
        #expect(book.all.map(\.device) == keys.map(\.device).sorted())
    }

    /// A member who links very many devices, with records dated ahead, displaces nobody's.
    @Test func `is sent for one person after the other, and then the next of each`() {
        var book = AddressBook()
        let keys = (1...9).map { SigningKey(using: SeededRandom(seed: $0)) }
        for (index, key) in keys.enumerated() {
            _ = book.add(
                Self.record(at: Self.wall - UInt64(index), key: key), wallMilliseconds: Self.wall)
        }
        let (many, one, two) = (keys[0..<6], keys[6..<7], keys[7...])
        let people = [many, one, two].map { $0.map(\.device) }
        func told(_ limit: Int) -> [DeviceID] {
            book.records(of: people, limit: limit, wallMilliseconds: Self.wall).map(\.device)
        }
        #expect(told(4) == [keys[0], keys[6], keys[7], keys[1]].map(\.device))
        #expect(told(9) == [0, 6, 7, 1, 8, 2, 3, 4, 5].map { keys[$0].device })
        let word = book.word(of: people, wallMilliseconds: Self.wall)
        #expect(word.entries?.count == 9)
    }

    @Test func `that is full lets go of what the person with most has, the oldest`() {
        var book = AddressBook()
        let keys = (0...UInt64(Limits.addressRecordsMax)).map {
            SigningKey(using: SeededRandom(seed: $0))
        }
        // One record is of somebody who wrote it long before.
        #expect(
            book.add(
                Self.record(at: Self.wall - 1_000_000, key: keys[0]), of: [1],
                wallMilliseconds: Self.wall) == .added)
        for (number, key) in keys[1..<Limits.addressRecordsMax].enumerated() {
            _ = book.add(
                Self.record(at: Self.wall - 10_000 + UInt64(number), key: key), of: [2],
                wallMilliseconds: Self.wall)
        }
        #expect(book.count == Limits.addressRecordsMax)
        let last = keys[Limits.addressRecordsMax]
        // No older one of the same person, and anything of somebody else.
        let old = Self.record(at: Self.wall - 20_000, key: last)
        #expect(book.add(old, of: [2], wallMilliseconds: Self.wall) == .full)
        #expect(book.add(old, of: [3], wallMilliseconds: Self.wall) == .added)
        #expect(book.record(of: keys[0].device) != nil && book.record(of: last.device) != nil)
        #expect(book.record(of: keys[1].device) == nil)
        #expect(book.count == Limits.addressRecordsMax)
    }
}
