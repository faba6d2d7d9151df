import Glibc
import StrataSystem

/// What the disk can do at best: writing and syncing into a file of zeros.
struct BareLoop {
    let path: String
    let fileBytes: Int

    /// Calls `body` with writes that sync; returns operations per second. The file is made before the clock starts.
    func run(seconds: Double, _ body: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws
        -> Double
    {
        let file = try RealFileSystem().open(path, .writeOrCreate)
        defer {
            file.close()
            unlink(path)
        }
        let zeros = [UInt8](repeating: 0, count: 4 << 20)
        for position in stride(from: 0, to: fileBytes, by: zeros.count) { try file.write(zeros, at: position) }
        try file.sync()
        var position = 0
        var count = 0
        let start = secondsNow()
        while secondsNow() - start < seconds {
            try body { bytes in
                if position + bytes.count > fileBytes { position = 0 }
                try file.write(bytes, at: position)
                try file.sync()
                position += bytes.count
            }
            count += 1
        }
        return Double(count) / (secondsNow() - start)
    }
}
