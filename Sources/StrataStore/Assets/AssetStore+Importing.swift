import StrataModel
import StrataSystem

extension AssetStore {
    /// Copies a caller's file, unless its bytes are already stored; durable on return.
    ///
    /// - Throws: ``StrataError`` `assetFileNotFound` for a file that cannot be read, `assetFileModified` for one that
    ///   was written to during the copy, `tooLarge` for one over the limit, and errors of the store's own disk.
    func importFile(
        _ path: String, atMost limit: UInt64, progress: (_ copied: Int) -> Void
    ) throws -> PinnedAsset {
        let source = try Self.reading(path) { try files.open(path, .read) }
        defer { source.close() }
        return try importFile(source, path, atMost: limit, progress: progress)
    }

    /// - Parameters:
    ///   - path: The path of the source, for error messages.
    ///   - progress: A closure that receives the number of bytes copied so far.
    func importFile(
        _ source: any File, _ path: String, atMost limit: UInt64, progress: (_ copied: Int) -> Void = { _ in }
    ) throws -> PinnedAsset {
        switch place {
        case .readOnly, .cluster(_, _, isWritable: false): throw FollowerLog.error
        case .unnamed(let directory):
            let draft = try files.openUnnamed("\(directory)/strata-asset-\(random.nextIdentifier())")
            let pin = pin(try copy(source, path, to: draft, atMost: limit, progress))
            state.withLock { state in
                if state.unnamed[pin.value.hash] == nil { state.unnamed[pin.value.hash] = draft }
            }
            return pin
        case .missing(let error): throw error
        case .directory(let paths), .shared(let paths), .cluster(let paths, _, _):
            return try importFile(source, path, into: paths, atMost: limit, progress)
        }
    }

    private func importFile(
        _ source: any File, _ path: String, into paths: AssetPaths, atMost limit: UInt64, _ progress: (Int) -> Void
    ) throws -> PinnedAsset {
        let draftPath = paths.draft(random.nextIdentifier())
        state.withLock { _ = $0.drafts.insert(draftPath) }
        var hasDraft = false
        defer {
            if hasDraft { try? files.remove(draftPath) }
            state.withLock { _ = $0.drafts.remove(draftPath) }
        }
        try makeDurableDirectory(paths.directory, in: paths.store)
        let draft = try files.open(draftPath, .create)
        hasDraft = true
        defer { draft.close() }
        let asset = try copy(source, path, to: draft, atMost: limit, progress)
        let pin = pin(asset)
        if try isKept(asset.hash, paths) { return pin }
        // A file that is not known to be whole and durable is replaced, which also repairs a damaged one.
        if case .cluster(_, let objects, _) = place {
            try objects.put(asset.hash, draft, byteCount: Int(asset.size))
        } else {
            try draft.sync()
        }
        try makeDurableDirectory(paths.folder(of: asset.hash), in: paths.directory)
        try files.rename(draftPath, to: paths.file(of: asset.hash))
        hasDraft = false
        try files.syncDirectory(paths.folder(of: asset.hash))
        note(asset.hash, KnownFile(status: try draft.status(), isDurable: true))
        return pin
    }

    private func makeDurableDirectory(_ path: String, in parent: String) throws {
        if state.withLock({ $0.durableDirectories.contains(path) }) { return }
        try files.makeDirectory(path)
        try files.syncDirectory(parent)
        state.withLock { _ = $0.durableDirectories.insert(path) }
    }

    /// Returns true if the bytes of a pinned hash are stored and survive a loss of power. A file in a shared directory
    /// is then young enough to stay.
    private func isKept(_ hash: ContentHash, _ paths: AssetPaths) throws -> Bool {
        guard let known = state.withLock({ $0.known[hash] }), known.isDurable else { return false }
        guard let file = try? files.open(paths.file(of: hash), .read) else { return false }
        defer { file.close() }
        guard try file.status() == known.status else { return false }
        if case .shared = place { return try keepYoung(hash, paths) }
        return true
    }

    /// Copies and hashes a file in one pass.
    private func copy(
        _ source: any File, _ path: String, to target: any File, atMost limit: UInt64, _ progress: (Int) -> Void
    ) throws -> FieldValue.Asset {
        let before = try Self.reading(path) { try source.status() }
        func requireSize(_ count: Int) throws {
            guard UInt64(count) > limit else { return }
            throw StrataError(
                .tooLarge, "The file of an asset exceeds the size limit.",
                .init(path: path, expected: "at most \(limit) bytes", found: "\(max(count, before.size))"))
        }
        try requireSize(before.size)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        var hasher = ContentHasher()
        var size = 0
        while true {
            let count = try Self.reading(path) { try source.read(into: piece, at: size) }
            let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
            try requireSize(size + count)
            hasher.update(bytes)
            try target.write(bytes, at: size)
            target.startWriteback(size..<size + count)
            size += count
            progress(size)
            if count < piece.count { break }
        }
        let hash = try ContentHash(bytes: hasher.finish())
        let after = try Self.reading(path) { try source.status() }
        // Linking or renaming the file changes its status too, but not its bytes.
        guard size == before.size, after.size == before.size, after.modified == before.modified else {
            throw StrataError(
                .assetFileModified, "The file of an asset was changed while it was read.",
                .init(path: path, expected: "\(before.size) unchanged bytes", found: "\(after.size) bytes"))
        }
        return FieldValue.Asset(hash: hash, size: UInt64(size))
    }

    /// Reports any error of reading a caller's file as `assetFileNotFound`.
    private static func reading<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            throw StrataError(
                .assetFileNotFound, "The file of an asset cannot be read.", .init(path: path), cause: error)
        }
    }

    /// Pins an asset that is already stored.
    ///
    /// - Throws: ``StrataError`` `assetFileNotFound` if it is not stored, `assetNotAvailable` if the store keeps none.
    func pinExisting(_ asset: FieldValue.Asset) throws -> PinnedAsset {
        if case .missing(let error) = place { throw error }
        let pin = pin(asset)
        let file: any File
        do { file = try open(asset) } catch {
            throw StrataError(
                .assetFileNotFound, "The store does not have the asset.", .init(found: "\(asset.hash)"), cause: error)
        }
        defer { close(file) }
        switch place {
        case .readOnly, .unnamed, .missing: break
        case .cluster: try requireInCluster(asset)
        case .directory(let paths): try makeDurable(file, asset.hash, paths)
        case .shared(let paths): try requireYoung(asset.hash, paths)
        }
        return pin
    }

    /// Syncs a file and its name, unless it is known to be durable: the process that imported it may have ended too
    /// early.
    func makeDurable(_ file: any File, _ hash: ContentHash, _ paths: AssetPaths) throws {
        let known = state.withLock { $0.known[hash] }
        if let known, known.isDurable, try known.status.identity == file.identity() { return }
        try file.sync()
        try makeDurableDirectory(paths.directory, in: paths.store)
        try makeDurableDirectory(paths.folder(of: hash), in: paths.directory)
        try files.syncDirectory(paths.folder(of: hash))
        note(hash, KnownFile(status: try file.status(), isDurable: true))
    }
}
