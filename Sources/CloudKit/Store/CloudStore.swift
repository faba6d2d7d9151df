import Foundation
import StrataModel
import StrataReplication
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
    private let held: HeldStore
    var store: Store { held.store }
    /// The options of the store.
    public let options: Options
    let faults: FaultInjector
    let longLived: LongLivedOperations
    let stagedAssets: StagedAssets
    /// The name of the container, which ``use(_:forContainer:user:device:)`` changes.
    let containerIdentifier: Lock<String>
    let sharingObservers = Lock(WeakList<CKSystemSharingUIObserver>())
    private let clients = ClientTable()

    /// Opens the store in a directory, or creates one.
    ///
    /// Only one process can write a directory at a time. Opening the store again in that process returns the same
    /// store. Several processes, on one machine or several, write one store if each has a directory of its own and all
    /// name the same place for its log.
    ///
    /// ```swift
    /// let store = try CloudStore(at: url, log: .directory("/shared/Notes.sequence"))
    /// ```
    ///
    /// - Parameters:
    ///   - url: The directory.
    ///   - log: The place where changes get their order.
    ///   - options: The options of the store.
    /// - Throws: `CKError`: `serviceUnavailable` if another process has the directory open or the log's place cannot be
    ///   reached, `permissionFailure` if the directory cannot be written, `internalError` for a corrupt store. The
    ///   cause is its underlying error.
    public convenience init(at url: URL, log: LogPlace = .local, options: Options = .service) throws {
        guard url.isFileURL else {
            throw CKError(.invalidArguments, message: "A store is opened at a file URL, not at '\(url)'.")
        }
        var engine = options.engine
        engine.place = log
        try self.init(options, at: url.path) { [engine] in
            try Store.open(at: url.path, options: engine, platform: options.platform)
        }
    }

    /// Creates a store that exists only in memory.
    ///
    /// ```swift
    /// let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
    /// ```
    public static func inMemory(options: Options = .service) throws -> CloudStore {
        try CloudStore(options, at: nil) { try Store.inMemory(options: options.engine, platform: options.platform) }
    }

    init(_ options: Options, at path: String?, _ open: () throws -> Store) throws {
        self.options = options
        containerIdentifier = Lock(options.containerIdentifier)
        do {
            let store = try open()
            held = HeldStore(store)
            let files = try path.map { try RealFileSystem().anchored(at: $0) }
            longLived = LongLivedOperations(in: path.map(KeptOperation.directory), files ?? RealFileSystem())
            faults = FaultInjector.of(store)
            stagedAssets = StagedAssets(of: store, held: held)
            longLived.removeDrafts()
            // A process that died during an erasure may have left them.
            try longLived.removeErased(in: store, endsUnreadable: store.hasResumedErasure)
            store.watchErasures { [weak self] in self?.removeErased() }
        } catch {
            throw CKError(engine: error)
        }
    }

    /// Removes erased data that this process keeps outside the store, after another process's erasure.
    private func removeErased() {
        try? longLived.removeErased(in: store, endsUnreadable: true)
        stagedAssets.removeRetired()
    }

    /// Returns the container of a user's device; the same container for the same user and device.
    ///
    /// - Parameters:
    ///   - user: Any name; nil if no user is signed in, so that only the public database can be read.
    ///   - device: Distinguishes the devices of a user: the changes of one device are news for the others.
    public func container(user: String?, device: String = "default") -> CKContainer {
        var actor = Actor(user: user ?? "", device: device)
        // No client is the service, whatever it calls itself: the service reads everything.
        if actor == .service { actor.device = "default" }
        return clients.container(of: actor) { actor in
            Client(self, actor)
        }
    }

    // MARK: The log

    /// The offset of the last commit that every reader sees.
    public var offset: UInt64 { store.offset }

    /// The offset of the last commit that survives a power loss.
    public var durableOffset: UInt64 { store.durableOffset }

    /// Returns once all current commits are durable.
    public func sync() throws {
        do { try store.sync() } catch { throw CKError(engine: error) }
    }

    /// Finishes pending work and closes the files. Later calls fail; closing again does nothing.
    ///
    /// A store that is released without it is closed soon after its last container, database and fetched asset are
    /// released too. Only this method says when that is done, and if it failed.
    public func close() throws {
        defer {
            faults.wakeAll()
            stagedAssets.removeAll()
        }
        do { try store.close() } catch { throw CKError(engine: error) }
    }
}

/// The clients of a store that are in use, one for each device of a user.
final class ClientTable: Sendable {
    /// A weak reference, since a client holds its store. A released client is created again on demand.
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
