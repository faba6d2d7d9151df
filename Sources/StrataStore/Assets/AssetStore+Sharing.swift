import StrataModel
import StrataSystem
import StrataViews

/// Files in a directory that several processes write, which do not see each other's pins (docs/assets.md §6).
///
/// A process that names a file in a request first makes it *young*: touches it, unless it is young already, and then
/// finds it at its path. A collector takes only files that are old and that no commit names. It moves the file *aside*,
/// looks at its time again, and links it back if it was touched. So either the collector sees the touch, or the other
/// process does not find the file at its path, and links it back itself.
extension AssetStore {
    /// Opens the file of a hash, also while it is aside.
    func openAnywhere(_ hash: ContentHash, _ paths: AssetPaths) throws -> any File {
        do { return try files.open(paths.file(of: hash), .read) } catch let error as StrataError
            where error.code == .notFound
        {
            if let file = try? files.open(paths.aside(of: hash), .read) { return file }
            // Another process may have linked it back.
            return try files.open(paths.file(of: hash), .read)
        }
    }

    // MARK: Naming

    /// Makes sure that the files that a request names stay until it is committed, however long they have been pinned.
    ///
    /// - Throws: ``StrataError`` `assetFileNotFound` if one was removed, `assetNotAvailable` if the store keeps none.
    func requireAssets(of request: Request) throws {
        switch place {
        case .directory, .readOnly, .unnamed: break
        case .cluster: try request.forEachAsset { try requireInCluster($0) }
        case .missing(let error): try request.forEachAsset { _ in throw error }
        case .shared(let paths): try request.forEachAsset { try requireYoung($0.hash, paths) }
        }
    }

    func requireYoung(_ hash: ContentHash, _ paths: AssetPaths) throws {
        guard try keepYoung(hash, paths) else {
            throw StrataError(
                .assetFileNotFound, "The file of an asset was removed because no record named it: import it again.",
                .init(path: paths.file(of: hash)))
        }
    }

    /// Makes a file young, at its path and durable; returns false if it is gone.
    func keepYoung(_ hash: ContentHash, _ paths: AssetPaths) throws -> Bool {
        while true {
            let file: any File
            do { file = try openAnywhere(hash, paths) } catch let error as StrataError where error.code == .notFound {
                return false
            }
            defer { file.close() }
            let status = try file.status()
            // Half of the time is left for the request.
            if status.isOlder(than: unusedSeconds / 2, at: time) { try touch(file, hash, status) }
            // IMPORTANT: Check this after the touch.
            if try isAtItsPath(status.identity, hash, paths) {
                try makeDurable(file, hash, paths)
                return true
            }
            try linkBack(hash, paths)
        }
    }

    /// Touches a file, and remembers that this did not change its bytes.
    private func touch(_ file: any File, _ hash: ContentHash, _ status: FileStatus) throws {
        try file.touch()
        let touched = try file.status()
        state.withLock { if $0.known[hash]?.status == status { $0.known[hash]?.status = touched } }
    }

    private func isAtItsPath(_ identity: FileIdentity, _ hash: ContentHash, _ paths: AssetPaths) throws -> Bool {
        do {
            let file = try files.open(paths.file(of: hash), .read)
            defer { file.close() }
            return try file.identity() == identity
        } catch let error as StrataError where error.code == .notFound { return false }
    }

    /// Gives a file that is aside its name again, unless another file with the same bytes has it; durable on return.
    private func linkBack(_ hash: ContentHash, _ paths: AssetPaths) throws {
        do { try files.hardLink(paths.aside(of: hash), to: paths.file(of: hash)) } catch let error as StrataError
            where [.alreadyExists, .notFound].contains(error.code)
        {}
        try files.syncDirectory(paths.folder(of: hash))
    }

    // MARK: Collecting

    /// Removes the old files that no commit names, and the old drafts of processes that ended; returns the number of
    /// files removed.
    ///
    /// - Throws: ``StrataError`` if the end of the log cannot be confirmed.
    func collectShared(_ paths: AssetPaths) throws -> Int {
        guard try files.exists(paths.directory), let pipeline = state.withLock({ $0.pipeline }) else { return 0 }
        // Other processes may have named a file that this one knows nothing of yet.
        try pipeline.catchUp()
        // Other copies may have the history that this one has removed, and name its files.
        guard pipeline.log.floor.offset == 0 else { return 0 }
        state.withLock { $0.hasYoung = false }
        return try collectFiles(in: paths, draft: removeOldDraft) { name in
            guard let (hash, isAside) = AssetPaths.hash(of: name) else { return false }
            return try collect(hash, isAside: isAside, paths)
        }
    }

    private func removeOldDraft(_ path: String) throws -> Bool {
        try ignoringMissing {
            guard !state.withLock({ $0.drafts.contains(path) }), try isOld(path) else { return false }
            try files.remove(path)
            return true
        }
    }

    /// Removes a file that is old and that nothing names; returns whether it did.
    private func collect(_ hash: ContentHash, isAside: Bool, _ paths: AssetPaths) throws -> Bool {
        try state.withLock { state in
            guard let pipeline = state.pipeline, pipeline.acceptsWrites else { return false }
            let isNeeded = try state.pins[hash] != nil || pipeline.views.trees.snapshot().assetRow(hash) != nil
            let (file, aside) = (paths.file(of: hash), paths.aside(of: hash))
            return try ignoringMissing {
                if !isAside {
                    guard !isNeeded else { return false }
                    guard try isOld(file) else {
                        state.hasYoung = true
                        return false
                    }
                    try files.rename(file, to: aside)
                }
                // IMPORTANT: Check again, now that a process that touches the file no longer finds it.
                if try isNeeded || !isOld(aside) {
                    try linkBack(hash, paths)
                    try files.remove(aside)
                    return false
                }
                try files.remove(aside)
                state.known[hash] = nil
                return true
            }
        }
    }

    private func isOld(_ path: String) throws -> Bool {
        let file = try files.open(path, .read)
        defer { file.close() }
        return try file.status().isOlder(than: unusedSeconds, at: time)
    }

    /// Another process may remove the same files.
    private func ignoringMissing(_ body: () throws -> Bool) throws -> Bool {
        do { return try body() } catch let error as StrataError where error.code == .notFound { return false }
    }
}

extension Request {
    /// Calls `body` with each asset that the request saves.
    fileprivate func forEachAsset(_ body: (FieldValue.Asset) throws -> Void) throws {
        guard case .modifyRecords(let content) = content else { return }
        for save in content.saves {
            for change in save.fields {
                switch change.value {
                case .asset(let asset)?: try body(asset)
                case .list(let list)?: for case .asset(let asset) in list.elements { try body(asset) }
                default: break
                }
            }
        }
    }
}
