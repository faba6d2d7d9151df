import StrataLog
import StrataModel
import StrataSystem

/// The directory of a store's assets and keys (docs/replication.md §6).
enum FilesHome: Sendable {
    /// The store's own directory.
    case own(String)
    /// A directory that all processes of a store on a sequencer share.
    case shared(String)
    /// The store has no such directory, or the reader of a copy did not say which it is; `keys` is the code for keys.
    case missing(StaticString, keys: StrataError.Code, path: String)

    /// The file that names the store whose assets and keys a shared directory has.
    private static let ownerName = "OWNER"

    /// - Parameter isCopy: true if several processes write the store.
    init(of path: String, isCopy: Bool, _ options: StoreOptions) {
        if !isCopy {
            self = .own(path)
        } else if let directory = options.place.filesDirectory {
            self = .shared(StorePaths(directory).store)
        } else {
            self = .missing(
                """
                The store has no directory that all its processes share, so it keeps no assets and no encrypted \
                values: open it with a log place that has such a directory.
                """, keys: .invalidArgument, path: path)
        }
    }

    /// Creates the home of a store that is only read.
    init(readingAt path: String, _ options: StoreOptions, _ files: any FileSystem) throws {
        self.init(of: path, isCopy: try files.exists(StorePaths(path).replica), options)
        guard case .missing = self else { return }
        self = .missing(
            """
            The store is a copy of one that several processes write, which keep assets and keys in a directory of \
            their own: open it with their log place.
            """, keys: .keyMissing, path: path)
    }

    /// Makes a shared directory if it is missing, and claims it for the store.
    ///
    /// - Throws: ``StrataError`` `invalidArgument` if another store has it.
    func prepare(for store: Identifier, _ platform: Platform) throws {
        guard case .shared(let directory) = self else { return }
        let files = platform.files
        try files.makeDirectory(directory)
        let owner = directory + "/" + Self.ownerName
        if try !files.exists(owner) {
            try files.syncDirectory(StorePaths(directory).parent)
            _ = try files.create(
                owner, in: directory, with: Array(store.description.utf8),
                draft: "\(owner).\(platform.random.nextIdentifier())")
        }
        let found = String(decoding: try files.readAll(owner, atMost: 64), as: UTF8.self)
        guard found == store.description else {
            throw StrataError(
                .invalidArgument, "The directory for assets and keys belongs to another store; choose another one.",
                .init(path: directory, expected: "store \(store)", found: found))
        }
    }

    /// Returns the assets of a store that is written.
    func assets(_ options: StoreOptions, _ platform: Platform) -> AssetStore {
        let place: AssetStore.Place =
            switch self {
            case .own(let path): .directory(AssetPaths(path))
            case .shared(let path): .shared(AssetPaths(path))
            case .missing(let reason, _, let path): .missing(Self.error(.assetNotAvailable, reason, path))
            }
        return AssetStore(place, platform, unusedSeconds: options.unusedFileSeconds)
    }

    /// Returns the assets of a store that is only read.
    func assetsForReading(_ platform: Platform) -> AssetStore {
        switch self {
        case .own(let path), .shared(let path): AssetStore(.readOnly(AssetPaths(path)), platform)
        case .missing(let reason, _, let path):
            AssetStore(.missing(Self.error(.assetNotAvailable, reason, path)), platform)
        }
    }

    /// - Parameter isFollowed: true if another process writes the store.
    func keys(_ options: StoreOptions, _ platform: Platform, isFollowed: Bool = false) -> KeyRing {
        switch self {
        case .own(let path):
            KeyRing(KeyFile(in: path, platform.files), platform.random, isFollowed: isFollowed)
        case .shared(let path):
            KeyRing(
                SharedKeyFile(in: path, platform, draftSeconds: options.unusedFileSeconds), platform.random)
        case .missing(let reason, let code, let path):
            KeyRing(MissingKeys(error: Self.error(code, reason, path)), platform.random)
        }
    }

    private static func error(_ code: StrataError.Code, _ reason: StaticString, _ path: String) -> StrataError {
        StrataError(code, reason, .init(path: path))
    }
}
