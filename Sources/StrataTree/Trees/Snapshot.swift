import StrataModel

/// An immutable state of all trees of a page store, as published. Taking it costs nothing.
///
/// ```swift
/// let snapshot = store.snapshot()
/// let bytes = try snapshot.tree(records).get(key) { value in [UInt8](value) }
/// ```
@usableFromInline
package final class Snapshot: Sendable {
    let core: PageCore
    let epoch: UInt64
    let roots: TreeRoots
    /// Keeps alive the pages that this state shares with others; nil if the state belongs to the store itself.
    private let branch: BranchPages?

    /// Takes over a pin of the epoch, which the caller has already set.
    init(core: PageCore, epoch: UInt64, roots: TreeRoots, of branch: BranchPages? = nil) {
        self.core = core
        self.epoch = epoch
        self.roots = roots
        self.branch = branch
    }

    deinit { core.unpin(epoch) }

    /// The trees that are or have been non-empty.
    package var trees: [TreeID] { roots.ids }
    package func entryCount(_ id: TreeID) -> UInt64 { roots[id].entryCount }
    package func foldedOffset(_ id: TreeID) -> UInt64 { roots[id].foldedOffset }

    /// The identity of a tree's content, which costs the reading of one page.
    package func identity(of id: TreeID) throws -> TreeIdentity { try core.identity(of: roots[id]) }

    /// Calls `body` with the value of a key, which is valid only during the call; nil if the key does not exist.
    @inlinable
    package func get<Result>(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        var result: Result?
        try read(id, key) { result = try body($0) }
        return result
    }

    @usableFromInline
    func read(_ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        _ = try core.memory.get(roots[id], key, body)
    }
}

extension PageMemory {
    /// Calls `body` with the value of a key, which is valid only during the call; nil if the key does not exist.
    func get<Result>(
        _ root: TreeRoot, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        guard root.page != 0 else { return nil }
        return try reading {
            let leaf = try descend(root, to: key)
            let (index, isFound) = leaf.search(leaf: key)
            guard isFound else { return nil }
            let value = leaf.storedValue(index)
            if value.isOverflow { return try withOverflow(OverflowReference(value.bytes), body) }
            return try body(value.bytes)
        }
    }

    /// Returns true if the key exists; does not assemble long values.
    func contains(_ root: TreeRoot, _ key: UnsafeRawBufferPointer) throws -> Bool {
        guard root.page != 0 else { return false }
        return try reading { try descend(root, to: key).search(leaf: key).isFound }
    }

    /// The leaf that covers a key.
    @inline(__always)
    private func descend(_ root: TreeRoot, to key: UnsafeRawBufferPointer) throws -> Page {
        var page = try page(root.page, level: root.level)
        var level = root.level
        while level > 0 {
            level -= 1
            let child = page.child(page.search(branch: key))
            ask(for: child)
            page = try self.page(child, level: level)
        }
        return page
    }

    /// A page that must have the given level, so that a damaged file cannot cause an endless descent.
    @inline(__always)
    func page(_ number: PageNumber, level: Int) throws -> Page {
        let page = try page(number)
        guard page.level == level, page.count > 0 else { throw wrongLevel(number, expected: level, found: page.level) }
        return page
    }

    func wrongLevel(_ number: PageNumber, expected: Int, found: Int) -> StrataError {
        StrataError(
            .malformed, "A tree refers to a page of another kind or level.",
            .init(
                position: UInt64(number) * UInt64(PageLayout.pageBytes), page: number, expected: "level \(expected)",
                found: "level \(found)"))
    }

    /// Assembles a value from its overflow pages. Must be called inside a read section.
    func withOverflow<Result>(
        _ reference: OverflowReference, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, reference.byteCount), alignment: 8)
        defer { buffer.deallocate() }
        var place = 0
        for index in 0..<reference.pageCount {
            let page = try page(reference.first + PageNumber(index))
            guard page.kind == .overflow else {
                throw wrongLevel(reference.first + PageNumber(index), expected: 0, found: page.level)
            }
            let count = min(PageLayout.overflowBytesPerPage, reference.byteCount - place)
            UnsafeMutableRawBufferPointer(rebasing: buffer[place..<place + count]).copyMemory(
                from: UnsafeRawBufferPointer(start: page.base + PageLayout.headerBytes, count: count))
            place += count
        }
        return try body(UnsafeRawBufferPointer(rebasing: buffer[..<reference.byteCount]))
    }
}
