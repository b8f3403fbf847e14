import Glibc
import PeerNode
import WorkspaceModel

/// The words of the command line as the system passes them: any bytes.
enum TypedArguments {
    /// The arguments after the program's name.
    static var own: [[UInt8]] {
        stride(from: 1, to: Int(CommandLine.argc), by: 1).compactMap { index in
            CommandLine.unsafeArgv[index].map { start in
                UnsafeBufferPointer(start: start, count: strlen(start)).map {
                    UInt8(bitPattern: $0)
                }
            }
        }
    }

    /// The arguments as text.
    ///
    /// - Throws: a usage error for bytes that are not UTF-8: the user does not mean the replacement
    ///   characters, and what is sent is permanent.
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
