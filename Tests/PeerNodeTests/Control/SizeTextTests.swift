import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `A size as people write it` {
    @Test(
        arguments: [
            ("0", 0), ("4096", 4_096), ("10B", 10), ("1kB", 1_000), ("500MB", 500_000_000),
            ("20 GB", 20_000_000_000), ("20gb", 20_000_000_000), ("2G", 2_000_000_000),
            ("1.5GB", 1_500_000_000), ("1GiB", 1 << 30), ("1.5 GiB", 3 << 29),
            ("512MiB", 512 << 20), ("3TiB", 3 << 40), ("0.125kB", 125),
        ] as [(String, Int64)])
    func `is so many bytes`(_ text: String, _ bytes: Int64) {
        #expect(SizeText.bytes(text) == bytes)
    }

    @Test(
        arguments: [
            "", "GB", "-1GB", "+1", "1XB", "1.GB", "1.5", ".5GB", "1,5GB", "1  GB", " 1GB", "1GB ",
            "999999999TB", "1234567890123456", "1.2345GB", "1e9", "1\u{0661}GB", "2GB2",
        ])
    func `is none`(_ text: String) { #expect(SizeText.bytes(text) == nil) }

    @Test func `stands in the settings, and is refused there where it is none`() throws {
        func defaults(_ text: String) throws -> FileDefaults {
            try NodeCommand.fileDefaults(ConfigFile([UInt8](text.utf8)))
        }
        #expect(try defaults("") == FileDefaults())
        let set = try defaults(
            """
            [store]
            quota = "20GB"
            cache_keep = "30d"
            [limits]
            attachment_bytes = "1 GiB"
            """)
        #expect(set.quota == 20_000_000_000 && set.period == .month)
        #expect(set.attachmentBytes == 1 << 30)
        for bad in [
            "store.quota", "limits.attachment_bytes", "store.cache_keep",
        ] {
            let parts = bad.split(separator: ".")
            let text = "[\(parts[0])]\n\(parts[1]) = \"much\"\n"
            let error = #expect(throws: NodeError.self) { try defaults(text) }
            #expect(error?.kind == .badConfiguration, "\(bad)")
        }
    }
}
