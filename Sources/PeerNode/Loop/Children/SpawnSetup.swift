private import CLinux
private import Glibc

/// How a process starts: its standard streams, and its relation to this process.
///
/// Never `fork` here: in a process with threads, a forked child may find any lock held forever. The
/// functions of `posix_spawn`'s two attribute objects return an errno instead of setting it.
struct SpawnSetup {
    /// What a standard stream of the process is connected to.
    enum Stream {
        /// The same as in this process.
        case ours
        /// A descriptor of this process; above 2, or it may be overwritten before it is copied.
        case descriptor(Int32)
        /// `/dev/null`.
        case nothing
    }

    /// Whether the process is one with us, or lives on its own.
    enum Standing {
        /// It has our session, folder and descriptors, and the signals that we ignore or block
        /// for ourselves are as usual for it.
        case foreground
        /// It leads a session of its own in this folder, has no other descriptor of ours, no
        /// blocked signal, and no ignored one.
        case background(folder: String)
    }

    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()

    private init() {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
    }

    private mutating func destroy() {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: an absolute path.
    ///   - words: its own name, and its arguments.
    ///   - environment: `NAME=value` each.
    ///   - streams: standard input, output and errors.
    /// - Returns: its process number.
    static func start(
        _ executable: String, _ words: [String], environment: [String],
        streams: (input: Stream, output: Stream, errors: Stream), as standing: Standing
    ) throws(SystemError) -> Int32 {
        for text in [executable] + words + environment { try FileSystem.checkPath(text) }
        var setup = SpawnSetup()
        defer { setup.destroy() }
        try setup.connect(streams.input, as: 0, O_RDONLY)
        try setup.connect(streams.output, as: 1, O_WRONLY)
        try setup.connect(streams.errors, as: 2, O_WRONLY)
        switch standing {
        case .foreground: try setup.stay()
        case .background(let folder): try setup.leave(to: folder)
        }
        return try withCStrings(words) { words throws(SystemError) in
            try withCStrings(environment) { environment throws(SystemError) in
                try setup.spawn(executable, words, environment)
            }
        }
    }

    private mutating func connect(
        _ stream: Stream, as number: Int32, _ flags: Int32
    ) throws(SystemError) {
        switch stream {
        case .ours: break
        case .descriptor(let ours):
            try Self.check(posix_spawn_file_actions_adddup2(&actions, ours, number))
        case .nothing:
            try Self.check(
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", flags, 0))
        }
    }

    private mutating func stay() throws(SystemError) {
        var usual = sigset_t()
        sigemptyset(&usual)
        for number in [SIGPIPE, SIGCHLD, SIGINT, SIGQUIT] { sigaddset(&usual, number) }
        try Self.check(posix_spawnattr_setsigdefault(&attributes, &usual))
        try Self.check(posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF)))
    }

    private mutating func leave(to folder: String) throws(SystemError) {
        try FileSystem.checkPath(folder)
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        // POSIX_SPAWN_SETSID, which the Glibc module lacks.
        let newSession: Int32 = 0x80
        let flags = newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        try Self.check(posix_spawnattr_setflags(&attributes, Int16(flags)))
        try Self.check(posix_spawnattr_setsigdefault(&attributes, &all))
        try Self.check(posix_spawnattr_setsigmask(&attributes, &none))
        try Self.check(wsx_spawn_close_from(&actions, 3))
        try Self.check(wsx_spawn_chdir(&actions, folder))
    }

    private static func check(_ number: Int32) throws(SystemError) {
        guard number == 0 else { throw SystemError("posix_spawn_file_actions", number: number) }
    }

    private mutating func spawn(
        _ executable: String, _ words: [UnsafeMutablePointer<CChar>?],
        _ environment: [UnsafeMutablePointer<CChar>?]
    ) throws(SystemError) -> Int32 {
        var process = pid_t()
        let number = posix_spawn(&process, executable, &actions, &attributes, words, environment)
        guard number == 0 else {
            throw SystemError("posix_spawn", path: executable, number: number)
        }
        return process
    }
}

/// C's form of a list of strings: ended by a null pointer, valid only inside `body`.
func withCStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) throws(SystemError) -> Result
) throws(SystemError) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return try body(copies + [nil])
}
