import Glibc

/// Pauses of the calling thread.
package enum ThreadPause {
    /// Lets other threads run for a moment.
    package static func brief() { usleep(20) }

    /// Sleeps for about that long.
    package static func rest(microseconds: Int64) {
        if microseconds > 0 { usleep(useconds_t(clamping: microseconds)) }
    }
}
