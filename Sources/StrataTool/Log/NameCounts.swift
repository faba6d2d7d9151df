import StrataLog
import StrataModel
import StrataViews

/// Counts the names in a log without reading all of it: ordinals are dense, so the highest of a namespace is its count.
struct NameCounts {
    /// The maximum bytes of commits to read for names that are not listed elsewhere.
    private static let maximumBytes = 8 << 20
    /// The maximum number of names in sealed segments to read.
    private static let maximumNames = 100_000

    private var highest: [Namespace: UInt64] = [:]
    /// The offset of the last commit whose names are counted.
    private(set) var through: UInt64
    private var readBytes = 0
    private var readNames = 0

    subscript(namespace: Namespace) -> UInt64 { highest[namespace] ?? 0 }

    /// Uses the views if they fit the log, otherwise the base and the sealed segments; then the commits after them,
    /// up to the limits.
    ///
    /// Returns nil if the names of the compacted history are unknown.
    init?(_ store: StoreAccess, _ views: ViewsSummary?) throws {
        let reader = store.reader
        through = reader.floor.offset
        if let position = views?.state?.position, let counts = views?.nameCounts, !counts.isEmpty {
            (highest, through) = (counts, position.offset)
        } else if through > 0 {
            guard var base = try reader.readBase() else { return nil }
            while let payload = try base.next(), add(payload) {}
        }
        for segment in reader.segments {
            guard let last = segment.lastOffset, last > through else { continue }
            guard try add(segment, through: last, store) else { return }
        }
    }

    /// Returns false if there is too much to read.
    private mutating func add(_ segment: LogReader.Segment, through last: UInt64, _ store: StoreAccess) throws -> Bool {
        if let names = try store.reader.names(of: segment) {
            for name in names { add(name) }
            through = last
            readNames += names.count
            return readNames < Self.maximumNames
        }
        // A closed, unsealed segment can only be read from its beginning.
        guard !segment.isClosed || through < segment.firstOffset else { return false }
        var source = try CommitSource(store, from: through + 1)
        while through < last, let commit = try source.next() {
            _ = add(commit.payload)
            through = commit.offset
            readBytes += commit.payload.count
            if readBytes > Self.maximumBytes { return false }
        }
        return through == last
    }

    private mutating func add(_ name: InternedName) {
        highest[name.name.namespace] = max(self[name.name.namespace], name.ordinal)
    }

    /// Adds the names that a payload interns, and returns true if there was one. A base begins with payloads that all
    /// have names.
    private mutating func add(_ payload: ArraySlice<UInt8>) -> Bool {
        var isAny = false
        InternedName.forEach(in: payload) { name in
            add(name)
            isAny = true
        }
        return isAny
    }
}
