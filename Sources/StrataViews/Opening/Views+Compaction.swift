import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Where trees are folded that are needed for a while.
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
    /// Of trees that are folded beside a store at work: little memory, the rest in a file without a name.
    public static let lean: PageStoreOptions = {
        var options = PageStoreOptions()
        options.maximumMemoryPages = 2_048
        return options
    }()
}

extension Fold.SliceLimits {
    /// As ``PageStoreOptions/lean``.
    static let lean = Fold.SliceLimits(events: 50_000, bytes: 8 << 20)
}

extension Views {
    /// Folds a base that nobody needs yet into trees of its own, against its marker.
    ///
    /// ```swift
    /// let draft = try log.writeBase(at: horizon) { try scan.next()?[...] }
    /// let state = try Views.state(of: try draft.read(), in: path)
    /// try log.adopt(draft)
    /// ```
    /// - Parameters:
    ///   - directory: where the file without a name is made that holds them.
    ///   - pulse: called again and again; what it throws ends the work.
    /// - Returns: the state that it comes to, without indexes.
    /// - Throws: ``StrataError`` if it is not what its marker says.
    public static func state(
        of base: BaseReader, in directory: String?, platform: Platform = Platform(),
        options: PageStoreOptions = .lean, pulse: () throws -> Void = {}
    ) throws -> Snapshot {
        try base.publish(to: try TemporaryViews(directory, platform.files).pages(options), pulse: pulse)
    }
}

extension BaseReader {
    /// Folds it into empty trees.
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
