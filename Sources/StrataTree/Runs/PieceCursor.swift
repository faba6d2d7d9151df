import StrataSystem

/// A position in a piece. It is at an entry, or has none. A copy has the same memory for keys, so only one may move.
///
/// ```swift
/// var cursor = PieceCursor(piece)
/// var isThere = try cursor.seek(tree, key)
/// while isThere { use(cursor.key, cursor.content); isThere = try cursor.next() }
/// ```
package struct PieceCursor {
    private(set) var piece: Piece
    /// The frames in which it moves: those of a tree, or all.
    private var frames: Range<Int>
    /// The number of the frame; 0 if there is no entry.
    private(set) var number = 0
    private var frame: Frame?
    private(set) var index = 0
    private var suffix = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The content of the entry; its bytes are valid as long as the piece.
    package private(set) var content = RunContent.mark
    private let assembled = KeyBuffer()

    package init(_ piece: Piece) {
        self.piece = piece
        frames = 1..<piece.endFrame
    }

    package var hasEntry: Bool { number != 0 }

    /// Continues in another piece, without an entry.
    mutating func change(to piece: Piece) {
        self.piece = piece
        frames = 1..<piece.endFrame
        (number, frame) = (0, nil)
    }

    // MARK: Moving

    /// Moves to the first entry of all trees. Moving on then passes from tree to tree.
    package mutating func seekFirst() throws -> Bool {
        frames = 1..<piece.endFrame
        return try enterFirst()
    }

    /// Moves to the first entry of a tree at or after a key, nil for its first one. Moving on ends with the tree.
    package mutating func seek(_ tree: TreeID, _ key: UnsafeRawBufferPointer?) throws -> Bool {
        frames = piece.frames(of: tree)
        return try seekInFrames(key)
    }

    /// Moves to the first entry at or after a key, in the order of a run. Moving on then passes from tree to tree.
    package mutating func seek(acrossTrees tree: TreeID, _ key: UnsafeRawBufferPointer) throws -> Bool {
        frames = piece.frames(of: tree)
        let isThere = try seekInFrames(key)
        let after = piece.firstFrame(after: tree)
        frames = 1..<piece.endFrame
        if isThere { return true }
        return after < piece.endFrame ? try enter(after, at: 0) : try end()
    }

    private mutating func seekInFrames(_ key: UnsafeRawBufferPointer?) throws -> Bool {
        guard let key, let number = try piece.fences.frame(of: key, in: frames, orEqual: false) else {
            return try enterFirst()
        }
        let frame = try piece.frame(number)
        let index = try piece.reading(number) { try frame.search(key) }
        if index < frame.count { return try enter(number, at: index) }
        return number + 1 < frames.upperBound ? try enter(number + 1, at: 0) : try end()
    }

    /// Moves to the last entry of a tree before a key, nil for its last one.
    package mutating func seekBefore(_ tree: TreeID, _ key: UnsafeRawBufferPointer?) throws -> Bool {
        frames = piece.frames(of: tree)
        if frames.isEmpty { return try end() }
        guard let key else { return try enter(frames.upperBound - 1, at: nil) }
        guard let number = try piece.fences.frame(of: key, in: frames, orEqual: false) else { return try end() }
        // The frame's first key comes before.
        return try enter(number, at: max(0, try piece.reading(number) { try piece.frame(number).search(key) } - 1))
    }

    package mutating func next() throws -> Bool {
        guard let frame else { return false }
        if index + 1 < frame.count {
            index += 1
            let before = suffix.baseAddress
            try load(frame)
            prefetch(after: before)
            return true
        }
        return number + 1 < frames.upperBound ? try enter(number + 1, at: 0) : try end()
    }

    package mutating func previous() throws -> Bool {
        guard let frame else { return false }
        if index > 0 {
            index -= 1
            try load(frame)
            return true
        }
        return number > frames.lowerBound ? try enter(number - 1, at: nil) : try end()
    }

    private mutating func enterFirst() throws -> Bool {
        try frames.isEmpty ? end() : try enter(frames.lowerBound, at: 0)
    }

    /// - Parameter index: nil for the last entry of the frame.
    private mutating func enter(_ number: Int, at index: Int?) throws -> Bool {
        let frame = try piece.frame(number)
        try requireReadable()
        (self.number, self.frame, self.index) = (number, frame, index ?? frame.count - 1)
        assembled.bytes.copyMemory(from: frame.prefix)
        try load(frame)
        return true
    }

    @inline(__always)
    private mutating func load(_ frame: Frame) throws {
        // Without a closure, which would retain the piece for each entry.
        do { (suffix, content) = try frame.entry(index) } catch { throw piece.placing(error, number) }
    }

    /// Prefetches as much as the last entry has, some entries ahead: they follow each other, from frame to frame too.
    @inline(__always)
    private func prefetch(after before: UnsafeRawPointer?) {
        // Damaged frames, and those that are truncated meanwhile, may have their entries in any order.
        guard let before, let place = suffix.baseAddress, place > before else { return }
        Prefetch.ask(place + Self.aheadBytes, byteCount: place - before)
    }

    private static let aheadBytes = 2_048

    private mutating func end() throws -> Bool {
        (number, frame) = (0, nil)
        try requireReadable()
        return false
    }

    /// Checks the bytes that were read until now, as moving to another frame does.
    ///
    /// - Throws: ``StrataError`` if some of them could not be read.
    package func requireReadable() throws { try piece.requireReadable() }

    // MARK: Reading

    /// The tree of the entry.
    package var tree: TreeID { frame?.tree ?? TreeID(rawValue: 0) }

    /// The key of the entry, valid until the cursor moves. Keys that share a prefix are put together for it.
    @inline(__always)
    package var key: UnsafeRawBufferPointer {
        guard let frame, frame.prefixBytes > 0 else { return suffix }
        let end = frame.prefixBytes + suffix.count
        UnsafeMutableRawBufferPointer(rebasing: assembled.bytes[frame.prefixBytes..<end]).copyMemory(from: suffix)
        return UnsafeRawBufferPointer(rebasing: assembled.bytes[..<end])
    }
}

/// The memory of a key that is put together.
// @unchecked: only the cursor that owns it writes to it.
final class KeyBuffer: @unchecked Sendable {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: RunFormat.maximumKeyBytes, alignment: 8)

    deinit { bytes.deallocate() }
}
