import Glibc
import StrataSystem

/// Removes the folder of the stores when the program is interrupted.
enum Interruption {
    /// The handler of the signals may do little more than write a byte.
    private static let ends = {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
        return (reading: ends[0], writing: ends[1])
    }()

    static func remove(_ folder: String) throws {
        let end = ends.reading
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                write(Interruption.ends.writing, &byte, 1)
            }
        }
        try WorkerThread(name: "interruption") {
            var byte: UInt8 = 0
            while read(end, &byte, 1) < 0 {}
            // Others may go on meanwhile, and leave files in what was emptied.
            for _ in 0..<3 { removeTree(folder) }
            _exit(128 + Int32(byte))
        }.detach()
    }
}
