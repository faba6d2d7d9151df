import StrataModel
import StrataSystem

/// Sorts any number of entries by key: in memory as long as they fit, otherwise in sorted runs in an unnamed file,
/// which are merged when they are read back.
///
/// ```swift
/// let sorter = RunSorter(spill: .init(files: files, path: directory + "/views.build"))
/// try sorter.add(key, value)
/// try sorter.finish()
/// while let entry = sorter.current { use(entry.key, entry.value); try sorter.advance() }
/// ```
package final class RunSorter {
    /// The place of runs that do not fit in memory.
    package struct Spill: Sendable {
        let files: any FileSystem
        let path: String

        package init(files: any FileSystem, path: String) {
            self.files = files
            self.path = path
        }
    }

    /// The default number of bytes that are sorted in memory.
    package static let usualMemoryBytes = 64 << 20

    private let memoryBytes: Int
    private let spill: Spill?
    private let slice = SortSlice()
    private var writer: RunWriter?
    /// The runs in the file.
    private(set) var runs: [Range<Int>] = []
    private var merge: RunMerge?
    private var place = 0
    private var isFinished = false
    /// The number of entries that were added.
    package private(set) var count: UInt64 = 0

    /// - Parameters:
    ///   - memoryBytes: the bytes beyond which entries go to the file.
    ///   - spill: the place of that file; nil to use memory alone.
    package init(memoryBytes: Int = usualMemoryBytes, spill: Spill?) {
        self.memoryBytes = memoryBytes
        self.spill = spill
    }

    /// The bytes of the added entries that are held in memory.
    var heldBytes: Int { slice.byteCount }

    /// Adds an entry.
    ///
    /// - Throws: ``StrataError`` of the file.
    package func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        precondition(!isFinished, "no entry can be added after sorting")
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

    /// Ends adding, and makes the first entry the current one.
    package func finish() throws {
        if !runs.isEmpty, slice.count > 0, let spill { try writeRun(spill) }
        isFinished = true
        if let file = writer?.file {
            merge = try RunMerge(runs.map { RunReader(file, $0) })
        } else {
            slice.sort()
        }
    }

    /// The current entry, valid until ``advance()``; nil after the last. Entries with equal keys keep their order.
    package var current: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard isFinished else { return nil }
        if let merge { return merge.first.map { ($0.key, $0.value) } }
        guard place < slice.count else { return nil }
        let entry = slice.entry(place)
        return (entry.key, entry.value)
    }

    package func advance() throws {
        if merge != nil { try merge?.advance() } else { place += 1 }
    }
}
