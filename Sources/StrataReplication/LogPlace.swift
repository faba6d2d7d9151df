import StrataSystem

/// The place where the commits of a store get their order: its own directory, or a sequencer that several processes
/// share (docs/replication.md).
public struct LogPlace: Sendable, Equatable, CustomStringConvertible {
    /// The sequencer's address without passwords; `local` for a store that one process writes.
    public let address: String
    /// The directory of the assets and keys of all processes; nil if there is none.
    public let filesDirectory: String?
    /// The process that judges requests.
    public let writes: Writes
    /// The place of the assets of all processes.
    public let assets: AssetPlace
    private let keeper: (@Sendable () throws -> any MessageKeeper)?
    private let open: (@Sendable (Platform) throws -> any Sequencer)?

    /// The places of a store's assets.
    public enum AssetPlace: Sendable {
        /// The directory that all processes share; the store's own if one process writes it.
        case directory
        /// The servers that order the commits keep the assets too, as safely as these. Each process has the files that
        /// it reads in its copy.
        case cluster
    }

    /// The processes that append commits.
    public enum Writes: Sendable {
        /// Each process appends its own requests. A process whose batches keep coming second sends its requests to
        /// another one.
        case anywhere
        /// All requests go to one of the processes, so that busy processes do not conflict. If that process does not
        /// answer, another one takes over.
        case home
    }

    public var description: String { address }

    /// The store's own directory: one process writes it.
    public static let local = LogPlace(
        address: "local", filesDirectory: nil, writes: .anywhere, assets: .directory, keeper: nil, open: nil)

    /// A directory that all processes reach, on one machine or on a shared disk.
    ///
    /// The file system must have hard links. The directory is created if it is missing. Assets and the keys of
    /// encrypted values are in the directory `files` in it, unless ``withFiles(in:)`` names another.
    public static func directory(_ path: String) -> LogPlace { directory(path, creates: true) }

    /// - Parameter creates: false if a directory that no store uses yet is an error.
    package static func directory(_ path: String, creates: Bool) -> LogPlace {
        let path = WorkingDirectory.absolutePath(of: path)
        return LogPlace(address: "file://\(path)") {
            try DirectorySequencer(at: path, creates: creates, platform: $0)
        }.withFiles(in: path + "/files")
    }

    /// Returns the same place, with a directory in which all processes keep the store's assets and the keys of its
    /// encrypted values. Without one, a store on a sequencer refuses both.
    ///
    /// ```swift
    /// options.place = place.withFiles(in: "/shared/Notes.files")
    /// ```
    /// All processes must reach the directory, and no other store may use it. Its file system must have hard links. The
    /// directory is created if it is missing. Assets and keys are as safe as this directory.
    public func withFiles(in directory: String) -> LogPlace {
        LogPlace(
            address: address, filesDirectory: directory, writes: writes, assets: assets, keeper: keeper, open: open)
    }

    /// Returns the same place, with another choice of where all processes keep the store's assets. Servers of JetStream
    /// can keep them, if `strata create` or `strata assets` prepared them.
    ///
    /// ```swift
    /// options.place = place.withAssets(in: .cluster).withFiles(in: "/shared/Notes.files")
    /// ```
    /// The keys of encrypted values, and the bases of a trimmed sequencer, are in the directory of ``withFiles(in:)``
    /// in either case. All processes must have the same place for assets.
    public func withAssets(in assets: AssetPlace) -> LogPlace {
        LogPlace(
            address: address, filesDirectory: filesDirectory, writes: writes, assets: assets, keeper: keeper,
            open: open)
    }

    /// Returns the same place, with another choice of the processes that append commits. A store with ``Writes/home``
    /// opens only where the sequencer carries requests between processes: JetStream and PostgreSQL do.
    ///
    /// ```swift
    /// options.place = place.writing(.home)
    /// ```
    public func writing(_ writes: Writes) -> LogPlace {
        LogPlace(
            address: address, filesDirectory: filesDirectory, writes: writes, assets: assets, keeper: keeper,
            open: open)
    }

    /// Connects to the sequencer; nil if the place is ``local``.
    package func sequencer(_ platform: Platform) throws -> (any Sequencer)? { try open?(platform) }

    /// Returns the assets that the cluster keeps, or can keep; nil if it cannot.
    package func objects(_ platform: Platform) throws -> ObjectStore? {
        try keeper.map { ObjectStore(try $0(), platform.random) }
    }

    public static func == (one: LogPlace, other: LogPlace) -> Bool {
        one.address == other.address && one.filesDirectory == other.filesDirectory && one.writes == other.writes
            && one.assets == other.assets
    }
}

extension LogPlace {
    /// Creates the place of a sequencer, without a directory for files. Two places are equal if their addresses and
    /// directories are.
    ///
    /// - Parameters:
    ///   - keeper: returns the keeper of assets on the sequencer's servers, without a connection yet; nil if there is
    ///     none.
    ///   - open: connects to the sequencer; called whenever a store is opened.
    package init(
        address: String, keeper: (@Sendable () throws -> any MessageKeeper)? = nil,
        open: @escaping @Sendable (Platform) throws -> any Sequencer
    ) {
        self.init(
            address: address, filesDirectory: nil, writes: .anywhere, assets: .directory, keeper: keeper,
            open: .some(open))
    }
}
