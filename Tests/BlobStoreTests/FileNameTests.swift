import BlobStore
import Testing

struct `Names of files` {
    /// A name from outside, and the one under which it is saved (F01, F02).
    static let saved: [(String, String)] = [
        ("a.txt", "a.txt"), ("../../x", "x"), ("/etc/passwd", "passwd"), ("..", "file"),
        (".", "file"), ("", "file"), ("/", "file"), ("x/", "x"), ("a\\b\\c.doc", "c.doc"),
        ("-rf", "_rf"), ("~root", "_root"), (".bashrc", "_bashrc"), ("a\0b", "a_b"),
        ("a\nb", "a_b"), ("\u{1b}[2Jx", "_[2Jx"), ("a\u{9b}b", "a_b"), ("  a  ", "a"),
        ("a.", "a"), ("...", "file"), ("   ", "file"), ("a\u{202e}gpj.exe", "a_gpj.exe"),
        ("a\u{2066}b", "a_b"), ("a\u{200b}b", "ab"), ("\u{feff}a", "a"), ("\u{2800}", "file"),
        ("x/\u{301}y", "\u{301}y"), ("../\u{301}", "\u{301}"),
        ("Bericht für März.pdf", "Bericht für März.pdf"),
        ("日本語.txt", "日本語.txt"), ("a:b*c?.txt", "a:b*c?.txt"), ("👩‍👩‍👧.png", "👩‍👩‍👧.png"),
        ("\u{85}a", "_a"), ("CON", "CON"),
    ]

    @Test(arguments: saved)
    func `are made safe in one place`(_ foreign: String, _ name: String) {
        #expect(SafeFileName(foreign).text == name)
        #expect(SafeFileName(SafeFileName(foreign).text).text == name, "once is enough")
    }

    @Test(arguments: BlobBench.seeds(300))
    func `are safe whatever the bytes are`(_ seed: UInt64) {
        var dice = Dice(seed)
        let signs = [
            "/", "..", "\\", "\0", "\n", "\u{202e}", "a", ".", " ", "-", "~", "\u{301}", "é",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<dice.below(400) {
            bytes += dice.oneIn(4) ? dice.bytes(1) : [UInt8](signs[dice.below(signs.count)].utf8)
        }
        for name in [SafeFileName(bytes).text, SafeFileName(bytes).numbered(1_000_000)] {
            let utf8 = [UInt8](name.utf8)
            #expect((1...BlobLimits.fileNameBytesMax).contains(utf8.count))
            #expect(!utf8.contains(0x2f) && !utf8.contains(0x5c) && !utf8.contains(0x7f))
            #expect(utf8.allSatisfy { $0 >= 0x20 })
            #expect(![UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "~")].contains(utf8[0]))
            #expect(FileName(untrusted: name) != nil)
        }
        let once = SafeFileName(bytes)
        #expect(SafeFileName(once.text) == once, "once is enough")
        let fitted = FileName(fitting: bytes)
        #expect(FileName(untrusted: fitted.text) == fitted)
    }

    @Test func `keep their ending when they are cut`() {
        let long = String(repeating: "ä", count: 4_096) + ".tar"
        let name = SafeFileName(long).text
        #expect(name.utf8.count <= 240 && name.utf8.count >= 238 && name.hasSuffix("ä.tar"))
        #expect(FileName(fitting: [UInt8](long.utf8)).text.utf8.count <= 255)
        let dotted = "a." + String(repeating: "x", count: 400)
        #expect(SafeFileName(dotted).text.utf8.count == 240)
        let blank = String(repeating: "a", count: 239) + " b"
        #expect(SafeFileName(blank).text == String(repeating: "a", count: 239))
        #expect(SafeFileName("a.txt").numbered(2) == "a (2).txt")
        #expect(SafeFileName("a").numbered(2) == "a (2)")
        #expect(SafeFileName("x.tar.gz").numbered(3) == "x.tar (3).gz")
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "a\\b", "a\0", "a\n", "\u{85}", "a\u{202e}", "a\u{2069}", "\u{2028}",
        String(repeating: "a", count: 256), "/\u{301}",
    ])
    func `are refused on the wire where they break the rules`(_ name: String) {
        #expect(FileName(untrusted: name) == nil)
    }

