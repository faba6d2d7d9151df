import StrataModel
import StrataSystem

/// Puts any number of entries in the order of their keys: in memory as long as they fit, beyond that in sorted runs in
/// a file without a name, from which they come back merged.
///
/// ```swift
/// let sorter = RunSorter(spill: .init(files: files, path: directory + "/views.build"))
/// try sorter.add(key, value)
/// try sorter.finish()
/// while let entry = sorter.current { use(entry.key, entry.value); try sorter.advance() }
/// ```
public final class RunSorter {
    /// Where runs go that do not fit memory.
    public struct Spill: Sendable {
        let files: any FileSystem
        let path: String

        public init(files: any FileSystem, path: String) {
            self.files = files
            self.path = path
        }
    }

    /// The default number of bytes that are sorted in memory.
    public static let usualMemoryBytes = 64 << 20

    private let memoryBytes: Int
    private let spill: Spill?
    private let slice = SortSlice()
    private var writer: RunWriter?
    private var runs: [Range<Int>] = []
    private var merge: RunMerge?
    private var place = 0
    private var isFinished = false
    /// How many entries were added.
    public private(set) var count: UInt64 = 0

    /// - Parameters:
    ///   - memoryBytes: beyond, entries go to the file.
    ///   - spill: nil if memory has to do.
    public init(memoryBytes: Int = usualMemoryBytes, spill: Spill?) {
        self.memoryBytes = memoryBytes
        self.spill = spill
    }

    /// Whether something went to the file.
    public var isSpilled: Bool { !runs.isEmpty }

    /// What is in memory of what was added.
    var heldBytes: Int { slice.byteCount }

    /// - Throws: ``StrataError`` of the file.
    public func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        precondition(!isFinished, "nothing is added to what is sorted")
        slice.append(key, value)
        count += 1
        if slice.byteCount >= memoryBytes, let spill { try writeRun(spill) }
    }

    private func writeRun(_ spill: Spill) throws {
        let writer = try self.writer ?? RunWriter(try spill.files.openUnnamed(spill.path))
        self.writer = writer
        let start = runs.last?.upperBound ?? 0
        writer.start(at: start)
        slice.sort()
        for place in 0..<slice.count {
            let entry = slice.entry(place)
            try writer.append(entry.key, entry.value)
        }
        try writer.finish()
        runs.append(start..<writer.end)
        slice.removeAll()
    }

    /// Nothing is added any more, and the first entry is the current one.
    public func finish() throws {
        if !runs.isEmpty, slice.count > 0, let spill { try writeRun(spill) }
        isFinished = true
        if let file = writer?.file {
            merge = try RunMerge(runs.map { RunReader(file, $0) })
        } else {
            slice.sort()
        }
    }

    /// Nil behind the last entry. Valid until ``advance()``; of equal keys that which came first comes first.
    public var current: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard isFinished else { return nil }
        if let merge { return merge.first.map { ($0.key, $0.value) } }
        guard place < slice.count else { return nil }
        let entry = slice.entry(place)
        return (entry.key, entry.value)
    }

    public func advance() throws {
        if merge != nil { try merge?.advance() } else { place += 1 }
    }
}
