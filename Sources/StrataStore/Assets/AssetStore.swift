import StrataLog
import StrataModel
import StrataSystem
import StrataViews

/// The files that records have, each named by what is in it: equal bytes are one file (docs/format.md §24).
///
/// A hash is *pinned* before anybody asks whether its file is there, and until the commit that names it is published or
/// dropped. What is pinned, or named by a commit, is never removed.
final class AssetStore: Sendable {
    /// Files are read and written in pieces of so many bytes.
    static let pieceBytes = 1 << 20
    /// What is known of so many files at most.
    private static let maximumKnownFiles = 100_000

    enum Place: Sendable {
        /// A directory of the store. It is made with the first asset.
        case directory(AssetPaths)
        /// The same, for somebody who changes nothing.
        case readOnly(AssetPaths)
        /// Files without names, made in a directory of others, that end with the process.
        case unnamed(inDirectory: String)
    }

    /// What a file was when its bytes were last found to be those of its name.
    struct KnownFile {
        var status: FileStatus
        /// Whether it is known to survive a loss of power.
        var isDurable: Bool
    }

    struct State {
        /// How many hold on to each.
        var pins: [ContentHash: Int] = [:]
        var known: [ContentHash: KnownFile] = [:]
        /// Names of files that are being written.
        var drafts: Set<String> = []
        /// Directories whose own names are durable.
        var durableDirectories: Set<String> = []
        var unnamed: [ContentHash: any File] = [:]
        /// Set while the store is open for writing.
        var pipeline: Pipeline?
    }

    let files: any FileSystem
    let random: any RandomSource
    let place: Place
    let state = Lock(State())
    private let collector = WorkerHandle()

    init(_ place: Place, _ platform: Platform) {
        self.place = place
        files = platform.files
        random = platform.random
    }

    /// Removes what writers left that did not come to an end, and has a thread remove what no commit names.
    func begin(_ pipeline: Pipeline) throws {
        guard case .directory(let paths) = place else { return state.withLock { $0.pipeline = pipeline } }
        state.withLock { $0.pipeline = pipeline }
        // What cannot be listed now can be collected another time.
        guard let names = try? files.list(paths.directory), !names.isEmpty else { return }
        for name in names where AssetPaths.isDraft(name) { try? files.remove(paths.directory + "/" + name) }
        try collector.start(name: "strata-assets") { [self] in
            WorkerThread.lowerPriority()
            _ = try? collect()
        }
    }

    /// Collects nothing any more. What is open for reading stays so.
    func end() {
        state.withLock { $0.pipeline = nil }
        collector.join()
    }

    func note(_ hash: ContentHash, _ file: KnownFile) {
        state.withLock { state in
            if state.known.count >= Self.maximumKnownFiles { state.known.removeAll() }
            // Finding it whole says nothing about the medium.
            let wasDurable = state.known[hash].map { $0.isDurable && $0.status == file.status } ?? false
            state.known[hash] = KnownFile(status: file.status, isDurable: file.isDurable || wasDurable)
        }
    }

    // MARK: Pins

    func pin(_ asset: FieldValue.Asset) -> PinnedAsset {
        state.withLock { $0.pins[asset.hash, default: 0] += 1 }
        return PinnedAsset(asset, self)
    }

    /// Removes the file if this was the last pin and no commit names it.
    func unpin(_ hash: ContentHash) {
        state.withLock { state in
            let count = (state.pins[hash] ?? 1) - 1
            state.pins[hash] = count > 0 ? count : nil
            _ = try? collect(hash, &state)
        }
    }
}

/// Holds on to an asset's file for as long as this object is there.
///
/// ```swift
/// let photo = try store.importAsset(at: "/tmp/photo.jpg")
/// save.fields.append(FieldChange(photoField, .asset(photo.value)))
/// let answer = try await store.modify(request, as: anna)
/// withExtendedLifetime(photo) {}
/// ```
public final class PinnedAsset: Sendable {
    /// What names the file in a record.
    public let value: FieldValue.Asset
    let store: AssetStore

    fileprivate init(_ value: FieldValue.Asset, _ store: AssetStore) {
        self.value = value
        self.store = store
    }

    deinit { store.unpin(value.hash) }
}

/// Where files of assets lie.
struct AssetPaths: Sendable {
    private static let draftPrefix = "new-"

    let store: String
    var directory: String { store + "/assets" }

    init(_ store: String) { self.store = StorePaths(store).store }

    /// The directory is named by the first byte.
    func folder(of hash: ContentHash) -> String { directory + "/" + hash.description.prefix(2) }
    func file(of hash: ContentHash) -> String { folder(of: hash) + "/" + hash.description }
    func draft(_ name: Identifier) -> String { directory + "/" + Self.draftPrefix + name.description }

    static func isDraft(_ name: String) -> Bool { name.hasPrefix(draftPrefix) }
}
