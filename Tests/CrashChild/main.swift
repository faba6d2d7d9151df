import Glibc
import StrataLog
import StrataModel
import StrataSystem
import Synchronization
import TestSupport

// What tests kill. The first form commits groups from several threads and prints what was acknowledged, until it is
// killed; `early` prints before the commit instead of behind it: a bug, which whoever kills this must notice.
//   usage: crash-child STORE FIRST-NUMBER [early]
//          crash-child write STORE SEED [last]      see PacedWriter
//          crash-child follow STORE OFFSET [WORD…]  see Follower

/// A number, then filler of a length that follows from it, so that the reader can tell what must be there.
func payload(_ number: UInt64) -> [UInt8] {
    var body = ByteWriter()
    body.append(number)
    for index in 0..<(number * 7_919) % 3_000 { body.append(UInt8(truncatingIfNeeded: index &* (number | 1))) }
    return Envelope(events: [Event(.fetched, body: body.bytes[...])]).encoded()
}

/// One call for each line: a line of this length goes into a pipe as a whole.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    let bytes = Array("crash-child: \(reason)\n".utf8)
    _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    exit(2)
}

func run() throws {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "write": return try PacedWriter(arguments.dropFirst(2)).run()
    case "follow": return try Follower(arguments.dropFirst(2)).run()
    default: break
    }
    guard arguments.count >= 3, let first = UInt64(arguments[2]) else { fail("usage: crash-child STORE FIRST-NUMBER") }
    let isEarly = arguments.dropFirst(3).first == "early"
    let log = try SegmentedLog.open(
        at: arguments[1], options: LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 16 << 10))
    let next = Atomic(first)
    // Each thread appends groups of another length.
    let threads = try (1...4).map { count in
        try WorkerThread(name: "crash-writer") {
            while true {
                let number = next.add(UInt64(count), ordering: .relaxed).oldValue
                let numbers = number..<number + UInt64(count)
                if isEarly { for number in numbers { say("\(number) 0") } }
                do {
                    let positions = try log.commit(numbers.map { payload($0)[...] })
                    guard !isEarly else { continue }
                    for (number, position) in zip(numbers, positions) { say("\(number) \(position.offset)") }
                } catch { fail("\(error)") }
            }
        }
    }
    for thread in threads { thread.join() }
}

do { try run() } catch { fail("\(error)") }
