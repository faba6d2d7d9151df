import StrataModel
import StrataSystem

/// Restricts the tool's file access to reading, if necessary only up to a damaged place.
///
/// Commands that only read open stores through this type, so they cannot change them. There is one exception:
/// following a writer asks it by `log/tail` to be woken.
struct ReadOnlyFiles: FileSystem {
    /// The end of the readable part of a log. The rest looks as if it had not been written yet.
    struct Limit: Sendable, Equatable {
        /// The path of the last visible segment.
        var segment: String
        /// The number of visible bytes in it; nil for all.
        var byteCount: Int?
    }

    private var files: any FileSystem = RealFileSystem()
    var limit: Limit?
    /// True to hide the states of the views.
    var hidesViews = false

    func anchored(at directory: String) throws -> any FileSystem {
        var anchored = self
        anchored.files = try files.anchored(at: directory)
        return anchored
    }

    func checkAnchor() throws { try files.checkAnchor() }

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
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
        // A writer's shared page describes the whole log, not a part of it.
        return try limit == nil ? files.openSharedPage(path, use) : nil
    }

    /// Segment names have equal lengths, so they sort as text.
    private func isHidden(_ path: String) -> Bool {
        if hidesViews, path.hasSuffix("/views") { return true }
        guard let limit else { return false }
        return path.hasSuffix(".seg") && path > limit.segment
    }

    static func refusal(_ path: String) -> StrataError {
        StrataError(.readOnlyMedium, "The tool opens stores for reading only.", .init(path: path))
    }
}

/// Limits a file to its first bytes.
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
