import StrataModel
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
    private let open: (@Sendable (Platform) throws -> any Sequencer)?

    /// The processes that append commits.
    public enum Writes: Sendable {
        /// Each process appends what it is asked to. One that always comes second sends its requests to another.
        case anywhere
        /// Requests go to one process of those that append, so that busy processes do not conflict. If that one does
        /// not answer, another process appends.
        case home
    }

    public var description: String { address }

    /// The store's own directory: one process writes it.
    public static let local = LogPlace(address: "local", filesDirectory: nil, writes: .anywhere, open: nil)

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
        LogPlace(address: address, filesDirectory: directory, writes: writes, open: open)
    }

    /// Returns the same place, with another choice of the processes that append commits. A store with ``Writes/home``
    /// opens only where the sequencer carries requests between processes: JetStream does.
    ///
    /// ```swift
    /// options.place = place.writing(.home)
    /// ```
    public func writing(_ writes: Writes) -> LogPlace {
        LogPlace(address: address, filesDirectory: filesDirectory, writes: writes, open: open)
    }

    /// Creates the place of a sequencer, without a directory for files. Two places are equal if their addresses and
    /// directories are.
    ///
    /// - Parameter open: connects to the sequencer; called whenever a store is opened.
    package init(address: String, open: @escaping @Sendable (Platform) throws -> any Sequencer) {
        self.init(address: address, filesDirectory: nil, writes: .anywhere, open: .some(open))
    }

    private init(
        address: String, filesDirectory: String?, writes: Writes,
        open: (@Sendable (Platform) throws -> any Sequencer)?
    ) {
        self.address = address
        self.filesDirectory = filesDirectory
        self.writes = writes
        self.open = open
    }

    /// Connects to the sequencer; nil if the place is ``local``.
    package func sequencer(_ platform: Platform) throws -> (any Sequencer)? { try open?(platform) }

    public static func == (one: LogPlace, other: LogPlace) -> Bool {
        one.address == other.address && one.filesDirectory == other.filesDirectory && one.writes == other.writes
    }
}
