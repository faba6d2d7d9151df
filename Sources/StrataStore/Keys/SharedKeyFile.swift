import StrataLog
import StrataModel
import StrataSystem

/// The keys of a store that several processes write: a directory with a file for each *generation* of the keys.
///
/// The newest file counts. A process that changes the keys links a whole file to the next number, which only one
/// process can do, and then empties the older files. The last of these keeps its name, so that a process that lists the
/// directory at the same time finds a number.
final class SharedKeyFile: KeyStorage {
    private struct State {
        /// The generation that was read last; 0 if there was none.
        var number: UInt64 = 0
        /// The generation whose name is known to be durable.
        var durable: UInt64 = 0
    }

    private static let draftPrefix = "new-"

    private let parent: String
    private let directory: String
    private let platform: Platform
    /// The age from which the draft of another process is removed.
    private let draftSeconds: Int
    private let state = Lock(State())

    private var files: any FileSystem { platform.files }

    /// - Parameter parent: the directory that all processes of the store share.
    init(in parent: String, _ platform: Platform, draftSeconds: Int = StoreOptions.daySeconds) {
        self.parent = StorePaths(parent).store
        directory = self.parent + "/" + KeyFile.name
        self.platform = platform
        self.draftSeconds = draftSeconds
    }

    private func path(of number: UInt64) -> String { directory + "/" + paddedDecimal(number) }

    private static func number(of name: String) -> UInt64? {
        guard name.utf8.count == 20, let number = UInt64(name), number < UInt64(Int64.max) else { return nil }
        return number
    }

    private func newest() throws -> UInt64 {
        guard try files.exists(directory) else { return 0 }
        return try files.list(directory).compactMap(Self.number).max() ?? 0
    }

    // MARK: Reading

    var isShared: Bool { true }

    func isCurrent() throws -> Bool {
        let number = state.withLock { $0.number }
        if number == 0 { return try newest() == 0 }
        // IMPORTANT: Check the next generation first. The names of the newest generation and the one before it always
        // exist.
        if try files.exists(path(of: number + 1)) { return false }
        return try files.exists(path(of: number))
    }

    func read() throws -> KeyBook {
        while true {
            let number = try newest()
            do {
                let book = number == 0 ? KeyBook() : try KeyFile.read(path(of: number), files)
                state.withLock { $0.number = number }
                return book
            } catch {
                // Another process may have emptied the file, or removed it, after it was listed.
                if try newest() == number { throw error }
            }
        }
    }

    func makeDurable() throws {
        let number = state.withLock { $0.durable < $0.number ? $0.number : nil }
        guard let number else { return }
        try files.syncDirectory(parent)
        try files.syncDirectory(directory)
        state.withLock { $0.durable = max($0.durable, number) }
    }

    // MARK: Changing

    func replace(with book: KeyBook) throws -> Bool {
        let number = state.withLock { $0.number } + 1
        try files.makeDirectory(directory)
        try files.syncDirectory(parent)
        let draft = directory + "/" + Self.draftPrefix + platform.random.nextIdentifier().description
        let isFirst = try files.create(
            path(of: number), in: directory, with: book.encoded(), draft: draft, isPrivate: true)
        // While this process slept, others may have used and removed its number; then later numbers exist.
        guard isFirst, try newest() == number else { return false }
        state.withLock { ($0.number, $0.durable) = (number, number) }
        // The keys are already replaced. If the disk fails here, the next change empties the older files.
        try? clean()
        return true
    }

    func clean() throws {
        guard try files.exists(directory) else { return }
        let names = try files.list(directory)
        guard let newest = names.compactMap(Self.number).max() else { return }
        // IMPORTANT: nothing is emptied before the name of its successor is durable.
        if state.withLock({ $0.durable < newest }) { try files.syncDirectory(directory) }
        for number in names.compactMap(Self.number) where number < newest {
            try ignoringMissing {
                try empty(path(of: number))
                if number + 1 < newest { try files.remove(path(of: number)) }
            }
        }
        for name in names where name.hasPrefix(Self.draftPrefix) {
            try ignoringMissing { try removeDraft(directory + "/" + name) }
        }
    }

    private func empty(_ path: String) throws {
        let file = try files.open(path, .write)
        defer { file.close() }
        guard try file.size() > 0 else { return }
        try file.wipe()
        try file.truncate(to: 0)
    }

    /// Removes the draft of a process that died.
    private func removeDraft(_ path: String) throws {
        let file = try files.open(path, .write)
        defer { file.close() }
        let status = try file.status()
        guard status.isOlder(than: draftSeconds, at: platform.time) else { return }
        try files.remove(path)
        // Without this name it can no longer become a generation, unless it already is one.
        let linked = try files.list(directory).filter { Self.number(of: $0) != nil }.contains {
            try identity(of: directory + "/" + $0) == status.identity
        }
        if !linked { try file.wipe() }
    }

    private func identity(of path: String) throws -> FileIdentity? {
        var identity: FileIdentity?
        try ignoringMissing {
            let file = try files.open(path, .read)
            defer { file.close() }
            identity = try file.identity()
        }
        return identity
    }

    /// Another process may do the same at the same time.
    private func ignoringMissing(_ body: () throws -> Void) throws {
        do { try body() } catch let error as StrataError where error.code == .notFound {}
    }
}