    @Test(arguments: ["a", ".hidden", "-x", " a ", "日本.txt", String(repeating: "a", count: 255)])
    func `travel as they are otherwise`(_ name: String) {
        #expect(FileName(untrusted: name)?.text == name)
        #expect(FileName(fitting: [UInt8](name.utf8)).text == name)
    }

    @Test func `come from paths that need not be text`() {
        #expect(FileName(fitting: [UInt8]("/home/x/a b.txt".utf8)).text == "a b.txt")
        #expect(FileName(fitting: [0x61, 0xff, 0x62]).text == "a_b")
        #expect(FileName(fitting: []).text == "file")
        // U+FDD0, which will never be a character.
        #expect(FileName(fitting: [0xef, 0xb7, 0x90, 0x61]).text == "_a")
        #expect(FileName(fitting: [UInt8]("/..".utf8)).text == "file")
    }

    // MARK: Types

    static let types: [(String, [UInt8])] = [
        ("image/png", [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]),
        ("image/jpeg", [0xff, 0xd8, 0xff, 0xe0]), ("image/gif", [UInt8]("GIF89a…".utf8)),
        ("image/webp", [UInt8]("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)),
        ("audio/wav", [UInt8]("RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ".utf8)),
        ("application/pdf", [UInt8]("%PDF-1.7".utf8)),
        ("application/zip", [0x50, 0x4b, 3, 4, 0]), ("application/gzip", [0x1f, 0x8b, 8]),
        ("application/zstd", [0x28, 0xb5, 0x2f, 0xfd]),
        ("video/mp4", [0, 0, 0, 24] + [UInt8]("ftypisom".utf8)),
        ("image/avif", [0, 0, 0, 24] + [UInt8]("ftypavif".utf8)),
        ("application/x-executable", [0x7f, 0x45, 0x4c, 0x46, 2]),
        ("text/plain", [UInt8]("hello\r\n\tworld".utf8)), ("text/plain", []),
        ("text/plain", [UInt8]("<svg onload=x>".utf8)), ("text/plain", [UInt8]("日本".utf8)),
        ("application/octet-stream", [0xff, 0xfe, 0x41, 0]),
        ("application/octet-stream", [0x41, 0]), ("application/octet-stream", [0xe6, 0x97]),
        ("application/octet-stream", [UInt8]("RIFF".utf8) + [0, 0, 0, 0]),
    ]

    @Test(arguments: types)
    func `do not decide the type, the first bytes do`(_ type: String, _ bytes: [UInt8]) {
        #expect(MagicType.type(of: bytes).text == type)
        #expect(MediaType(untrusted: type)?.text == type)
    }

    @Test func `are no matter where a character is cut at the end of what is looked at`() {
        for lead in 0..<4 {
            let text = String(repeating: "a", count: lead) + String(repeating: "日", count: 400)
            #expect(MagicType.type(of: [UInt8](text.utf8)) == .plainText)
        }
        let broken = [UInt8](repeating: 0x61, count: 600) + [0xff]
        #expect(MagicType.type(of: broken) == .plainText, "behind what is looked at")
        #expect(MagicType.type(of: [UInt8](repeating: 0xff, count: 600)) == .unknown)
    }

    @Test(arguments: [
        "", "image", "image/", "/png", "image/png/x", "Image/png", "image/png; a=b", "a b/c",
        "text/html\r\nX: y", "é/é", String(repeating: "a", count: 99) + "/b",
    ])
    func `come with types of two words or none`(_ type: String) {
        #expect(MediaType(untrusted: type) == nil)
    }

    @Test func `of pictures are four`() {
        let kinds = Self.types.map { MagicType.type(of: $0.1) }.filter(\.isPicture).map(\.text)
        #expect(Set(kinds) == ["image/png", "image/jpeg", "image/gif", "image/webp"])
        #expect(MagicType.type(of: [UInt8]("GIF87a".utf8)).isPicture)
    }
}
