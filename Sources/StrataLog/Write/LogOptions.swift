import StrataModel

/// The guarantee that a successful append, and so a save, gives.
public enum Durability: Sendable, Hashable {
    /// Appended means synced: it survives a loss of power.
    case commit
    /// Appended means written: it survives the end of the process; a loss of power may take the last interval, of a
    /// millisecond to a day.
    case interval(Duration)
    /// Appended means written; syncing is left to the operating system and to `sync()`.
    case system
}

/// The options for opening a log.
package struct LogOptions: Sendable {
    package var durability: Durability
    /// A segment is closed before it exceeds this size.
    package var segmentBytes: Int
    /// The first segment is closed before it exceeds this size; each later one may have twice the size of the previous
    /// one, up to ``segmentBytes``. This way a small store stays small, and zeros are written into files that no commit
    /// waits for.
    package var firstSegmentBytes: Int
    /// Zeros are written this far ahead, but not beyond the segment's limit; 0 for no zeros.
    package var spaceStepBytes: Int
    /// The number of closed segments that wait until writers rest before they are sealed; 0 to seal each
    /// immediately.
    package var maximumWaitingSegments = 16
    /// The identifier for a store that is created; an existing store keeps its own.
    package var containerIdentifier: String
    /// True to create a store where there is none.
    package var createsStore: Bool

    package init(
        durability: Durability = .commit, segmentBytes: Int = 64 << 20, firstSegmentBytes: Int = 4 << 20,
        spaceStepBytes: Int = 4 << 20, containerIdentifier: String = "iCloud.local", createsStore: Bool = true
    ) {
        self.durability = durability
        self.segmentBytes = segmentBytes
        self.firstSegmentBytes = firstSegmentBytes
        self.spaceStepBytes = spaceStepBytes
        self.containerIdentifier = containerIdentifier
        self.createsStore = createsStore
    }

    /// Returns the size limit of a segment that follows one of `previousBytes`; pass 0 for the first.
    func segmentLimit(after previousBytes: Int) -> Int {
        min(segmentBytes, max(firstSegmentBytes, 2 * previousBytes))
    }

    func validate() throws {
        let segments = LogFormat.minimumSegmentBytes...LogFormat.maximumSegmentBytes
        for bytes in [segmentBytes, firstSegmentBytes] where !segments.contains(bytes) {
            throw StrataError(
                .invalidArgument, "The segment size is out of bounds.",
                .init(expected: "\(segments.lowerBound) to \(segments.upperBound) bytes", found: "\(bytes)"))
        }
        guard (0...segments.upperBound).contains(spaceStepBytes) else {
            throw StrataError(
                .invalidArgument, "The step in which space is allocated ahead is out of bounds.",
                .init(expected: "0 to \(segments.upperBound) bytes", found: "\(spaceStepBytes)"))
        }
        if case .interval(let interval) = durability, interval < .milliseconds(1) {
            throw StrataError(
                .invalidArgument, "The interval between syncs must be at least one millisecond.",
                .init(found: "\(interval / .milliseconds(1)) ms"))
        }
    }
}
