import Glibc

/// The processor time of the calling thread. Tests compare it to show how a cost grows, since other tests on the same
/// machine do not change it.
package enum ThreadTime {
    /// Returns the seconds of processor time that `body` took on the calling thread.
    package static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return now() - start
    }

    /// The seconds of processor time that the calling thread has used.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
