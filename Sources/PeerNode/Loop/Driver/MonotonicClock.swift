private import Glibc

/// The clock of every deadline. It never steps, and it goes on while the machine sleeps.
///
/// After an hour under a closed lid a session's silence is an hour long, so that it is renewed at
/// once instead of after what was left of its timer (case Q02).
public enum MonotonicClock {
    /// Milliseconds since some moment before this process.
    public static func milliseconds() -> UInt64 { read(CLOCK_BOOTTIME) }
}

/// The clock of timestamps that people see. It may step either way at any time.
public enum WallClock {
    /// Milliseconds since 1970, UTC. A clock set before 1970 reads 0.
    public static func milliseconds() -> UInt64 { read(CLOCK_REALTIME) }
}

private func read(_ clock: Int32) -> UInt64 {
    var time = timespec()
    let failed = clock_gettime(clockid_t(clock), &time)
    precondition(failed == 0, "Linux has had this clock since 2.6.39")
    guard time.tv_sec >= 0 else { return 0 }
    return UInt64(time.tv_sec) &* 1_000 &+ UInt64(time.tv_nsec) / 1_000_000
}
