import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The place for the pages of trees that are needed only temporarily.
struct TemporaryViews {
    private let directory: String?
    private let files: any FileSystem

    /// - Parameter directory: nil for memory alone.
    init(_ directory: String?, _ files: any FileSystem) {
        self.directory = directory
        self.files = files
    }

    func pages(_ options: PageStoreOptions) throws -> PageStore {
        guard let directory else { return try PageStore.inMemory(options: options) }
        return try PageStore.temporary(in: directory, files: files, options: options, name: "compaction.spill")
    }
}

extension PageStoreOptions {
    /// Options for trees that are folded while a store runs: little memory, the rest in an unnamed file.
    package static let lean: PageStoreOptions = {
        var options = PageStoreOptions()
        options.maximumMemoryPages = 2_048
        return options
    }()
}

extension Fold.SliceLimits {
    /// Limits that fit ``PageStoreOptions/lean``.
    static let lean = Fold.SliceLimits(events: 50_000, bytes: 8 << 20)
}

extension Views {
    /// Folds a base that is not yet in use into trees of its own, checks it against its marker, and returns the state,
    /// without indexes.
    ///
    /// ```swift
    /// let draft = try log.writeBase(at: horizon) { try scan.next()?[...] }
    /// let state = try Views.state(of: try draft.read(), in: path)
    /// try log.adopt(draft)
    /// ```
    /// - Parameters:
    ///   - directory: the directory of the unnamed file that holds the trees; nil for memory alone.
    ///   - pulse: called repeatedly; an error that it throws ends the work.
    /// - Throws: ``StrataError`` if the base does not match its marker.
    package static func state(
        of base: BaseReader, in directory: String?, platform: Platform = Platform(),
        options: PageStoreOptions = .lean, pulse: () throws -> Void = {}
    ) throws -> Snapshot {
        try base.publish(to: try TemporaryViews(directory, platform.files).pages(options), pulse: pulse)
    }
}

extension BaseReader {
    /// Folds the base into empty trees and publishes the state.
    func publish(to pages: PageStore, pulse: () throws -> Void) throws -> Snapshot {
        var base = self
        let fold = Fold(pages.fork())
        try fold.load(base: horizon) {
            try pulse()
            return try base.next()
        }
        return try fold.publish(to: pages)
    }
}
