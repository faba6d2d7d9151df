import StrataModel

/// A position in the order of a tree's keys.
///
/// If it is on a fork that changes, it finds its position again by its key.
///
/// ```swift
/// let cursor = snapshot.cursor(records)
/// var isThere = try cursor.seek(key)
/// while isThere { try cursor.withEntry { key, value in … }; isThere = try cursor.next() }
/// ```
package final class Cursor {
    private let owner: any TreeReading
    private let isOnFork: Bool
    private let id: TreeID
    private let currentChangeCount: () -> Int
    private var merged: MergedCursor?
    private var changeCount = -1
    /// The key of the current entry on a fork, where the tree may change under the cursor.
    private var key: [UInt8] = []

    init(_ owner: any TreeReading, _ id: TreeID, changeCount: @escaping () -> Int) {
        self.owner = owner
        isOnFork = owner is Fork
        self.id = id
        currentChangeCount = changeCount
    }

    // MARK: Moving

    /// Moves to the first entry at or after a key; returns false if there is none.
    package func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { try seek(.from(key)) }
    package func seekFirst() throws -> Bool { try seek(.first) }
    /// Moves to the last entry before a key; returns false if there is none.
    package func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool { try seek(.before(key)) }

    private func seek(_ target: LayerCursor.Target) throws -> Bool {
        if !isCurrent {
            (merged, changeCount) = (MergedCursor(try owner.readableLayers().stack, id), currentChangeCount())
        }
        return try moved { try $0?.seek(target) }
    }

    /// Moves to the next entry; returns false after the last one, where the cursor has no entry.
    package func next() throws -> Bool {
        guard merged?.isThere == true else { return false }
        if isCurrent { return try moved { try $0?.next() } }
        let key = key
        guard try key.withUnsafeBytes({ try seek($0) }) else { return false }
        // If the entry itself was deleted, the cursor is already at the next one.
        if self.key != key { return true }
        return try next()
    }

    /// Moves to the previous entry; returns false before the first one, where the cursor has no entry.
    package func previous() throws -> Bool {
        guard merged?.isThere == true else { return false }
        if isCurrent { return try moved { try $0?.previous() } }
        let key = key
        return try key.withUnsafeBytes { try seekBefore($0) }
    }

    /// True if there is a position, and the tree has not changed since.
    private var isCurrent: Bool { merged != nil && changeCount == currentChangeCount() }

    private func moved(_ move: (inout MergedCursor?) throws -> Void) throws -> Bool {
        do { try move(&merged) } catch {
            merged = nil
            throw error
        }
        if isOnFork, let entry = merged?.entry { key = [UInt8](entry.key) }
        return merged?.isThere == true
    }

    // MARK: Reading

    /// Calls `body` with the entry, whose bytes are valid only during the call; nil if there is no entry.
    package func withEntry<Result>(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        guard merged?.isThere == true else { return nil }
        guard isCurrent else {
            throw StrataError(.invalidArgument, "The fork has changed: move the cursor before it is read again.")
        }
        return try withExtendedLifetime(owner) {
            let result = try merged?.entry.map { try body($0.key, $0.value) }
            try merged?.requireReadable()
            return result
        }
    }
}
