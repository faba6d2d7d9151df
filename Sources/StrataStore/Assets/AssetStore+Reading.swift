import StrataModel
import StrataSystem

extension AssetStore {
    /// Opens an asset's file and verifies that it has the bytes of its hash. They are read the first time in this
    /// process, and again if the file has changed. The caller must pass the file to ``close(_:)``.
    ///
    /// - Parameter progress: A closure that receives the number of bytes read so far.
    /// - Throws: ``StrataError`` `assetNotAvailable` if the file is missing or damaged; `unreachable` if it has to be
    ///   fetched from servers that do not answer.
    func open(_ asset: FieldValue.Asset, progress: (_ read: Int) -> Void = { _ in }) throws -> any File {
        let path = path(of: asset.hash)
        do {
            if case .cluster(let paths, let objects, let isWritable) = place {
                return try openCached(asset, paths, objects, isWritable, progress)
            }
            let file = try openFile(asset.hash, path)
            do {
                try verify(file, of: asset, at: path, progress)
                return file
            } catch {
                if !isShared(file) { file.close() }
                throw error
            }
        } catch let error as StrataError where ![.assetNotAvailable, .unreachable].contains(error.code) {
            throw StrataError(
                .assetNotAvailable, "The file of an asset cannot be read.", .init(path: path), cause: error)
        }
    }

    /// Closes a file that ``open(_:progress:)`` returned.
    func close(_ file: any File) {
        if !isShared(file) { file.close() }
    }

    /// Returns true for unnamed files, which stay open as long as the store.
    private func isShared(_ file: any File) -> Bool {
        if case .unnamed = place { true } else { false }
    }

    private func path(of hash: ContentHash) -> String {
        switch place {
        case .directory(let paths), .shared(let paths), .readOnly(let paths), .cluster(let paths, _, _):
            paths.file(of: hash)
        case .unnamed, .missing: hash.description
        }
    }

    private func openFile(_ hash: ContentHash, _ path: String) throws -> any File {
        switch place {
        case .directory, .cluster: return try files.open(path, .read)
        case .shared(let paths), .readOnly(let paths): return try openAnywhere(hash, paths)
        case .missing(let error): throw error
        case .unnamed:
            guard let file = state.withLock({ $0.unnamed[hash] }) else {
                throw StrataError(.notFound, "The store in memory does not have the asset.", .init(path: path))
            }
            return file
        }
    }

    func verify(
        _ file: any File, of asset: FieldValue.Asset, at path: String, _ progress: (Int) -> Void
    ) throws {
        let status = try file.status()
        guard UInt64(status.size) == asset.size else {
            throw StrataError(
                .assetNotAvailable, "The file of an asset has the wrong size.",
                .init(path: path, expected: "\(asset.size) bytes", found: "\(status.size)"))
        }
        if state.withLock({ $0.known[asset.hash]?.status }) == status { return }
        guard try Self.hash(of: file, progress: progress) == asset.hash else {
            throw StrataError(
                .assetNotAvailable, "The file of an asset is damaged.",
                .init(path: path, expected: "content that matches its name", found: "other content"))
        }
        note(asset.hash, KnownFile(status: status, isDurable: false))
    }

    static func hash(of file: any File, progress: (_ read: Int) -> Void = { _ in }) throws -> ContentHash {
        var hasher = ContentHasher()
        try forEachPiece(of: file) { bytes, position in
            hasher.update(bytes)
            progress(position + bytes.count)
        }
        return try ContentHash(bytes: hasher.finish())
    }

    private static func forEachPiece(
        of file: any File, _ body: (_ bytes: UnsafeRawBufferPointer, _ position: Int) throws -> Void
    ) throws {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        var position = 0
        while true {
            let count = try file.read(into: piece, at: position)
            try body(UnsafeRawBufferPointer(rebasing: piece[..<count]), position)
            position += count
            if count < piece.count { return }
        }
    }

    /// Creates a file with an asset's bytes, without copying them if the file system can share them.
    ///
    /// - Throws: ``StrataError`` if the file already exists or cannot be written, or if the asset is missing or
    ///   damaged.
    func copy(_ asset: FieldValue.Asset, to path: String) throws {
        let source = try open(asset)
        defer { close(source) }
        let target = try files.open(path, .create)
        defer { target.close() }
        do {
            if try target.shareContent(of: source) { return }
            var hasher = ContentHasher()
            try Self.forEachPiece(of: source) { bytes, position in
                hasher.update(bytes)
                try target.write(bytes, at: position)
            }
            guard try ContentHash(bytes: hasher.finish()) == asset.hash else {
                throw StrataError(.assetNotAvailable, "The file of an asset is damaged.", .init(path: source.path))
            }
        } catch {
            try? files.remove(path)
            throw error
        }
    }
}
