import Glibc
import StrataSystem

/// The disk at its best: writing and syncing into a file of zeros.
struct BareLoop {
    let path: String
    let fileBytes: Int
    /// Zeros that are written in larger pieces stay in large folios, whose every later write takes a fifth longer.
    private static let zerosBytes = 16 << 10

    /// Calls `body` with writes that sync. The file is made before the clock starts.
    func load(seconds: Double, _ body: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws
        -> Load
    {
        let file = try RealFileSystem().open(path, .writeOrCreate)
        defer {
            file.close()
            unlink(path)
        }
        let zeros = [UInt8](repeating: 0, count: Self.zerosBytes)
        for position in stride(from: 0, to: fileBytes, by: zeros.count) { try file.write(zeros, at: position) }
        try file.sync()
        var position = 0
        return try Load.alone(seconds: seconds) {
            try body { bytes in
                if position + bytes.count > fileBytes { position = 0 }
                try file.write(bytes, at: position)
                try file.sync()
                position += bytes.count
            }
            return 1
        }
    }

    func run(seconds: Double, _ body: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws
        -> Double
    { try load(seconds: seconds, body).rate }
}
