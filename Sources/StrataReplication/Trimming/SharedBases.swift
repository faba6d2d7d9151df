import StrataLog
import StrataModel
import StrataSystem

/// The bases from which new copies of a trimmed sequencer begin, in a directory that all processes share
/// (docs/replication-internals.md §12).
struct SharedBases {
    /// The name of a base or of its mark: the last entry that the base replaces, and the base's id.
    struct Name {
        let number: UInt64
        let text: Substring
    }

    private static let markSuffix = ".mark"
    private static let draftSuffix = ".new"
    private static let pieceBytes = 1 << 20
    /// More than a mark has with the longest options and container identifier.
    private static let maximumMarkBytes = 16 << 10

    private let files: any FileSystem
    private let parent: String
    let directory: String

    init(in filesDirectory: String, _ files: any FileSystem) {
        self.files = files
        parent = StorePaths(filesDirectory).store
        directory = parent + "/bases"
    }

    private static func name(_ number: UInt64, _ base: Identifier) -> String {
        "\(paddedDecimal(number))-\(base)"
    }

    func path(of mark: BaseMark) -> String { directory + "/" + Self.name(mark.number, mark.base) }

    /// Returns the names of the marks, those of later entries first.
    func marks() throws -> [Name] {
        guard try files.exists(directory) else { return [] }
        return try names().filter { $0.text.hasSuffix(Self.markSuffix) }.sorted { $0.text > $1.text }
    }

    /// Returns the names that begin with a number.
    private func names() throws -> [Name] {
        try files.list(directory).compactMap { name in
            UInt64(name.prefix { $0 != "-" }).map { Name(number: $0, text: name[...]) }
        }
    }

    func path(of name: Name) -> String { directory + "/" + name.text }

    /// Reads the entry with a mark.
    func entry(_ name: Name) throws -> (entry: SequencedEntry, mark: BaseMark) {
        let path = path(of: name)
        do {
            let entry = try SequencedEntry(decoding: try files.readAll(path, atMost: Self.maximumMarkBytes))
            if case .base(let mark) = entry.content, mark.number == name.number { return (entry, mark) }
        } catch let error as StrataError { throw error.located(path: path) }
        throw StrataError(.malformed, "The file of a base's mark contains a different entry.", .init(path: path))
    }

    // MARK: Writing

    /// Gives a base its name in the directory, durably, and reads it again.
    ///
    /// - Parameter number: the last entry that the base replaces.
    /// - Returns: the length and the hash of the file.
    func publish(_ base: BaseReader, number: UInt64) throws -> (byteCount: UInt64, hash: [UInt8]) {
        try makeDirectory()
        let path = directory + "/" + Self.name(number, base.id)
        let draft = path + Self.draftSuffix
        let written = try copy(base.path, to: draft)
        try files.rename(draft, to: path)
        try files.syncDirectory(directory)
        let read = try hash(of: path)
        guard read == written else {
            try? files.remove(path)
            throw StrataError(.badChecksum, "The base reads back differently from what was written.", .init(path: path))
        }
        return written
    }

    private func makeDirectory() throws {
        try files.makeDirectory(directory)
        try files.syncDirectory(parent)
    }

    private func copy(_ source: String, to draft: String) throws -> (byteCount: UInt64, hash: [UInt8]) {
        let file = try files.open(draft, .writeOrCreate)
        defer { file.close() }
        try file.truncate(to: 0)
        do {
            let hash = try hash(of: source) { piece, position in try file.write(piece, at: position) }
            try file.sync()
            return hash
        } catch {
            try? files.remove(draft)
            throw error
        }
    }

    private func hash(
        of path: String, _ body: ([UInt8], Int) throws -> Void = { _, _ in }
    ) throws -> (byteCount: UInt64, hash: [UInt8]) {
        let file = try files.open(path, .read)
        defer { file.close() }
        var hasher = ContentHasher()
        var position = 0
        while case let piece = try file.read(count: Self.pieceBytes, at: position), !piece.isEmpty {
            piece.withUnsafeBytes { hasher.update($0) }
            try body(piece, position)
            position += piece.count
        }
        return (UInt64(position), hasher.finish())
    }

    /// Gives the entry with a base's mark its name, durably: from now on new copies begin with the base.
    func write(_ mark: BaseMark, in entry: SequencedEntry) throws {
        try files.replace(path(of: mark) + Self.markSuffix, in: directory, with: entry.encoded())
    }

    /// Removes the bases that no copy can begin with, because the sequencer was trimmed up to `number`.
    func remove(before number: UInt64) throws {
        let old = try names().filter { $0.number < number }
        for name in old.sorted(by: { $0.text > $1.text }) {
            // A mark goes before its base.
            do { try files.remove(path(of: name)) } catch let error as StrataError where error.code == .notFound {}
        }
        if !old.isEmpty { try files.syncDirectory(directory) }
    }

    // MARK: Reading

    /// Opens the base of a mark.
    ///
    /// - Throws: `.notFound` if it is missing, `.badChecksum` if a byte was changed.
    func open(_ mark: BaseMark) throws -> BaseReader {
        let path = path(of: mark)
        let found: (byteCount: UInt64, hash: [UInt8])
        do { found = try hash(of: path) } catch let error as StrataError where error.code == .notFound {
            throw StrataError(.notFound, "The base that a mark names is missing.", .init(path: path))
        }
        guard found == (mark.byteCount, mark.hash) else {
            throw StrataError(
                .badChecksum, "A base does not match its mark.",
                .init(path: path, expected: "\(mark.byteCount) bytes", found: "\(found.byteCount)"))
        }
        let base = try BaseReader(try files.open(path, .read))
        guard
            (base.storeID, base.id, base.horizon, base.time)
                == (mark.identity.storeID, mark.base, mark.horizon, mark.time)
        else {
            throw StrataError(
                .malformed, "A base is not the one that its mark names.",
                .init(
                    path: path, expected: "\(mark.base) at \(mark.horizon)", found: "\(base.id) at \(base.horizon)"))
        }
        return base
    }
}
