private import CLinux
private import Glibc
import WorkspaceModel

/// The process that checks one token: it reads a question and answers with a verdict.
///
/// It is this program under a hidden command. It holds no keys, has no home and no open store, and
/// gets neither descriptors nor variables of the node. Before it parses anything from outside, it
/// gives up the right to open files and start processes, and limits its memory and time.
public enum TokenChild {
    /// The argument under which the program becomes this process.
    public static let word = "__check-token"

    /// Does it.
    ///
    /// - Returns: the exit status.
    public static func run() -> Int32 {
        guard let line = read(0, max: Limits.tokenQuestionBytesMax),
            let question = TokenQuestion(line: line)
        else { return 2 }
        let keys = keyFile(question.keys)
        let library = CryptoLibrary()
        guard confine() else { return 70 }
        let answer = verdict(on: question, keys: keys, library).line
        return answer.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) } == answer.count
            ? 0 : 70
    }

    /// The verdict on a question.
    ///
    /// - Parameters:
    ///   - keys: the file with the provider's keys; `nil` where there is none.
    ///   - library: `nil` where it is not installed.
    static func verdict(
        on question: TokenQuestion, keys: [UInt8]?, _ library: CryptoLibrary?
    ) -> TokenVerdict {
        do throws(TokenFailure) {
            guard let keys else { throw .unchecked(.noKeys) }
            guard let library else { throw .unchecked(.noLibrary) }
            return .account(
                try TokenCheck.account(
                    of: question.token, question.wanted, keys: try TokenKey.all(of: keys),
                    verifies: { (signature) throws(TokenFailure) in
                        library.verifies(
                            signature.bytes, of: signature.message, key: signature.key,
                            signature.algorithm == .ed25519 ? .none : .sha256)
                    }))
        } catch { return .failure(error) }
    }

    /// The answer of the process to a line, without the process.
    ///
    /// - Parameter keys: the file at a path.
    package static func answer(
        to line: [UInt8], keys: (String) -> [UInt8]?
    ) -> [UInt8]? {
        guard let question = TokenQuestion(line: line) else { return nil }
        return verdict(on: question, keys: keys(question.keys), CryptoLibrary()).line
    }

    // MARK: The process

    /// The command for `/bin/sh -c` that becomes this process. The program's path is in a variable,
    /// so that the shell never parses it; nothing else of the environment is passed on. `env` would
    /// take a path with `=` for a variable, so another shell starts the program, and keeps the
    /// folder to itself.
    static let command =
        "exec /usr/bin/env -i /bin/sh -c 'unset PWD OLDPWD; exec \"$0\" \(word)' "
        + "\"$\(programVariable)\""
    /// Which variable.
    static let programVariable = "WSX_PROGRAM"

    /// The file that this process runs, `nil` where nobody says.
    static var program: String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        let path = bytes.prefix(count).map { UInt8(bitPattern: $0) }
        return String(validating: path, as: UTF8.self)
    }

    /// A regular file, as far as it may be one of keys.
    private static func keyFile(_ path: String) -> [UInt8]? {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
        // A pipe would have it wait until it is killed.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return read(file, max: Limits.tokenKeySetBytesMax)
    }

    /// All of a descriptor, or `nil` where that is more than `max` bytes or cannot be read.
    private static func read(_ descriptor: Int32, max: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: max + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { buffer in
                uninterrupted {
                    Glibc.read(
                        descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
                }
            }
            guard more >= 0 else { return nil }
            if more == 0 { return Array(bytes.prefix(count)) }
            count += more
        }
        return nil
    }

    /// Drops the rights that a check no longer needs, once everything that it reads is in memory.
    /// The kernel does not enforce the process limit for root.
    ///
    /// - Returns: whether all of it was possible.
    static func confine() -> Bool {
        guard wsx_forbid_dumps() == 0 else { return false }
        let bounds: [(__rlimit_resource, UInt)] = [
            (RLIMIT_AS, UInt(Limits.tokenCheckMemoryBytes)),
            (RLIMIT_CPU, UInt(Limits.tokenCheckSeconds)), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 0),
            (__RLIMIT_NPROC, 0),
        ]
        return bounds.allSatisfy { resource, bound in
            var limit = rlimit(rlim_cur: bound, rlim_max: bound)
            return setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
        }
    }
}
