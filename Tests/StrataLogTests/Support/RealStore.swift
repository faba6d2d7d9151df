import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// A store in a directory of its own on the real disk, where writers have a hint page.
final class RealStore: Sendable {
    static let options = LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 0)

    private let directory: TestDirectory
    let paths: StorePaths

    init() throws {
        directory = try TestDirectory()
        paths = StorePaths(directory.path("Notes.strata"))
    }

    func open(_ durability: Durability = .commit) throws -> SegmentedLog {
        var options = Self.options
        options.durability = durability
        return try SegmentedLog.open(at: paths.store, options: options)
    }

    func reader(_ extent: LogReader.Extent = .durable, files: any FileSystem = RealFileSystem()) throws -> LogReader {
        try LogReader.open(at: paths.store, extent: extent, platform: Platform(files: files))
    }

    /// A copy of all files, as a backup has it.
    func copy() throws -> RealStore {
        let copy = try RealStore()
        let files = RealFileSystem()
        try files.makeDirectory(copy.paths.store)
        try files.makeDirectory(copy.paths.log)
        let names = try files.list(paths.log).map { "log/\($0)" } + ["STORE"]
        for name in names {
            let bytes = try files.readAll("\(paths.store)/\(name)", atMost: 1 << 20)
            try files.open("\(copy.paths.store)/\(name)", .create).write(bytes, at: 0)
        }
        return copy
    }

    // MARK: The hint page

    func hint() throws -> TailHint { try TailHint(decoding: try page(), path: paths.tail) }

    func page() throws -> [UInt8] { try RealFileSystem().readAll(paths.tail, atMost: SharedPage.byteCount) }

    /// Behind the writer's back.
    func overwritePage(_ bytes: [UInt8], at position: Int = 0) throws {
        try RealFileSystem().open(paths.tail, .write).write(bytes, at: position)
    }
}

extension SegmentedLog {
    /// A commit that goes behind whatever is there.
    func appendOne(bytesPerEvent: Int = 60) throws {
        var sequence = CommitSequence(seed: end.offset, noise: 1)
        let payload = sequence.next(bytesPerEvent: bytesPerEvent).payload
        _ = try append(
            [NewCommit(id: SystemRandom().nextIdentifier(), time: endTime ?? 0, payload: payload)], expecting: end)
    }
}

/// The real files, with something to be done before the size of a file is told, and shared pages only as far as they
/// are allowed.
struct HookedFiles: FileSystem {
    private let files = RealFileSystem()
    var beforeSize: @Sendable () throws -> Void = {}
    var pageUses: [SharedPageUse] = [.own, .follow, .read]
    var mayWrite = true

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        if case .read = mode {} else { try refuseWriting(path) }
        return HookedFile(try files.open(path, mode), beforeSize)
    }

    func openSharedPage(_ path: String, _ use: SharedPageUse) throws -> SharedPage? {
        let isAllowed = pageUses.contains(use)
        guard isAllowed else { throw StrataError(.readOnlyMedium, "No such page here.", .init(path: path)) }
        return try files.openSharedPage(path, use)
    }

    private func refuseWriting(_ path: String) throws {
        guard mayWrite else { throw StrataError(.readOnlyMedium, "Nobody writes here.", .init(path: path)) }
    }

    func exists(_ path: String) throws -> Bool { try files.exists(path) }
    func list(_ directory: String) throws -> [String] { try files.list(directory) }

    func makeDirectory(_ path: String) throws {
        try refuseWriting(path)
        try files.makeDirectory(path)
    }

    func rename(_ source: String, to target: String) throws {
        try refuseWriting(source)
        try files.rename(source, to: target)
    }

    func remove(_ path: String) throws {
        try refuseWriting(path)
        try files.remove(path)
    }

    func syncDirectory(_ directory: String) throws {
        try refuseWriting(directory)
        try files.syncDirectory(directory)
    }
}

private final class HookedFile: ForwardingFile {
    let file: any File
    let beforeSize: @Sendable () throws -> Void

    init(_ file: any File, _ beforeSize: @escaping @Sendable () throws -> Void) {
        self.file = file
        self.beforeSize = beforeSize
    }

    func size() throws -> Int {
        try beforeSize()
        return try file.size()
    }
}
