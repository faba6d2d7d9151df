import StrataModel
import StrataSystem
import Synchronization

/// The live bytes of a file; they stay where they are as long as this object or the file does.
final class SimulatedMappedMemory: MappedMemory {
    private let memory: StableMemory
    private let length: Int

    init(_ memory: StableMemory, length: Int) {
        self.memory = memory
        self.length = length
    }

    var bytes: UnsafeRawBufferPointer { memory.bytes(0..<length) }
}

/// The live bytes of a file that grows: they never move, so only the size that may be touched changes.
final class SimulatedGrowingMap: GrowingMap {
    private let memory: StableMemory
    private let file: SimulatedFile
    private let mappedBytes = Atomic<Int>(0)
    let reservedBytes: Int
    var guarded: MapGuard? { nil }

    init(_ memory: StableMemory, _ file: SimulatedFile, reserving byteCount: Int) {
        self.memory = memory
        self.file = file
        reservedBytes = byteCount
    }

    var base: UnsafeRawPointer {
        // A file's memory is there even while the file is empty.
        memory.bytes(0..<1).baseAddress!
    }

    var byteCount: Int { mappedBytes.load(ordering: .acquiring) }

    func release() {}

    func extend(to byteCount: Int) throws {
        guard byteCount > self.byteCount else { return }
        let size = try file.size()
        guard byteCount <= size else {
            throw StrataError(
                .outOfRange, "Only existing bytes of a file can be mapped.",
                .init(path: file.path, expected: "at most \(size) bytes", found: "\(byteCount)"))
        }
        mappedBytes.store(byteCount, ordering: .releasing)
    }
}
