private import Glibc

/// The clock for all deadlines. It never steps, and it continues while the machine sleeps.
///
/// After an hour under a closed lid a session has been silent for an hour, so it is renewed at once
/// and not after the rest of its timer (case Q02).
public enum MonotonicClock {
    /// Milliseconds since some moment before this process.
    public static func milliseconds() -> UInt64 { read(CLOCK_BOOTTIME) }
}

/// The clock for timestamps that people see. It may step in either direction at any time.
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
