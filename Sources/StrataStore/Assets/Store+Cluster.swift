import StrataModel
import StrataReplication
import StrataSystem
import StrataViews

/// The state of the assets that the cluster keeps for a store.
package struct ClusterReport: Sendable {
    /// The assets that commits name and the cluster has.
    package var assetCount = 0
    package var byteCount: UInt64 = 0
    /// The assets that commits name and the cluster lacks, or has damaged.
    package var problems: [ContentHash] = []
    /// The number of objects that no commit names.
    package var unusedCount = 0
    /// The number of uploads that were cut off, and were removed.
    package var leftoverCount = 0
}

extension Store {
    /// Reads every asset that a commit names from the cluster.
    ///
    /// - Parameters:
    ///   - fetches: true to keep the files in the copy's own directory.
    ///   - removesUnused: true to remove the objects that no commit names, and the pieces of uploads that were cut off.
    ///     No other process may have the store open while this runs, since it may be about to name one of them.
    /// - Throws: `.invalidArgument` if the cluster does not keep the store's assets, if this copy does not have all
    ///   history, or if the store is written while this runs.
    package func checkCluster(fetches: Bool, removesUnused: Bool) throws -> ClusterReport {
        guard case .cluster(_, let objects, _) = engine.assets.place else {
            throw StrataError(.invalidArgument, "The cluster does not keep the assets of this store.")
        }
        try confirm()
        let end = log.end
        guard !removesUnused || log.floor.offset == 0 else {
            throw StrataError(
                .invalidArgument, "Other copies may have history that this one lacks, and name assets in it.",
                .init(expected: "a copy with all history", found: "history after commit \(log.floor.offset)"))
        }
        var report = ClusterReport()
        var named: Set<ContentHash> = []
        try engine.pipeline.views.trees.snapshot().forEachAsset { hash, row in
            named.insert(hash)
            if try isThere(FieldValue.Asset(hash: hash, size: row.size), objects, fetches: fetches) {
                report.assetCount += 1
                report.byteCount += row.size
            } else {
                report.problems.append(hash)
            }
            return true
        }
        let unused = try objects.list().filter { !named.contains($0) }
        report.unusedCount = unused.count
        guard removesUnused else { return report }
        try confirm()
        guard log.end == end else {
            throw StrataError(
                .invalidArgument, "The store is being written: stop all its processes before assets are removed.")
        }
        for hash in unused { try objects.remove(hash) }
        report.leftoverCount = try objects.removeLeftovers()
        return report
    }

    private func isThere(_ asset: FieldValue.Asset, _ objects: ObjectStore, fetches: Bool) throws -> Bool {
        // Always asked of the cluster: the copy's own file may be the last one that is whole.
        guard try objects.contains(asset.hash) else { return false }
        guard fetches else { return true }
        do {
            try requireAsset(asset)
            return true
        } catch let error as StrataError where error.code == .assetNotAvailable { return false }
    }
}

extension ObjectStore {
    /// Puts the files of assets in a directory, that of a store or the one that its processes shared; returns their
    /// number.
    ///
    /// - Throws: `.badChecksum` for a file that is damaged.
    package func addAssets(in directory: String, _ files: any FileSystem = RealFileSystem()) throws -> Int {
        let paths = AssetPaths(directory)
        guard try files.exists(paths.directory) else { return 0 }
        var count = 0
        for folder in try files.list(paths.directory) where folder.utf8.count == 2 {
            for name in try files.list(paths.directory + "/" + folder) {
                guard let (hash, _) = AssetPaths.hash(of: name) else { continue }
                let file = try files.open("\(paths.directory)/\(folder)/\(name)", .read)
                defer { file.close() }
                try put(hash, file, byteCount: file.size())
                count += 1
            }
        }
        return count
    }
}
