import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import StrataViews

/// The files of records' assets, each named by its content: equal bytes are one file (docs/format.md §24).
///
/// A hash is *pinned* before its file is looked for, and until the commit that names it is published or dropped. A file
/// that is pinned, or named by a commit, is never removed.
final class AssetStore: Sendable {
    /// The size of the pieces in which files are read and written.
    static let pieceBytes = 1 << 20
    /// The maximum number of files whose status is remembered.
    private static let maximumKnownFiles = 100_000
    /// The pause before files are collected that were too young.
    private static let youngMilliseconds = 3_600_000

    enum Place: Sendable {
        /// A directory of the store, created with the first asset.
        case directory(AssetPaths)
        /// A directory that all processes of a store on a sequencer write.
        case shared(AssetPaths)
        /// The servers that order the log keep the assets; the copy's directory has those that this process read.
        case cluster(AssetPaths, ObjectStore, isWritable: Bool)
        /// One of the directories, for a reader that changes nothing.
        case readOnly(AssetPaths)
        /// Unnamed files, created in another directory, that end with the process.
        case unnamed(inDirectory: String)
        /// There is none, for this reason.
        case missing(StrataError)
    }

    /// The status of a file when its bytes were last found to match its name.
    struct KnownFile {
        var status: FileStatus
        /// True if the bytes are known to survive a loss of power: in this file, or in the cluster.
        var isDurable: Bool
    }

    struct State {
        /// The number of pins of each hash.
        var pins: [ContentHash: Int] = [:]
        var known: [ContentHash: KnownFile] = [:]
        /// The paths of files that are being written.
        var drafts: Set<String> = []
        /// The directories whose own names are durable.
        var durableDirectories: Set<String> = []
        var unnamed: [ContentHash: any File] = [:]
        /// Set while the store is open for writing.
        var pipeline: Pipeline?
        /// True if a file was left that nothing names, because another process may be about to.
        var hasYoung = false
    }

    let files: any FileSystem
    let random: any RandomSource
    let time: any TimeSource
    let place: Place
    /// The age from which a file in a shared directory is removed if nothing names it.
    let unusedSeconds: Int
    let state = Lock(State())
    private let collector = WorkerHandle()
    private let collections = WorkSignal(hasWork: false)

    init(_ place: Place, _ platform: Platform, unusedSeconds: Int = StoreOptions.daySeconds) {
        self.place = place
        self.unusedSeconds = unusedSeconds
        files = platform.files
        time = platform.time
        random = platform.random
    }

    /// Removes files that earlier writers did not finish, and starts a thread that removes those that no commit names.
    func begin(_ pipeline: Pipeline) throws {
        state.withLock { $0.pipeline = pipeline }
        let paths: AssetPaths
        switch place {
        case .directory(let own), .cluster(let own, _, isWritable: true): paths = own
        case .shared(let shared): paths = shared
        case .readOnly, .cluster, .unnamed, .missing: return
        }
        // Files that cannot be listed now can be collected another time.
        let names = (try? files.list(paths.directory)) ?? []
        guard isShared || !names.isEmpty else { return }
        if !isShared {
            for name in names where AssetPaths.isDraft(name) { try? files.remove(paths.directory + "/" + name) }
        }
        try collector.start(name: "strata-assets") { [self] in
            WorkerThread.lowerPriority()
            if !names.isEmpty { _ = try? collect() }
            while isShared, collections.wait(milliseconds: collectionPause) { _ = try? collect() }
        }
    }

    /// Collects now, and again later if files were too young.
    func collectSoon() {
        _ = try? collect()
        guard state.withLock({ $0.hasYoung }) else { return }
        collections.wake()
    }

    /// The time after which files are collected again; nil if none were too young.
    private var collectionPause: Int? { state.withLock { $0.hasYoung ? Self.youngMilliseconds : nil } }

    /// Stops collecting. Files that are open for reading stay open.
    func end() {
        state.withLock { $0.pipeline = nil }
        if case .cluster(_, let objects, _) = place { objects.close() }
        collections.end()
        collector.join()
    }

    /// True if other processes remove files from the same directory.
    var isShared: Bool {
        if case .shared = place { true } else { false }
    }

    func note(_ hash: ContentHash, _ file: KnownFile) {
        state.withLock { state in
            if state.known.count >= Self.maximumKnownFiles { state.known.removeAll() }
            // Finding the file whole says nothing about the medium.
            let wasDurable = state.known[hash].map { $0.isDurable && $0.status == file.status } ?? false
            state.known[hash] = KnownFile(status: file.status, isDurable: file.isDurable || wasDurable)
        }
    }

    // MARK: Pins

    func pin(_ asset: FieldValue.Asset) -> PinnedAsset {
        state.withLock { $0.pins[asset.hash, default: 0] += 1 }
        return PinnedAsset(asset, self)
    }

    /// Removes the file if this was the last pin and no commit names it, unless other processes have the directory too.
    func unpin(_ hash: ContentHash) {
        state.withLock { state in
            let count = (state.pins[hash] ?? 1) - 1
            state.pins[hash] = count > 0 ? count : nil
            // In a shared directory, another process may need the file.
            if isShared { return }
            _ = try? collect(hash, &state)
        }
    }
}

/// Keeps an asset's file for as long as this object exists.
///
/// ```swift
/// let photo = try store.importAsset(at: "/tmp/photo.jpg")
/// save.fields.append(FieldChange(photoField, .asset(photo.value)))
/// let answer = try await store.modify(request, as: anna)
/// withExtendedLifetime(photo) {}
/// ```
public final class PinnedAsset: Sendable {
    /// The value that names the file in a record.
    public let value: FieldValue.Asset
    let store: AssetStore

    fileprivate init(_ value: FieldValue.Asset, _ store: AssetStore) {
        self.value = value
        self.store = store
    }

    deinit { store.unpin(value.hash) }
}

/// The paths of the files of assets.
struct AssetPaths: Sendable {
    private static let draftPrefix = "new-"
    private static let asideSuffix = ".aside"

    let store: String
    var directory: String { store + "/assets" }

    init(_ store: String) { self.store = StorePaths(store).store }

    /// Returns the directory of a hash, named by the hash's first byte.
    func folder(of hash: ContentHash) -> String { directory + "/" + hash.description.prefix(2) }
    func file(of hash: ContentHash) -> String { folder(of: hash) + "/" + hash.description }
    /// Returns the path of a file that is about to be removed from a shared directory.
    func aside(of hash: ContentHash) -> String { file(of: hash) + Self.asideSuffix }
    func draft(_ name: Identifier) -> String { directory + "/" + Self.draftPrefix + name.description }

    static func isDraft(_ name: String) -> Bool { name.hasPrefix(draftPrefix) }

    /// Returns the hash of a file in the directory of hashes, also if the file is about to be removed; nil for other
    /// names.
    static func hash(of name: String) -> (hash: ContentHash, isAside: Bool)? {
        let isAside = name.hasSuffix(asideSuffix)
        return ContentHash(isAside ? String(name.dropLast(asideSuffix.count)) : name).map { ($0, isAside) }
    }
}
