import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// A store of records: all databases of all users of one container, in a directory or in memory.
///
/// ```swift
/// let store = try CloudStore(at: URL(fileURLWithPath: "Notes.strata"))
/// let phone = store.container(user: "anna", device: "phone")
/// let tablet = store.container(user: "anna", device: "tablet")
/// try await phone.privateCloudDatabase.save(note)
/// try store.close()
/// ```
public final class CloudStore: Sendable {
    let store: Store
    let disturbances: Disturbances
    let longLived: LongLivedOperations
    let stagedAssets: StagedAssets
    /// How the store works.
    public let options: Options
    private let clients = ClientTable()

    /// Opens the store in a directory, or makes one.
    ///
    /// One process writes a store at a time; within it, whoever opens the store again gets the same one.
    ///
    /// - Throws: `CKError`: `serviceUnavailable` if another process has the store, `permissionFailure` if the directory
    ///   cannot be written, `internalError` for damage; the cause is its underlying error.
    public convenience init(at url: URL, options: Options = .service) throws {
        guard url.isFileURL else {
            throw CKError(.invalidArguments, message: "A store is opened at a file URL, not at '\(url)'.")
        }
        try self.init(options, at: url.path) {
            try Store.open(at: url.path, options: options.engine, platform: options.platform)
        }
    }

    /// A store that leaves nothing behind.
    ///
    /// ```swift
    /// let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
    /// ```
    public static func inMemory(options: Options = .service) throws -> CloudStore {
        try CloudStore(options, at: nil) { try Store.inMemory(options: options.engine, platform: options.platform) }
    }

    init(_ options: Options, at path: String?, _ open: () throws -> Store) throws {
        self.options = options
        do {
            store = try open()
            let files = try path.map { try RealFileSystem().anchored(at: $0) }
            longLived = LongLivedOperations(in: path.map(KeptOperation.directory), files ?? RealFileSystem())
            disturbances = Disturbances.of(store)
            stagedAssets = StagedAssets(of: store)
            longLived.removeDrafts()
            // A process that died within an erasure may have left them.
            try longLived.removeErased(in: store, endsUnreadable: store.hasResumedErasure)
        } catch {
            throw CKError(engine: error)
        }
    }

    /// A device of a user; the same user and device are the same container.
    ///
    /// - Parameters:
    ///   - user: Any name; nil if nobody is signed in, who can read the public database only.
    ///   - device: Tells the devices of a user apart: what one has done is news for the others.
    public func container(user: String?, device: String = "default") -> CKContainer {
        clients.container(of: Actor(user: user ?? "", device: device)) { actor in
            Client(
                Client.Opened(store, disturbances, longLived, stagedAssets, options), actor,
                identifier: options.containerIdentifier)
        }
    }

    // MARK: The log

    /// The number of the last commit that every reader sees.
    public var offset: UInt64 { store.offset }

    /// The number of the last commit that survives a loss of power.
    public var durableOffset: UInt64 { store.durableOffset }

    /// Returns once everything up to the present end is durable.
    public func sync() throws {
        do { try store.sync() } catch { throw CKError(engine: error) }
    }

    /// Finishes what waits and lets the files go. Calls that come later fail; closing again does nothing.
    public func close() throws {
        defer {
            disturbances.stir()
            stagedAssets.removeAll()
        }
        do { try store.close() } catch { throw CKError(engine: error) }
    }
}

/// The clients of a store that are in use, one for each device of a user.
final class ClientTable: Sendable {
    /// Weak, since a client holds its store: it can be asked for again when it is gone.
    private struct Entry {
        weak var client: Client?
    }

    private let entries = Lock<[Actor: Entry]>([:])

    func container(of actor: Actor, _ make: (Actor) -> Client) -> CKContainer {
        let client = entries.withLock { entries in
            if let client = entries[actor]?.client { return client }
            entries = entries.filter { $0.value.client != nil }
            let client = make(actor)
            entries[actor] = Entry(client: client)
            return client
        }
        return client.container
    }
}
