import StrataModel
import StrataStore

extension CloudStore {
    /// How much of its history a store keeps by itself; what is beyond goes in the background, and its change tokens
    /// with it. What is not limited is kept for ever.
    ///
    /// ```swift
    /// var options = CloudStore.Options.embedded
    /// options.history = CloudStore.HistoryPolicy(days: 30)
    /// ```
    public struct HistoryPolicy: Sendable, Hashable {
        /// What is older than so many days goes.
        public var days: Int?
        /// The oldest goes while the log has more bytes than that.
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

    /// What letting go of history gave back.
    ///
    /// ```swift
    /// let done = try store.console.compact(before: 1_000)
    /// print("\(done.segmentCount) files, \(done.freedBytes) bytes")
    /// ```
    public struct Compaction: Sendable, Hashable {
        /// Everything up to this offset is gone; its tokens and those of later offsets are served.
        public let horizon: UInt64
        /// How many of the log's files are gone.
        public let segmentCount: Int
        /// How many bytes that gave back.
        public let freedBytes: Int
        /// How many the file takes that has what they came to.
        public let baseBytes: Int
        /// How many files of assets are gone that nothing named any more.
        public let assetCount: Int

        init(_ done: StrataStore.Compaction) {
            horizon = done.horizon
            segmentCount = done.segmentCount
            freedBytes = Int(clamping: done.freedBytes)
            baseBytes = Int(clamping: done.baseBytes)
            assetCount = done.assetCount
        }
    }

    /// What letting go of history would do.
    ///
    /// ```swift
    /// for zone in try store.console.compactionPlan(before: 1_000).zones {
    ///     print(zone.zoneName, zone.changeCount, zone.recordCount)
    /// }
    /// ```
    public struct CompactionPlan: Sendable, Hashable {
        /// What would go and stay of a zone.
        public struct Zone: Sendable, Hashable {
            /// Whose database it is in; nil for the public one.
            public let user: String?
            public let zoneName: String
            /// Saves and deletions of its records, and of the zone itself, that would be let go.
            public let changeCount: Int
            /// Records that it has at the horizon; they stay as they are.
            public let recordCount: Int
            /// How many bytes their values take, about.
            public let byteCount: Int
        }

        public let horizon: UInt64
        /// How many of the log's files would go.
        public let segmentCount: Int
        /// How many bytes that would give back.
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
