import StrataLog
import StrataModel
import StrataViews

/// How many names a log has given ordinals, told without reading it through: ordinals are dense, so that the highest of
/// a namespace counts them.
struct NameCounts {
    /// More is not read of commits whose names nothing else states.
    private static let maximumBytes = 8 << 20
    /// More names of sealed segments are not looked at.
    private static let maximumNames = 100_000

    private var highest: [Namespace: UInt64] = [:]
    /// The last commit whose names are counted.
    private(set) var through: UInt64
    private var readBytes = 0
    private var readNames = 0

    subscript(namespace: Namespace) -> UInt64 { highest[namespace] ?? 0 }

    /// From the page file if it fits the log, else from the base and sealed segments; then from what is behind, as far
    /// as that is little.
    ///
    /// - Returns: nil if nothing is known of what was let go.
    init?(_ store: StoreAccess, _ views: ViewsSummary?) throws {
        let reader = store.reader
        through = reader.floor.offset
        if let position = views?.position, let counts = views?.nameCounts, !counts.isEmpty {
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

    /// False where there is too much to read.
    private mutating func add(_ segment: LogReader.Segment, through last: UInt64, _ store: StoreAccess) throws -> Bool {
        if let names = try store.reader.names(of: segment) {
            for name in names { add(name) }
            through = last
            readNames += names.count
            return readNames < Self.maximumNames
        }
        // In a closed segment of frames only its beginning is found without reading all of it.
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

    /// Adds what a payload interns; what is no envelope has no names to give.
    /// - Returns: whether it had a name, as all payloads have with which a base begins.
    private mutating func add(_ payload: ArraySlice<UInt8>) -> Bool {
        var names: [InternedName] = []
        try? payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            while let event = try walker.next() {
                guard event.kind == .nameInterned else { continue }
                let body = ArraySlice(UnsafeRawBufferPointer(rebasing: bytes[event.body]))
                if let name = try? InternedName(decoding: body) { names.append(name) }
            }
        }
        for name in names { add(name) }
        return !names.isEmpty
    }
}
