import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The places of a store's assets and keys (docs/replication.md §6).
struct FilesHome: Sendable {
    private enum Directory: Sendable {
        /// The store's own directory.
        case own
        /// A directory that all processes of a store on a sequencer share.
        case shared(String)
        /// The store has no such directory, or the reader of a copy did not say which it is; `keys` is the error code
        /// for keys.
        case missing(StaticString, keys: StrataError.Code)
    }

    private let path: String
    private let place: LogPlace
    private var directory: Directory

    /// The file that names the store whose assets and keys a shared directory has.
    private static let ownerName = "OWNER"

    /// - Parameter isCopy: true if several processes write the store.
    init(of path: String, isCopy: Bool, _ options: StoreOptions) {
        (self.path, place) = (path, options.place)
        if !isCopy {
            directory = .own
        } else if let shared = place.filesDirectory {
            directory = .shared(StorePaths(shared).store)
        } else {
            directory = .missing(
                """
                The store has no directory that all its processes share, so it keeps no assets and no encrypted \
                values: open it with a log place that has such a directory.
                """, keys: .invalidArgument)
        }
    }

    /// Creates the home of a store that is only read.
    init(readingAt path: String, _ options: StoreOptions, _ files: any FileSystem) throws {
        self.init(of: path, isCopy: try files.exists(StorePaths(path).replica), options)
        guard case .missing = directory else { return }
        directory = .missing(
            """
            The store is a copy of one that several processes write, which keep assets and keys in a directory of \
            their own: open it with their log place.
            """, keys: .keyMissing)
    }

    /// Makes a shared directory if it is missing, and claims it, and the assets in the cluster, for the store.
    ///
    /// - Throws: ``StrataError`` `invalidArgument` if another store has them, or if other processes of the store have
    ///   their assets elsewhere.
    func prepare(for store: Identifier, _ platform: Platform) throws {
        if case .own = directory { return }
        try prepareObjects(for: store, platform)
        guard case .shared(let shared) = directory else { return }
        let files = platform.files
        try files.makeDirectory(shared)
        let owner = shared + "/" + Self.ownerName
        if try !files.exists(owner) {
            try files.syncDirectory(StorePaths(shared).parent)
            _ = try files.create(
                owner, in: shared, with: Array(store.description.utf8),
                draft: "\(owner).\(platform.random.nextIdentifier())")
        }
        let found = String(decoding: try files.readAll(owner, atMost: 64), as: UTF8.self)
        guard found == store.description else {
            throw StrataError(
                .invalidArgument, "The directory for assets and keys belongs to another store; choose another one.",
                .init(path: shared, expected: "store \(store)", found: found))
        }
    }

    private func prepareObjects(for store: Identifier, _ platform: Platform) throws {
        guard let objects = try place.objects(platform) else {
            guard place.assets == .directory else { throw Self.noCluster(place) }
            return
        }
        defer { objects.close() }
        if place.assets == .cluster { return try objects.claim(for: store) }
        let isElsewhere: Bool
        // Without a stream for assets, the cluster does not have them.
        do { isElsewhere = try objects.belongs(to: store) } catch let error as StrataError
            where error.code == .unsuitable
        { isElsewhere = false }
        guard !isElsewhere else {
            throw StrataError(
                .invalidArgument, "This store's assets are in the cluster; add assets=cluster to the address.",
                .init(path: place.address, expected: "assets=cluster", found: "assets=directory"))
        }
    }

    private static func noCluster(_ place: LogPlace) -> StrataError {
        StrataError(
            .unsuitable, "The log's place cannot keep assets; only servers of JetStream do.",
            .init(path: place.address, expected: "a directory for assets", found: "assets=cluster"))
    }

    /// Returns the assets of a store.
    ///
    /// - Parameter isWritable: false for a store that is only read.
    func assets(_ options: StoreOptions, _ platform: Platform, isWritable: Bool = true) throws -> AssetStore {
        let assets: AssetStore.Place
        switch directory {
        case .shared where place.assets == .cluster, .missing where place.assets == .cluster:
            guard let objects = try place.objects(platform) else { throw Self.noCluster(place) }
            assets = .cluster(AssetPaths(path), objects, isWritable: isWritable)
        case .own: assets = isWritable ? .directory(AssetPaths(path)) : .readOnly(AssetPaths(path))
        case .shared(let path): assets = isWritable ? .shared(AssetPaths(path)) : .readOnly(AssetPaths(path))
        case .missing(let reason, _): assets = .missing(Self.error(.assetNotAvailable, reason, path))
        }
        return AssetStore(assets, platform, unusedSeconds: options.unusedFileSeconds)
    }

    /// - Parameter isFollowed: true if another process writes the store.
    func keys(_ options: StoreOptions, _ platform: Platform, isFollowed: Bool = false) -> KeyRing {
        switch directory {
        case .own:
            KeyRing(KeyFile(in: path, platform.files), platform.random, isFollowed: isFollowed)
        case .shared(let path):
            KeyRing(
                SharedKeyFile(in: path, platform, draftSeconds: options.unusedFileSeconds), platform.random)
        case .missing(let reason, let code):
            KeyRing(MissingKeys(error: Self.error(code, reason, path)), platform.random)
        }
    }

    private static func error(_ code: StrataError.Code, _ reason: StaticString, _ path: String) -> StrataError {
        StrataError(code, reason, .init(path: path))
    }
}
