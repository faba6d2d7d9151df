import Glibc
import StrataModel
import StrataSystem
import StrataTree

// Reads the page file of a store that another process writes, again and again, and says whether each checkpoint was
// whole for as long as it was held.
//   usage: reader-child DIRECTORY MILLISECONDS REST-MICROSECONDS
// It looks at each four times, and rests behind each look, up to so long. Prints `holding` once, `done COUNT` at the
// end, and `bad REASON` in front of an early one.

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    say("bad \(reason)")
    exit(1)
}

/// The writer keeps the checksum of all entries with each checkpoint.
func checksum(_ snapshot: Snapshot) throws -> [UInt8] {
    var sum = CRC32C()
    for id in snapshot.trees {
        try snapshot.scan(id) { key, value in
            sum.update(key)
            sum.update(value)
            return true
        }
    }
    return withUnsafeBytes(of: sum.value.littleEndian) { Array($0) }
}

func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let milliseconds = Int64(arguments[2]), let rest = useconds_t(arguments[3]) else {
        fail("usage: reader-child DIRECTORY MILLISECONDS REST-MICROSECONDS")
    }
    let options = PageStoreOptions(maximumPages: 1 << 18, maximumArenaPages: 1 << 16)
    let time = SystemTime()
    let end = time.nowMicroseconds() + milliseconds * 1_000
    var count = 0
    while time.nowMicroseconds() < end {
        let reader = try PageStore.openReader(
            in: arguments[1], store: Identifier(high: 7, low: 9), options: options
        ) { _ in true }
        if count == 0 { say("holding") }
        for _ in 0..<4 {
            guard try checksum(reader.snapshot) == reader.checkpoint.opaque else {
                fail("other entries than at offset \(reader.checkpoint.position.offset)")
            }
            usleep(useconds_t.random(in: 0...rest))
        }
        count += 1
    }
    say("done \(count)")
}

do { try run() } catch { fail("\(error)") }
