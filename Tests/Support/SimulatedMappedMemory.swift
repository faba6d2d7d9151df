import StrataSystem

/// The live bytes of a file; they stay where they are as long as this object or the file does.
final class SimulatedMappedMemory: MappedMemory {
    private let memory: StableMemory
    private let length: Int
    var guarded: MapGuard? { nil }

    init(_ memory: StableMemory, length: Int) {
        self.memory = memory
        self.length = length
    }

    var bytes: UnsafeRawBufferPointer { memory.bytes(0..<length) }
}
