import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// The place for trees that are needed only temporarily.
struct TemporaryViews {
    private let directory: String?
    private let files: any FileSystem

    /// - Parameter directory: nil for memory alone.
    init(_ directory: String?, _ files: any FileSystem) {
        self.directory = directory
        self.files = files
    }

    func trees(_ options: TreeStoreOptions) throws -> TreeStore {
        guard let directory else { return try Views.emptyTrees(options: options) }
        return try TreeStore.temporary(
            Views.owner(.zero), hashed: Views.hashed, in: directory, files: files, options: options,
            name: "compaction")
    }
}

extension TreeStoreOptions {
    /// Options for trees that are folded while a store runs: little memory, the rest in unnamed files.
    package static let lean: TreeStoreOptions = {
        var options = TreeStoreOptions()
        options.generationBytes = 8 << 20
        return options
    }()
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
    ///   - directory: the directory of the unnamed files that hold the trees; nil for memory alone.
    ///   - pulse: called repeatedly; an error that it throws ends the work.
    /// - Throws: ``StrataError`` if the base does not match its marker.
    package static func state(
        of base: BaseReader, in directory: String?, platform: Platform = Platform(),
        options: TreeStoreOptions = .lean, pulse: () throws -> Void = {}
    ) throws -> Snapshot {
        try base.publish(to: try TemporaryViews(directory, platform.files).trees(options), pulse: pulse)
    }
}

extension BaseReader {
    /// Folds the base into empty trees and publishes the state.
    func publish(to trees: TreeStore, pulse: () throws -> Void) throws -> Snapshot {
        var base = self
        let fold = Fold(try trees.fork())
        try fold.load(base: horizon, into: trees) {
            try pulse()
            return try base.next()
        }
        return try fold.publish(to: trees)
    }
}
