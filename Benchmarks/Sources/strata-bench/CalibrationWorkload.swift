import Glibc
import StrataSystem

/// Measures the machine itself, so that the figures of several runs can be compared.
struct CalibrationWorkload: Workload {
    static let name = "calibration"
    private static let pageBytes = 4_096
    private static let fileBytes = 256 << 20
    private static let copiedBytes = 64 << 20

    // Glibc's module has no O_DIRECT.
    #if arch(arm64)
    private static let direct: Int32 = 0x1_0000
    #else
    private static let direct: Int32 = 0x4000
    #endif

    let size: WorkloadSize
    let folder: String

    private var seconds: Double { size.isQuick ? 0.2 : 1 }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("calibration")
        return [try syncing(), copying(isFresh: true), copying(isFresh: false), try reading()]
    }

    private func syncing() throws -> Measurement {
        let page = [UInt8](repeating: 0x5A, count: Self.pageBytes)
        let bare = BareLoop(path: "\(folder)/calibration", fileBytes: Self.fileBytes / 4)
        let load = try bare.load(seconds: seconds) { write in try page.withUnsafeBytes { try write($0) } }
        return measured("4 KiB written and synced", "writes/s", load.rate, load)
    }

    /// Memory that was never used has to be cleared by the system first.
    private func copying(isFresh: Bool) -> Measurement {
        let source = [UInt8](repeating: 0x5A, count: Self.copiedBytes)
        var (bytes, copySeconds) = (0, 0.0)
        func copy(to target: UnsafeMutableRawPointer) {
            let start = secondsNow()
            source.withUnsafeBytes {
                target.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(target), byteCount: $0.count)
            }
            copySeconds += secondsNow() - start
            bytes += source.count
        }
        let used = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.copiedBytes, alignment: Self.pageBytes)
        defer { used.deallocate() }
        used.initializeMemory(as: UInt8.self, repeating: 1)
        while copySeconds < seconds {
            if !isFresh, let used = used.baseAddress {
                copy(to: used)
                continue
            }
            let flags = MAP_PRIVATE | MAP_ANONYMOUS
            let map = mmap(nil, Self.copiedBytes, PROT_READ | PROT_WRITE, flags, -1, 0)
            guard let map, map != MAP_FAILED else { break }
            copy(to: map)
            munmap(map, Self.copiedBytes)
        }
        let name = isFresh ? "fresh" : "used"
        return measured("64 MiB copied into \(name) memory", "MiB/s", Double(bytes) / mebibyte / copySeconds)
    }

    /// From the disk, past the memory that the system has of the file.
    private func reading() throws -> Measurement {
        let path = "\(folder)/calibration"
        defer { unlink(path) }
        let file = try RealFileSystem().open(path, .writeOrCreate)
        let bytes = [UInt8](repeating: 0x5A, count: 1 << 20)
        for position in stride(from: 0, to: Self.fileBytes, by: bytes.count) { try file.write(bytes, at: position) }
        try file.sync()
        file.close()
        let descriptor = Glibc.open(path, O_RDONLY | Self.direct)
        guard descriptor >= 0 else { throw BenchError(message: "\(path) cannot be read past the cache") }
        defer { Glibc.close(descriptor) }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pageBytes, alignment: Self.pageBytes)
        defer { page.deallocate() }
        let random = SeededRandom(seed: 2)
        let load = try Load.alone(seconds: seconds) {
            let place = Int(random.next(below: UInt64(Self.fileBytes / Self.pageBytes))) * Self.pageBytes
            guard pread(descriptor, page.baseAddress, page.count, place) == page.count else {
                throw BenchError(message: "a page could not be read")
            }
            return 1
        }
        return measured("4 KiB read at random from the disk", "reads/s", load.rate, load)
    }

    private func measured(_ metric: String, _ unit: String, _ value: Double, _ load: Load? = nil) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: unit, strata: [value], bar: .none,
            strataDetails: load.map { Row.Details([$0]) })
    }
}
