import StrataModel

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A signal that wakes threads which wait for a socket. It stays set until it is cleared.
package final class SocketSignal: Sendable {
    private let reading: Int32
    private let writing: Int32

    package init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw StrataError(
                .inputOutput, "No pipe can be opened; allow the process more open files.",
                .init(found: String(cString: strerror(errno)), errno: errno))
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    package func set() {
        var byte: UInt8 = 1
        // A full pipe is set already.
        _ = write(writing, &byte, 1)
    }

    package func clear() {
        var bytes: [UInt8] = Array(repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) == bytes.count {}
    }

    package var isSet: Bool {
        var request = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) > 0
    }

    /// The end of a wait.
    package enum Event: Sendable, Equatable {
        /// The socket can be read or written, or has failed.
        case socket
        /// One of the signals is set.
        case signal
        case timeout
    }

    /// Waits for a socket, for one of the signals, or until `deadline`.
    ///
    /// - Parameter socket: nil to wait for the signals alone.
    package static func wait(
        for socket: Int32?, writing: Bool = false, or signals: [SocketSignal], until deadline: ContinuousClock.Instant
    ) -> Event {
        var requests = signals.map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
        // The system ignores a negative descriptor.
        let events = writing ? POLLIN | POLLOUT : POLLIN
        requests.append(pollfd(fd: socket ?? -1, events: Int16(events), revents: 0))
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            // Rounded up, so that the last part of a millisecond is not spent in a busy loop.
            let milliseconds = left <= .zero ? 0 : min(Int64(left / .milliseconds(1)) + 1, 3_600_000)
            let count = poll(&requests, nfds_t(requests.count), Int32(milliseconds))
            if count > 0 { return requests.dropLast().contains { $0.revents != 0 } ? .signal : .socket }
            if count == 0, deadline <= .now { return .timeout }
        }
    }
}
