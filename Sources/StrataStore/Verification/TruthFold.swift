import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// A log that is folded again step by step, in a little memory and unnamed files.
final class TruthFold {
    private let log: FollowerLog
    private let pages: PageStore
    private let replay: Replay
    private let progress: (UInt64, UInt64) -> Void
    /// True if the last fold failed.
    private(set) var hasFailed = false

    init(_ log: FollowerLog, progress: @escaping (UInt64, UInt64) -> Void) throws {
        self.log = log
        self.progress = progress
        // Other processes may be verifying a store too.
        let path = TemporaryDirectory.path + "/strata-verify-\(SystemRandom().nextIdentifier())"
        pages = try PageStore.temporary(
            in: TemporaryDirectory.path, files: RealFileSystem(), options: .lean,
            name: String(path.split(separator: "/").last ?? "") + ".pages")
        replay = Views.leanReplay(of: log, into: pages, files: RealFileSystem(), sortingIn: path + ".events")
    }

    func state() -> Snapshot { pages.snapshot() }

    /// The offset up to which the log is folded.
    var offset: UInt64 { state().foldedOffset(ViewTree.records) }

    /// Folds the log up to an offset; does nothing for an offset that was passed.
    func fold(upTo offset: UInt64) throws {
        hasFailed = true
        try replay.run(upTo: offset) { [log, progress] in progress($0.offset, log.end.offset) }
        hasFailed = false
    }

    /// Returns the commits that interned names, except for names from a base.
    func origins(of names: Set<UsedNames.Key>) throws -> [UsedNames.Key: UInt64] {
        var origins: [UsedNames.Key: UInt64] = [:]
        guard !names.isEmpty else { return origins }
        var cursor = try log.read(from: log.floor.offset + 1)
        while origins.count < names.count, let commit = try cursor.next(), commit.offset <= offset {
            try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                while let event = try walker.next() {
                    guard event.kind == .nameInterned else { continue }
                    let name = try InternedName(
                        decoding: commit.payload[commit.payload.startIndex...].range(event.body))
                    let key = UsedNames.Key(name.name.namespace, name.ordinal)
                    if names.contains(key), origins[key] == nil { origins[key] = commit.offset }
                }
            }
        }
        return origins
    }
}

extension ArraySlice {
    /// Returns a part of the slice, by positions that count from its first element.
    fileprivate func range(_ range: Range<Int>) -> ArraySlice {
        self[startIndex + range.lowerBound..<startIndex + range.upperBound]
    }
}
