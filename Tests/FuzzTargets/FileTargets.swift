private import Glibc
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Files that come from elsewhere, what is sealed, and what is looked for.
extension FuzzTarget {
    static let backup = FuzzTarget(
        "backup", "a header as it is and with a right check; a file of it through the reader",
        bytesMax: 2_048
    ) { bytes in
        if let header = BackupHeader(bytes) {
            try hold(header.bytes == bytes, "two spellings of one header")
        }
        var input = FuzzBytes(bytes)
        let isSealed = input.byte() & 1 == 1
        var header = BackupHeader(
            createdAt: 1, device: DeviceID([UInt8](repeating: 9, count: 32)),
            vault: isSealed ? [UInt8](repeating: 3, count: BackupHeader.vaultByteCount) : nil,
            hasFiles: input.byte() & 1 == 1)
        var stored: [UInt8] = []
        for part in header.parts.indices {
            // Small sizes that fit, and any others.
            let (way, content) = (input.byte(), input.take(input.word() % 512))
            stored += content
            header.parts[part].storedByteCount = UInt64(content.count)
            header.parts[part].byteCount = UInt64(content.count)
            let stream = HashStream("wsx-backup1")
            stream.update(content)
            header.parts[part].hash = stream.finish()
            if way & 3 == 1 { header.parts[part].byteCount = number(input.take(8)) }
            if way & 3 == 2 { header.parts[part].storedByteCount = number(input.take(8)) }
        }
        if let taken = BackupHeader(header.bytes) {
            try hold(taken == header, "another header")
            try hold(taken.bytes == header.bytes, "two spellings of a header")
        }
        try read(header.bytes + stored + input.all())
    }

    private static func number(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a file as `backup verify` and a restore do; the store in it is SQLite's to refuse.
    private static func read(_ bytes: [UInt8]) throws {
        let path = "/dev/shm/wsx-fuzz-\(getpid())"
        _ = try? FileSystem.remove(path)
        defer { _ = try? FileSystem.remove(path) }
        try FileSystem.create(path, with: bytes)
        guard let reader = try? BackupReader(path: path) else { return }
        _ = try? reader.key(nil)
        for part in 0..<BackupHeader.partCount {
            let whole = try? reader.small(part, nil)
            try hold((whole?.count ?? 0) <= bytes.count, "more comes out than is in the file")
            if let whole { _ = try? IdentityFile(fileBytes: whole) }
        }
        // A part is at most what is in the file, whatever its own heads say.
        _ = try? reader.files(nil, to: nil)
        let home = HomeFolder(data: path + ".home", socket: path + ".home/control.sock")
        let verified = try? BackupReader.verify(path, passphrase: nil, in: home)
        try hold(verified == nil || bytes.count > 4_096, "a backup without a store is good")
    }

    static let sealed = FuzzTarget(
        "sealed",
        "boxes, payloads, wraps, vaults: nothing opens but what was sealed, and that whole",
        bytesMax: 1_024
    ) { bytes in
        guard let first = bytes.first else { return }
        let (body, random) = (Array(bytes.dropFirst()), SeededRandom(seed: 3))
        let (key, box) = (SymmetricKey(using: random), AgreementKey(using: random))
        switch first % 6 {
        case 0: try hold(SealedBox.open(body, with: box) == nil, "a box opens")
        case 1:
            let seal = try SealedBox.seal(body, to: box.publicKey, using: random)
            try hold(SealedBox.open(seal, with: box) == body, "a box loses its content")
        case 2:
            let opened = SealedPayload.open(body, under: key, associatedData: [])
            try hold(opened == nil, "a payload opens")
        case 3:
            let seal = SealedPayload.seal(body, under: key, associatedData: body, using: random)
            let opened = SealedPayload.open(seal, under: key, associatedData: body)
            try hold(opened == body, "a payload loses its content")
            if let plain = Padding.unpadded(body) {
                try hold(Padding.padded(plain) == body, "two paddings of one text")
            }
        case 4: try hold(KeyWrap.unwrap(body, under: key) == nil, "a wrap opens")
        default:
            _ = try? PassphraseVault.derivation(of: body)
            try hold((try? PassphraseVault.open(body, under: key)) == nil, "a vault opens")
            _ = try? SealedIdentity(fileBytes: body)
            _ = try? IdentityFile(fileBytes: body)
        }
    }

    static let search = FuzzTarget(
        "search", "a text and a question: SQLite takes the question, and finds what matches",
        bytesMax: 512
    ) { bytes in
        let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let question = String(decoding: parts.first ?? [], as: UTF8.self)
        let text = String(decoding: parts.dropFirst().first ?? [], as: UTF8.self)
        guard let query = SearchQuery(question) else { return }
        let store = StoreID([UInt8](repeating: 7, count: 16))
        let index = try SearchIndex(
            MemorySearchFiles().open(), place: .file(store), arrival: .max)
        var batch = SearchBatch(through: 1)
        batch.rows = [
            SearchRow(
                position: .init(time: 1, arrival: 1), text: text, document: 1, grant: 2,
                workspace: 3)
        ]
        try index.take(batch)
        let found = try index.find(.init(expression: query.expression(tags: []), limit: 10))
        let folded = SearchText(text)
        guard let places = query.matches(in: folded) else { return }
        try hold(found.positions.count == 1, "the index misses what matches")
        let count = text.unicodeScalars.count
        try hold(places.allSatisfy { 0 <= $0.lowerBound && $0.upperBound <= count }, "outside")
    }
}
