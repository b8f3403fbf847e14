private import Glibc

/// OpenSSL's libcrypto, as far as token signatures need it.
///
/// It is loaded on demand, and in a separate process: the program's start does not wait for it, and
/// nothing else depends on it.
final class CryptoLibrary {
    /// The hash that a signature is over.
    enum Digest {
        /// SHA-256 of the message.
        case sha256
        /// The message itself, as Ed25519 has it.
        case none
    }

    private typealias Pointer = UnsafeMutableRawPointer
    private typealias Initialise = @convention(c) (UInt64, Pointer?) -> Int32
    private typealias ReadKey =
        @convention(c) (
            Pointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int
        ) -> Pointer?
    private typealias Make = @convention(c) () -> Pointer?
    private typealias Release = @convention(c) (Pointer?) -> Void
    private typealias BeginVerifying =
        @convention(c) (
            Pointer?, Pointer?, Pointer?, Pointer?, Pointer?
        ) -> Int32
    private typealias Verify =
        @convention(c) (
            Pointer?, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int
        ) -> Int32

    /// The name of OpenSSL 3's library in Debian and most others.
    static let fileName = "libcrypto.so.3"

    private let readKey: ReadKey
    private let releaseKey: Release
    private let makeContext: Make
    private let releaseContext: Release
    private let sha256: Make
    private let beginVerifying: BeginVerifying
    private let verify: Verify

    /// Loads the library, for as long as the process lives.
    ///
    /// - Returns: `nil` where it is not installed, or lacks something.
    init?(_ fileName: String = CryptoLibrary.fileName) {
        guard let library = dlopen(fileName, RTLD_NOW | RTLD_LOCAL),
            let initialise = dlsym(library, "OPENSSL_init_crypto"),
            let readKey = dlsym(library, "d2i_PUBKEY"),
            let releaseKey = dlsym(library, "EVP_PKEY_free"),
            let makeContext = dlsym(library, "EVP_MD_CTX_new"),
            let releaseContext = dlsym(library, "EVP_MD_CTX_free"),
            let sha256 = dlsym(library, "EVP_sha256"),
            let beginVerifying = dlsym(library, "EVP_DigestVerifyInit"),
            let verify = dlsym(library, "EVP_DigestVerify")
        else { return nil }
        // OPENSSL_INIT_NO_LOAD_CONFIG: settings of the machine could load other code.
        guard unsafeBitCast(initialise, to: Initialise.self)(0x80, nil) == 1 else { return nil }
        self.readKey = unsafeBitCast(readKey, to: ReadKey.self)
        self.releaseKey = unsafeBitCast(releaseKey, to: Release.self)
        self.makeContext = unsafeBitCast(makeContext, to: Make.self)
        self.releaseContext = unsafeBitCast(releaseContext, to: Release.self)
        self.sha256 = unsafeBitCast(sha256, to: Make.self)
        self.beginVerifying = unsafeBitCast(beginVerifying, to: BeginVerifying.self)
        self.verify = unsafeBitCast(verify, to: Verify.self)
    }

    /// Whether a signature is right.
    ///
    /// - Parameters:
    ///   - signature: an ECDSA signature in DER, others as they are.
    ///   - key: a `SubjectPublicKeyInfo` in DER. One that is no key verifies nothing.
    func verifies(
        _ signature: [UInt8], of message: [UInt8], key info: [UInt8], _ digest: Digest
    ) -> Bool {
        let key = info.withUnsafeBufferPointer { info in
            var next = info.baseAddress
            return readKey(nil, &next, info.count)
        }
        guard let key else { return false }
        defer { releaseKey(key) }
        guard let context = makeContext() else { return false }
        defer { releaseContext(context) }
        let hash = digest == .sha256 ? sha256() : nil
        guard beginVerifying(context, nil, hash, nil, key) == 1 else { return false }
        return verify(context, signature, signature.count, message, message.count) == 1
    }
}
