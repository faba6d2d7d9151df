import StrataModel
import StrataReplication
import StrataSystem

/// Assets that the servers of the log keep (docs/assets.md §7). The copy's own directory has the files that this
/// process imported or read; each can be fetched again.
extension AssetStore {
    /// Opens the file of the copy's own directory, after fetching it from the cluster if it is missing or damaged.
    func openCached(
        _ asset: FieldValue.Asset, _ paths: AssetPaths, _ objects: ObjectStore, _ isWritable: Bool,
        _ progress: (Int) -> Void
    ) throws -> any File {
        let path = paths.file(of: asset.hash)
        if let file = try? files.open(path, .read) {
            do {
                try verify(file, of: asset, at: path, progress)
                return file
            } catch { file.close() }
        }
        return try fetch(asset, objects, into: isWritable ? paths : nil, progress)
    }

    private var unnamedPath: String { "\(TemporaryDirectory.path)/strata-asset-\(random.nextIdentifier())" }

    /// Fetches a file into the copy's own directory, where it gets its name once all bytes are right; into an unnamed
    /// file if there is no directory to write.
    private func fetch(
        _ asset: FieldValue.Asset, _ objects: ObjectStore, into paths: AssetPaths?, _ progress: (Int) -> Void
    ) throws -> any File {
        let draft = paths?.draft(random.nextIdentifier())
        if let paths, let draft {
            try files.makeDirectory(paths.directory)
            try files.makeDirectory(paths.folder(of: asset.hash))
            state.withLock { _ = $0.drafts.insert(draft) }
        }
        defer { if let draft { state.withLock { _ = $0.drafts.remove(draft) } } }
        let file = try draft.map { try files.open($0, .create) } ?? files.openUnnamed(unnamedPath)
        do {
            try fetch(asset, objects, to: file, progress)
            if let paths, let draft {
                // Not synced: what a loss of power leaves is compared with its hash, and fetched again.
                try files.rename(draft, to: paths.file(of: asset.hash))
                note(asset.hash, KnownFile(status: try file.status(), isDurable: true))
            }
            return file
        } catch {
            file.close()
            if let draft { try? files.remove(draft) }
            throw error
        }
    }

    private func fetch(
        _ asset: FieldValue.Asset, _ objects: ObjectStore, to file: any File, _ progress: (Int) -> Void
    ) throws {
        var problem: StrataError?
        do {
            try objects.fetch(asset.hash) { bytes, position in
                // An earlier upload, whose pieces came before, may have been longer.
                if position == 0 { try file.truncate(to: 0) }
                guard UInt64(position + bytes.count) <= asset.size else {
                    throw StrataError(.malformed, "The object is longer than the asset.")
                }
                try file.write(bytes, at: position)
                progress(position + bytes.count)
            }
        } catch let error as StrataError where [.notFound, .badChecksum, .malformed].contains(error.code) {
            problem = error
        }
        guard try problem != nil || UInt64(file.size()) != asset.size else { return }
        throw StrataError(
            .assetNotAvailable,
            problem?.code == .notFound
                ? "The cluster does not have the file of an asset, or lost a part of it."
                : "The file of an asset in the cluster is damaged.",
            .init(found: "\(asset.hash)"), cause: problem)
    }

    /// Makes sure that the cluster has an asset that a request is about to name; gives it the copy's own file if not.
    ///
    /// - Throws: ``StrataError`` `assetFileNotFound` if neither has it.
    func requireInCluster(_ asset: FieldValue.Asset) throws {
        func isKnown() -> Bool { state.withLock { $0.known[asset.hash]?.isDurable } == true }
        guard !isKnown(), case .cluster(_, let objects, isWritable: true) = place else { return }
        let file: any File
        do { file = try open(asset) } catch let error as StrataError where error.code == .assetNotAvailable {
            throw StrataError(
                .assetFileNotFound, "The cluster does not have the file of an asset: import it again.",
                .init(found: "\(asset.hash)"), cause: error)
        }
        defer { file.close() }
        // A file that was fetched just now is known.
        if isKnown() { return }
        try objects.put(asset.hash, file, byteCount: Int(asset.size))
        note(asset.hash, KnownFile(status: try file.status(), isDurable: true))
    }
}
