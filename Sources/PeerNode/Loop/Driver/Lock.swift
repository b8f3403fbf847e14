private import Glibc

/// A value that several threads share, accessed by one at a time.
///
/// It is built over `pthread_mutex_t` because the thread sanitizer understands that one, while it
/// reports false races around `Synchronization.Mutex`.
///
/// `@unchecked Sendable` is true because `value` is private and read or written only between
/// `pthread_mutex_lock` and `pthread_mutex_unlock` of the one mutex that lives as long as it does.
final class Lock<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` while nobody else has the value. Do nothing slow in it, and never lock again.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Sleeps until `isReady` holds, then runs `body` before anybody else gets the value.
    func waitUntil<Result>(
        _ isReady: (Value) -> Bool, then body: (inout Value) -> Result
    ) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isReady(value) { pthread_cond_wait(changed, mutex) }
        return body(&value)
    }

    /// Has every thread in `waitUntil` look again.
    func wakeWaiters() { pthread_cond_broadcast(changed) }
}
