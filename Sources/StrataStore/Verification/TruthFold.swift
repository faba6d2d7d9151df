import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// A log that is folded once more, bit by bit, in a little memory and files without names.
final class TruthFold {
    private let log: FollowedLog
    private let pages: PageStore
    private let replay: Replay
    private let progress: (UInt64, UInt64) -> Void
    /// Where rows of indexes are sorted.
    let rowSpill: RunSorter.Spill
    /// Whether the last fold came to an error.
    private(set) var hasFailed = false

    init(_ log: FollowedLog, progress: @escaping (UInt64, UInt64) -> Void) throws {
        self.log = log
        self.progress = progress
        // Others may be doing the same.
        let path = TemporaryDirectory.path + "/strata-verify-\(SystemRandom().nextIdentifier())"
        rowSpill = RunSorter.Spill(files: RealFileSystem(), path: path + ".rows")
        pages = try PageStore.temporary(
            in: TemporaryDirectory.path, files: RealFileSystem(), options: .lean,
            name: String(path.split(separator: "/").last ?? "") + ".pages")
        replay = Views.leanReplay(of: log, into: pages, files: RealFileSystem(), sortingIn: path + ".events")
    }

    func state() -> Snapshot { pages.snapshot() }

    /// Up to where it has come.
    var offset: UInt64 { state().foldedOffset(ViewTree.records) }

    /// Nothing is done for an offset that it has passed.
    func fold(upTo offset: UInt64) throws {
        hasFailed = true
        try replay.run(upTo: offset) { [log, progress] in progress($0.offset, log.end.offset) }
        hasFailed = false
    }

    /// The commits that interned names, of those that are not in a base.
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
    /// A part, by places that count from the first element.
    fileprivate func range(_ range: Range<Int>) -> ArraySlice {
        self[startIndex + range.lowerBound..<startIndex + range.upperBound]
    }
}
