import StrataModel
import StrataStore

extension CloudStore {
    /// Limits the history that a store keeps. Older history is compacted in the background, and its change tokens
    /// expire. Without a limit, all history is kept.
    ///
    /// ```swift
    /// var options = CloudStore.Options.embedded
    /// options.history = CloudStore.HistoryPolicy(days: 30)
    /// ```
    public struct HistoryPolicy: Sendable, Hashable {
        /// The number of days after which history is compacted.
        public var days: Int?
        /// The log size above which the oldest history is compacted.
        public var bytes: Int?

        public static let everything = HistoryPolicy()

        public init(days: Int? = nil, bytes: Int? = nil) {
            self.days = days
            self.bytes = bytes
        }

        var engine: StrataStore.HistoryPolicy {
            StrataStore.HistoryPolicy(days: days.map { max(0, $0) }, bytes: bytes.map { UInt64(max(0, $0)) })
        }
    }

    /// The result of a compaction.
    ///
    /// ```swift
    /// let done = try store.console.compact(before: 1_000)
    /// print("\(done.segmentCount) files, \(done.freedBytes) bytes")
    /// ```
    public struct Compaction: Sendable, Hashable {
        /// The last compacted offset. Its token and those of later offsets stay valid.
        public let horizon: UInt64
        /// The number of removed log files.
        public let segmentCount: Int
        /// The number of bytes that the removed log files took.
        public let freedBytes: Int
        /// The size in bytes of the base file, which contains the compacted state.
        public let baseBytes: Int
        /// The number of removed asset files, to which no commit refers.
        public let assetCount: Int

        init(_ done: StrataStore.Compaction) {
            horizon = done.horizon
            segmentCount = done.segmentCount
            freedBytes = Int(clamping: done.freedBytes)
            baseBytes = Int(clamping: done.baseBytes)
            assetCount = done.assetCount
        }
    }

    /// The expected result of a compaction.
    ///
    /// ```swift
    /// for zone in try store.console.compactionPlan(before: 1_000).zones {
    ///     print(zone.zoneName, zone.changeCount, zone.recordCount)
    /// }
    /// ```
    public struct CompactionPlan: Sendable, Hashable {
        /// The changes that a zone would lose, and the records that it keeps.
        public struct Zone: Sendable, Hashable {
            /// The owner of the zone's database; nil for the public database.
            public let user: String?
            public let zoneName: String
            /// The number of saves and deletions, of records and of the zone itself, that would be compacted.
            public let changeCount: Int
            /// The number of records at the horizon; they stay unchanged.
            public let recordCount: Int
            /// The approximate size of their values in bytes.
            public let byteCount: Int
        }

        public let horizon: UInt64
        /// The number of log files that would be removed.
        public let segmentCount: Int
        /// The number of bytes that would be freed.
        public let freedBytes: Int
        public let zones: [Zone]

        init(_ plan: StrataStore.CompactionPlan) {
            horizon = plan.horizon
            segmentCount = plan.segmentCount
            freedBytes = Int(clamping: plan.freedBytes)
            zones = plan.zones.map { zone in
                Zone(
                    user: zone.database.scope == .public ? nil : zone.database.owner, zoneName: zone.zone.name,
                    changeCount: zone.changeCount, recordCount: Int(clamping: zone.recordCount),
                    byteCount: Int(clamping: zone.byteCount))
            }
        }
    }
}
