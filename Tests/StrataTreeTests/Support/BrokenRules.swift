import StrataModel
import StrataSystem
import TestSupport

@testable import StrataTree

// Broken rules of the page store, for canaries: the other tests must notice each.

extension Checkpoints {
    /// Also frees the older checkpoint, although its header is still in its slot.
    func letGoOfOlderSlot() {
        let epochs = state.withLock { state -> [UInt64] in
            guard let newest = state.newestIndex else { return [] }
            defer { state.slots[1 - newest] = .init() }
            return state.slots[1 - newest].pinned
        }
        for epoch in epochs { core.unpin(epoch) }
    }

    /// Lets go of what readers of other processes look at.
    func letGoOfReaders() {
        let epochs = state.withLock { state in
            defer { state.readers = [] }
            return state.readers
        }
        for epoch in epochs { core.unpin(epoch) }
    }
}

extension DurableRun {
    /// Counts pages as written although the sync of their checkpoint failed.
    func trustFailedSync() throws {
        let content = try disk.content(of: PageStore.viewsPath(Self.directory))
        let memory = store.core.memory
        let dirty = store.core.withLedger { ($0.dirty.numbers, []) }
        let written = content.withUnsafeBytes { content in
            dirty.filter { number in
                let start = Int(number) * PageLayout.pageBytes
                guard let page = memory.place(of: number), start + PageLayout.pageBytes <= content.count else {
                    return false
                }
                // Not empty: it has a page.
                let found = Page(content.baseAddress! + start)
                return found.number == number && found.birth == Page(page).birth
            }
        }
        memory.moveToFile(written)
        store.core.withLedger { ledger in
            ledger.markClean(written)
            return ((), [])
        }
    }
}

/// A disk that always returns the headers of checkpoints as they were first read.
struct StaleHeaders: FileSystem {
    let disk: SimulatedDisk

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        let file = try disk.open(path, mode)
        return path.hasSuffix("/views") ? StaleHeaderFile(file) : file
    }

    func exists(_ path: String) throws -> Bool { try disk.exists(path) }
    func makeDirectory(_ path: String) throws { try disk.makeDirectory(path) }
    func rename(_ source: String, to target: String) throws { try disk.rename(source, to: target) }
    func remove(_ path: String) throws { try disk.remove(path) }
    func list(_ directory: String) throws -> [String] { try disk.list(directory) }
    func syncDirectory(_ directory: String) throws { try disk.syncDirectory(directory) }
}

private final class StaleHeaderFile: ForwardingFile {
    let file: any File
    private let known = Lock<[Int: [UInt8]]>([:])

    init(_ file: any File) { self.file = file }

    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        guard position < ViewFormat.headerSlots * PageLayout.pageBytes else {
            return try file.readSome(into: target, at: position)
        }
        if let bytes = known.withLock({ $0[position] }), bytes.count <= target.count {
            target.copyBytes(from: bytes)
            return bytes.count
        }
        let count = try file.readSome(into: target, at: position)
        known.withLock { $0[position] = Array(target.prefix(count)) }
        return count
    }
}
