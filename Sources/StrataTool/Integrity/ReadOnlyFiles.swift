import StrataModel
import StrataSystem

/// Files as the tool may use them: for reading, and if need be only up to a place that is known to be damaged.
///
/// Everything the tool opens goes through here, so nothing that it calls can change a store; but `schema import` and
/// `compact` do, who follows a writer asks it by `log/tail` to be woken, and who reads the page file says so in
/// `readers` meanwhile.
struct ReadOnlyFiles: FileSystem {
    /// Where the readable part of a log ends: the rest looks as if it had not been written yet.
    struct Limit: Sendable, Equatable {
        /// Path of the last segment that is seen.
        var segment: String
        /// How much of it is seen; nil for all.
        var byteCount: Int?
    }

    private var files: any FileSystem = RealFileSystem()
    var limit: Limit?
    /// Whether it looks as if there was no page file.
    var hidesViews = false

    func anchored(at directory: String) throws -> any FileSystem {
        var anchored = self
        anchored.files = try files.anchored(at: directory)
        return anchored
    }

    func checkAnchor() throws { try files.checkAnchor() }

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        if hidesViews, path.hasSuffix("/views") {
            throw StrataError(.notFound, "The page file is not read.", .init(path: path))
        }
        // Whoever reads takes a place in it and leaves it as it was; without it there is no page file either.
        if case .writeOrCreate = mode, path.hasSuffix("/readers"), try files.exists(path) {
            return try files.open(path, .write)
        }
        guard case .read = mode else { throw Self.refusal(path) }
        let file = try files.open(path, .read)
        if let limit, limit.segment == path, let byteCount = limit.byteCount {
            return FileBeginning(of: file, byteCount: byteCount)
        }
        return file
    }

    func exists(_ path: String) throws -> Bool { try !isHidden(path) && files.exists(path) }

    func list(_ directory: String) throws -> [String] {
        try files.list(directory).filter { !isHidden("\(directory)/\($0)") }
    }

    func makeDirectory(_ path: String) throws { throw Self.refusal(path) }
    func rename(_ source: String, to target: String) throws { throw Self.refusal(source) }
    func remove(_ path: String) throws { throw Self.refusal(path) }
    func syncDirectory(_ directory: String) throws { throw Self.refusal(directory) }

    func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? {
        if case .own = use { throw Self.refusal(path) }
        // What a writer says of its log does not hold for a part of it.
        return try limit == nil ? files.openSharedPage(path, use) : nil
    }

    /// Names of segments have the same length, so they are in order as text.
    private func isHidden(_ path: String) -> Bool {
        guard let limit else { return false }
        return path.hasSuffix(".seg") && path > limit.segment
    }

    static func refusal(_ path: String) -> StrataError {
        StrataError(.readOnlyMedium, "The tool opens stores for reading only.", .init(path: path))
    }
}

/// The first bytes of a file.
private final class FileBeginning: File {
    private let file: any File
    private let byteCount: Int

    init(of file: any File, byteCount: Int) {
        self.file = file
        self.byteCount = byteCount
    }

    var path: String { file.path }
    func size() throws -> Int { min(try file.size(), byteCount) }

    func readSome(into target: UnsafeMutableRawBufferPointer, at position: Int) throws -> Int {
        let count = max(0, min(target.count, byteCount - position))
        return try file.readSome(into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]), at: position)
    }

    func map(length: Int) throws -> any MappedMemory { try file.map(length: min(length, byteCount)) }
    func close() { file.close() }

    func writeSome(_ source: UnsafeRawBufferPointer, at position: Int) throws -> Int {
        throw ReadOnlyFiles.refusal(path)
    }

    func syncData() throws { throw ReadOnlyFiles.refusal(path) }
    func finishWriteback(_ range: Range<Int>) {}
    func allocate(_ range: Range<Int>) throws { throw ReadOnlyFiles.refusal(path) }
    func truncate(to size: Int) throws { throw ReadOnlyFiles.refusal(path) }
    func tryLock() throws -> Bool { throw ReadOnlyFiles.refusal(path) }
}
