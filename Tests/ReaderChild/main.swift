import Glibc
import StrataModel
import StrataSystem
import StrataTree

// Reads the states of a store that another process writes, again and again, and says whether each was whole for as
// long as it was held.
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

/// The writer keeps the checksum of all entries with each state.
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
    let time = SystemTime()
    let end = time.nowMicroseconds() + milliseconds * 1_000
    var count = 0
    while time.nowMicroseconds() < end {
        let opened = try TreeStore.openForReading(
            in: arguments[1], RunOwner(store: Identifier(high: 7, low: 9), form: 1),
            hashed: [TreeID(rawValue: 3)], files: RealFileSystem(), scratch: (arguments[1], "reader")
        ) { _ in true }
        guard let opened, let state = opened.state else { continue }
        let snapshot = opened.store.snapshot()
        if count == 0 { say("holding") }
        for _ in 0..<4 {
            guard try checksum(snapshot) == state.opaque else {
                fail("other entries than at offset \(state.position.offset)")
            }
            usleep(useconds_t.random(in: 0...rest))
        }
        count += 1
    }
    say("done \(count)")
}

do { try run() } catch { fail("\(error)") }
