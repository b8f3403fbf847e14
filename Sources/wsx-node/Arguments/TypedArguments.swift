import Glibc
import PeerNode
import WorkspaceModel

/// The words of a command line as the system hands them over: bytes, which may be anything.
enum TypedArguments {
    /// The arguments behind the program's own name.
    static var own: [[UInt8]] {
        stride(from: 1, to: Int(CommandLine.argc), by: 1).compactMap { index in
            CommandLine.unsafeArgv[index].map { start in
                UnsafeBufferPointer(start: start, count: strlen(start)).map {
                    UInt8(bitPattern: $0)
                }
            }
        }
    }

    /// The same as text.
    ///
    /// - Throws: a wrong usage for bytes that are no UTF-8: nobody meant the signs that would stand
    ///   in their place, and what is written stays for ever.
    static func texts(_ words: [[UInt8]]) throws(NodeError) -> [String] {
        var texts: [String] = []
        for (index, word) in words.enumerated() {
            guard let text = String(validating: word, as: UTF8.self) else {
                let shown = NodeError.quoted(String(decoding: word, as: UTF8.self))
                throw .usage(
                    "argument \(index + 1) is not UTF-8: \(shown)",
                    hint: "write it in UTF-8; other bytes cannot be kept")
            }
            texts.append(text)
        }
        return texts
    }
}
