import StrataModel
import StrataSystem
import StrataViews

extension AssetStore {
    /// Removes the files that no pin holds and no commit names, and drafts whose writer is gone. Returns the number of
    /// files removed.
    func collect() throws -> Int {
        var count = 0
        switch place {
        case .readOnly, .cluster(_, _, isWritable: false), .missing: break
        case .shared(let paths): return try collectShared(paths)
        case .unnamed:
            for hash in state.withLock({ Array($0.unnamed.keys) }) where try collect(hash) { count += 1 }
        case .directory(let paths), .cluster(let paths, _, _):
            guard try files.exists(paths.directory) else { return 0 }
            return try collectFiles(in: paths, draft: removeDraft) { name in
                try ContentHash(name).map { try collect($0) } ?? false
            }
        }
        return count
    }

    /// Calls `draft` with the path of each draft, and `file` with the name of each other file in the folders of assets,
    /// until the store is closed; returns the number of times that these returned true. A file may have a name that is
    /// not one of an asset.
    func collectFiles(
        in paths: AssetPaths, draft: (_ path: String) throws -> Bool, file: (_ name: String) throws -> Bool
    ) throws -> Int {
        var count = 0
        for name in try files.list(paths.directory) {
            let path = paths.directory + "/" + name
            if AssetPaths.isDraft(name) {
                if try draft(path) { count += 1 }
            } else if name.utf8.count == 2 {
                for name in try files.list(path) where try file(name) { count += 1 }
            }
            if state.withLock({ $0.pipeline == nil }) { break }
        }
        return count
    }

    /// Returns false for a draft that a writer still uses, or has finished since it was listed.
    private func removeDraft(_ path: String) throws -> Bool {
        try state.withLock { state in
            guard state.pipeline != nil, !state.drafts.contains(path) else { return false }
            do { try files.remove(path) } catch let error as StrataError where error.code == .notFound { return false }
            return true
        }
    }

    private func collect(_ hash: ContentHash) throws -> Bool { try state.withLock { try collect(hash, &$0) } }

    /// Collects a file under the lock of the pins: a caller that pins the hash later finds no file, and writes it
    /// again.
    func collect(_ hash: ContentHash, _ state: inout State) throws -> Bool {
        guard let pipeline = state.pipeline, state.pins[hash] == nil else { return false }
        // If the outcome of a commit is unknown, the log may have more than any state shows.
        guard pipeline.acceptsWrites else { return false }
        // A pin is released after its request was answered, so this state has what was committed.
        guard try pipeline.views.trees.snapshot().assetRow(hash) == nil else { return false }
        state.known[hash] = nil
        switch place {
        case .readOnly, .shared, .cluster(_, _, isWritable: false), .missing: return false
        case .unnamed: return state.unnamed.removeValue(forKey: hash) != nil
        // The cluster keeps the bytes: other processes may name them.
        case .directory(let paths), .cluster(let paths, _, _):
            let path = paths.file(of: hash)
            guard try files.exists(path) else { return false }
            try files.remove(path)
            return true
        }
    }
}
