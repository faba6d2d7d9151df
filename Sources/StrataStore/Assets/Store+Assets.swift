import StrataModel
import StrataSystem

/// Assets of records (docs/assets.md).
extension Store {
    /// Copies a file into the store, unless its bytes are already stored, and pins the copy. A record that is saved
    /// with the value before the pin is released keeps the asset.
    ///
    /// ```swift
    /// let photo = try store.importAsset(at: "/tmp/photo.jpg")
    /// let value = FieldValue.asset(photo.value)
    /// ```
    ///
    /// - Parameter progress: A closure that receives the number of bytes copied so far.
    /// - Throws: ``StrataError`` `assetFileNotFound` for a file that cannot be read, `assetFileModified` for one that
    ///   changes during the copy, `tooLarge` for one over ``StoreOptions/assetBytes``, and errors of the store's own
    ///   disk.
    public func importAsset(
        at path: String, progress: (_ copied: Int) -> Void = { _ in }
    ) throws -> PinnedAsset {
        try requireWritable()
        return try engine.assets.importFile(path, atMost: options.assetBytes, progress: progress)
    }

    /// Like ``importAsset(at:progress:)``, for an asset of another store.
    public func importAsset(_ asset: FieldValue.Asset, from other: Store) throws -> PinnedAsset {
        try requireWritable()
        if other.engine === engine { return try pinAsset(asset) }
        let source: any File
        do { source = try other.engine.assets.open(asset) } catch {
            throw StrataError(
                .assetFileNotFound, "The other store does not have the asset.", .init(found: "\(asset.hash)"),
                cause: error)
        }
        defer { other.engine.assets.close(source) }
        return try engine.assets.importFile(source, source.path, atMost: options.assetBytes)
    }

    /// Pins an asset of the store, to save it in another record. The caller must know that the user who saves it may
    /// read it.
    ///
    /// - Throws: ``StrataError`` `assetFileNotFound` if the store does not have it.
    public func pinAsset(_ asset: FieldValue.Asset) throws -> PinnedAsset {
        try requireWritable()
        return try engine.assets.pinExisting(asset)
    }

    /// Pins an asset that is known by its hash alone. The hash is no proof of access: only a stored record that has the
    /// asset already may keep it, and the error does not reveal whether other users have it.
    ///
    /// - Throws: ``StrataError`` `assetFileNotFound` if the record has no such asset, or the store has lost it.
    public func pinAsset(
        _ asset: FieldValue.Asset, of id: RecordID, in database: DatabaseID, as actor: Actor
    ) throws -> PinnedAsset {
        try requireWritable()
        // Pinned before the lookup, since a save from another device may replace the asset at any time.
        let pin = engine.assets.pin(asset)
        defer { withExtendedLifetime(pin) {} }
        let record = try? newest.record(id, in: database, as: actor)
        guard let record, try record.assets.contains(asset) else {
            throw StrataError(
                .assetFileNotFound, "The stored record does not have the asset: save the asset with its file.",
                .init(found: "\(asset.hash)"))
        }
        return try engine.assets.pinExisting(asset)
    }

    /// - Throws: ``StrataError`` `assetNotAvailable` if an asset that a record names is missing or damaged.
    public func requireAsset(_ asset: FieldValue.Asset) throws {
        try gate.requireOpen()
        engine.assets.close(try engine.assets.open(asset))
    }

    /// Like ``requireAsset(_:)``, for all desired fields of a record.
    ///
    /// - Parameter progress: A closure that receives the fraction of the asset bytes read so far. It is not called for
    ///   files that this process has already checked.
    public func requireAssets(of record: Record, progress: (_ fraction: Double) -> Void = { _ in }) throws {
        let assets = try record.assets
        let total = max(1, assets.reduce(0) { $0 + Double($1.size) })
        var done = 0.0
        for asset in assets {
            try gate.requireOpen()
            engine.assets.close(try engine.assets.open(asset) { progress((done + Double($0)) / total) })
            done += Double(asset.size)
        }
    }

    /// Creates a file with the bytes of an asset, without copying them if the file system can share them.
    ///
    /// - Throws: ``StrataError`` `assetNotAvailable` if the asset is missing or damaged; `alreadyExists` if the path is
    ///   taken.
    public func copyAsset(_ asset: FieldValue.Asset, to path: String) throws {
        try gate.requireOpen()
        try engine.assets.copy(asset, to: path)
    }

    /// Removes the files that no commit names and no pin holds; returns the number of files removed. The store also
    /// does this by itself, after opening and when a request that named a file was refused. A file that several
    /// processes share is removed only when it is a day old (docs/assets.md §6).
    ///
    /// - Throws: ``StrataError`` of the disk; in a store on a sequencer, also if the log's end cannot be confirmed.
    @discardableResult
    public func collectAssets() throws -> Int {
        try requireWritable()
        return try engine.assets.collect()
    }
}

extension Record {
    /// The assets of all desired fields.
    public var assets: [FieldValue.Asset] {
        get throws {
            var assets: [FieldValue.Asset] = []
            try forEachAsset { assets.append($0) }
            return assets
        }
    }

    /// True if any desired field has an asset.
    public var hasAssets: Bool {
        get throws {
            guard try mayHaveSpecialValues else { return false }
            return try !assets.isEmpty
        }
    }

    /// Calls `body` with each asset of a desired field.
    func forEachAsset(_ body: (FieldValue.Asset) throws -> Void) throws {
        try forEachField(where: { $0.element == .asset }) { _, value in
            switch value {
            case .asset(let asset): try body(asset)
            case .list(let list):
                for case .asset(let asset) in list.elements { try body(asset) }
            default: break
            }
        }
    }
}
