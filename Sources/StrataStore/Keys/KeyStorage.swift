import StrataModel

/// Keeps the keys of a store's users.
protocol KeyStorage: Sendable {
    /// True if several processes change the keys.
    var isShared: Bool { get }
    /// Returns false if another process has changed the keys since ``read()``.
    func isCurrent() throws -> Bool
    func read() throws -> KeyBook
    /// Returns once no loss of power undoes what ``read()`` returned.
    func makeDurable() throws
    /// Replaces the keys that were read last; durable on return. Returns false, and changes nothing, if another process
    /// has changed them in the meantime.
    func replace(with book: KeyBook) throws -> Bool
    /// Overwrites what is left of keys that were replaced.
    func clean() throws
}

extension KeyStorage {
    var isShared: Bool { false }
    func isCurrent() throws -> Bool { true }
    func makeDurable() throws {}
    func clean() throws {}
}

/// Stands for the keys of a store on a sequencer that has no directory for them: every use fails.
struct MissingKeys: KeyStorage {
    let error: StrataError

    /// True, so that requests with encrypted values look at the keys and are refused.
    var isShared: Bool { true }
    func read() throws -> KeyBook { throw error }
    func replace(with book: KeyBook) throws -> Bool { throw error }
}
