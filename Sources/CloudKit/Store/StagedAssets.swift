import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// The private copies of fetched assets that a store has handed out.
///
/// A copy that is no longer referenced is kept for a while, for callers that kept only its URL.
final class StagedAssets: Sendable {
    static let maximumRetiredCount = 1_000
    static let maximumRetiredBytes: UInt64 = 256 << 20
    /// The newest copies stay whatever their size: a caller may be about to open one.
    static let minimumRetiredCount = 16

    private struct State {
        var paths: Set<String> = []
        /// The copies that are no longer referenced, oldest first.
        var retired: [(path: String, size: UInt64)] = []
        var retiredBytes: UInt64 = 0
        var isClosed = false
    }

    let store: Store
    /// Keeps the store open for the files that are not made yet; nil if the caller does.
    private let held: HeldStore?
    private let directory: StagingDirectory
    private let state = Lock(State())

    init(of store: Store, held: HeldStore? = nil, in directory: StagingDirectory = .shared) {
        self.store = store
        self.held = held
        self.directory = directory
    }

    deinit { removeAll() }

    /// Copies an asset; nil if that fails.
    func stage(_ asset: FieldValue.Asset) -> String? {
        guard let directory = directory.path() else { return nil }
        let path = "\(directory)/\(SystemRandom().nextIdentifier())"
        do { try store.copyAsset(asset, to: path) } catch { return nil }
        let isKept = state.withLock { state in
            if !state.isClosed { state.paths.insert(path) }
            return !state.isClosed
        }
        if isKept { return path }
        unlink(path)
        return nil
    }

    /// Notes that a copy is no longer referenced, and removes the oldest ones above the limits.
    func retire(_ path: String, _ size: UInt64) {
        let removed = state.withLock { state -> [String] in
            guard state.paths.contains(path) else { return [] }
            state.retired.append((path, size))
            state.retiredBytes += size
            var removed: [String] = []
            var count = state.retired.count
            for oldest in state.retired {
                let isTooMuch = count > Self.maximumRetiredCount || state.retiredBytes > Self.maximumRetiredBytes
                guard isTooMuch, count > Self.minimumRetiredCount else { break }
                count -= 1
                state.retiredBytes -= oldest.size
                state.paths.remove(oldest.path)
                removed.append(oldest.path)
            }
            state.retired.removeFirst(removed.count)
            return removed
        }
        for path in removed { unlink(path) }
    }

    /// Removes the copies that are no longer referenced.
    func removeRetired() {
        let retired = state.withLock { state in
            let paths = state.retired.map(\.path)
            state.paths.subtract(paths)
            (state.retired, state.retiredBytes) = ([], 0)
            return paths
        }
        for path in retired { unlink(path) }
    }

    /// Removes all copies and prevents new ones.
    func removeAll() {
        let paths = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.paths
        }
        for path in paths { unlink(path) }
    }
}

/// A copy of an asset for one fetch, made on first use. Only a fetch creates one, so holding it proves the fetch.
final class StagedCopy: Sendable {
    private enum State {
        case none
        case made(String)
        case failed
    }

    let asset: FieldValue.Asset
    let home: StagedAssets
    private let state: Lock<State>

    /// - Parameter hasFile: False to never make a file.
    init(_ asset: FieldValue.Asset, _ home: StagedAssets, hasFile: Bool = true) {
        self.asset = asset
        self.home = home
        state = Lock(hasFile ? .none : .failed)
    }

    deinit {
        if case .made(let path) = state.withLock({ $0 }) { home.retire(path, asset.size) }
    }

    var url: URL? {
        state.withLock { state in
            if case .none = state { state = home.stage(asset).map { .made($0) } ?? .failed }
            guard case .made(let path) = state else { return nil }
            return URL(fileURLWithPath: path)
        }
    }
}

/// The copies of the assets of one fetched record. Reading a key twice returns the same file.
final class FetchedAssets: Sendable {
    private let home: StagedAssets
    private let haveFiles: Bool
    private let copies = Lock<[FieldValue.Asset: StagedCopy]>([:])

    init(_ home: StagedAssets, haveFiles: Bool = true) {
        self.home = home
        self.haveFiles = haveFiles
    }

    func copy(of asset: FieldValue.Asset) -> StagedCopy {
        copies.withLock { copies in
            if let copy = copies[asset] { return copy }
            let copy = StagedCopy(asset, home, hasFile: haveFiles)
            copies[asset] = copy
            return copy
        }
    }
}
