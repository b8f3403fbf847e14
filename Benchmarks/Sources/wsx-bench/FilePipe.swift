import CSodium
import Glibc

/// What moving a file costs with libsodium and the kernel alone: read, encrypt, loopback TCP,
/// decrypt, hash, write. A node does at least that, on whatever connection.
///
/// Two threads, frames of 64 KiB less a tag, XChaCha20-Poly1305 and BLAKE2b.
struct FilePipe {
    /// By the clock, until all is written, and until all of it is on the disk as well.
    let writtenSeconds: Double
    let durableSeconds: Double
    /// Of both ends.
    let processorSeconds: Double

    private static let frame = 65_519
    private static let tag = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

    /// Moves the file at `path` to a new one in `folder`, which is removed again.
    init(_ path: String, byteCount: Int, in folder: String) throws {
        _ = sodium_init()
        let target = folder + "/pipe"
        let source = open(path, O_RDONLY)
        let file = open(target, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
        guard source >= 0, file >= 0 else { throw BenchError("cannot copy \(path)") }
        let (left, right) = try Floors.loopbackPair()
        defer {
            for descriptor in [source, file, right] { close(descriptor) }
            unlink(target)
        }
        var clocks = (written: 0.0, durable: 0.0)
        var received = 0
        processorSeconds = try wsx_bench.processorSeconds {
            let start = ContinuousClock.now
            let sender = Self.send(source, to: left)
            received = try Self.receive(right, into: file)
            pthread_join(sender, nil)
            clocks.written = elapsed(since: start)
            guard fdatasync(file) == 0 else { throw BenchError("cannot sync \(target)") }
            clocks.durable = elapsed(since: start)
        }
        guard received == byteCount else {
            throw BenchError("\(received) bytes of \(byteCount) came through the pipe")
        }
        (writtenSeconds, durableSeconds) = clocks
    }

    // MARK: One end

    private final class Ends {
        let source: Int32
        let wire: Int32

        init(source: Int32, wire: Int32) {
            self.source = source
            self.wire = wire
        }
    }

    /// Closes `wire` when all is sent, or nothing more can be.
    private static func send(_ source: Int32, to wire: Int32) -> pthread_t {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Ends(source: source, wire: wire))
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let ends = Unmanaged<Ends>.fromOpaque(context).takeRetainedValue()
                FilePipe.send(ends)
                close(ends.wire)
                return nil
            }, box.toOpaque())
        return thread
    }

    private static func send(_ ends: Ends) {
        let key = [UInt8](repeating: 7, count: 32)
        var nonce = [UInt8](repeating: 0, count: 24)
        var plain = [UInt8](repeating: 0, count: frame)
        var sealed = [UInt8](repeating: 0, count: frame + tag)
        while true {
            let count = fill(&plain, frame, from: ends.source)
            guard count > 0 else { return }
            crypto_aead_xchacha20poly1305_ietf_encrypt(
                &sealed, nil, plain, UInt64(count), nil, 0, nil, nonce, key)
            guard put(sealed, count + tag, into: ends.wire) else { return }
            sodium_increment(&nonce, nonce.count)
        }
    }

    // MARK: The other end

    /// - Returns: the bytes that were written.
    private static func receive(_ wire: Int32, into file: Int32) throws -> Int {
        let key = [UInt8](repeating: 7, count: 32)
        var nonce = [UInt8](repeating: 0, count: 24)
        var sealed = [UInt8](repeating: 0, count: frame + tag)
        var plain = [UInt8](repeating: 0, count: frame)
        var hash = [UInt8](repeating: 0, count: 32)
        var total = 0
        while true {
            let count = fill(&sealed, frame + tag, from: wire)
            guard count > tag else { return total }
            guard
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    &plain, nil, nil, sealed, UInt64(count), nil, 0, nonce, key) == 0
            else { throw BenchError("a frame does not open") }
            crypto_generichash(&hash, 32, plain, UInt64(count - tag), nil, 0)
            guard put(plain, count - tag, into: file) else { throw BenchError("no room") }
            sodium_increment(&nonce, nonce.count)
            total += count - tag
        }
    }

    /// Reads until there are so many bytes, or no more.
    private static func fill(_ bytes: inout [UInt8], _ wanted: Int, from file: Int32) -> Int {
        bytes.withUnsafeMutableBytes { buffer in
            var here = 0
            while here < wanted {
                let count = read(file, buffer.baseAddress?.advanced(by: here), wanted - here)
                guard count > 0 else { break }
                here += count
            }
            return here
        }
    }

    private static func put(_ bytes: [UInt8], _ count: Int, into file: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < count {
                let written = write(file, buffer.baseAddress?.advanced(by: done), count - done)
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }
}
