import Foundation
import Glibc
import StrataSystem
import Synchronization

/// Ends the tool on Ctrl-C and other termination signals, after removing temporary files and the progress line.
///
/// The handler only writes a byte. A thread waits for it and cleans up, and then the signal takes its default action.
enum Cleanup {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let isComing = Atomic(false)
    private static let temporaries = Lock<Set<String>>([])
    /// The end of a pipe that the handler writes to; negative until the pipe is open.
    private static let alarm = Atomic<Int32>(-1)

    /// Removes a file or directory if the tool is interrupted before ``keep(_:)``.
    static func removes(_ path: String) {
        temporaries.withLock { _ = $0.insert(path) }
        listen()
    }

    static func keep(_ path: String) { temporaries.withLock { _ = $0.remove(path) } }

    static func listen() {
        guard alarm.load(ordering: .acquiring) < 0 else { return }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        alarm.store(ends[1], ordering: .releasing)
        let waiting = ends[0]
        Thread.detachNewThread { cleanUp(whenAlarmed: waiting) }
        for number in signals where !isIgnored(number) {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Cleanup.alarm.load(ordering: .acquiring), &byte, 1)
            }
        }
    }

    /// Blocks after an interrupt until the process ends, so that errors about removed files are not printed.
    static func yield() { while isComing.load(ordering: .acquiring) { pause() } }

    /// Returns true if a signal is ignored, as by `nohup` and by shells for background jobs.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return true }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func cleanUp(whenAlarmed descriptor: Int32) {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) != 1 {
            guard errno == EINTR else { return }
        }
        isComing.store(true, ordering: .releasing)
        Progress.end()
        // Removal is retried because a store under construction may add files at the same time.
        for path in temporaries.withLock({ $0 }) {
            for _ in 0..<100 where access(path, F_OK) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
        signal(Int32(byte), SIG_DFL)
        kill(getpid(), Int32(byte))
    }
}
