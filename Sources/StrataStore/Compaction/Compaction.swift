import StrataModel

/// What a compaction did.
public struct Compaction: Sendable, Hashable {
    /// All commits up to here are gone, and a base stands for them.
    public var horizon: UInt64
    /// How many files of the log are gone that lay wholly at or below the horizon. Of the segment that has the next
    /// commit nothing is given back yet.
    public var segmentCount: Int
    /// Of those files, and of the base before.
    public var freedBytes: UInt64
    /// Of the base.
    public var baseBytes: UInt64
    /// Files of assets that nothing names any more.
    public var assetCount: Int
}

/// What a compaction would do.
public struct CompactionPlan: Sendable, Hashable {
    public struct Zone: Sendable, Hashable {
        /// With the name of its owner.
        public var database: DatabaseID
        public var zone: ZoneID
        /// Saves and deletions of its records, and of the zone itself, that would be let go.
        public var changeCount: Int
        /// Records that the base would have of it, exactly.
        public var recordCount: UInt64
        /// Of their events before compression; of large zones, told from a sample.
        public var byteCount: UInt64
    }

    public var horizon: UInt64
    /// Files of the log that lie wholly at or below the horizon, and the base before.
    public var segmentCount: Int
    public var freedBytes: UInt64
    /// Of the records' events in the base, before compression.
    public var recordBytes: UInt64
    /// Zones of which anything would be let go or kept, in the order of their databases.
    public var zones: [Zone]
}
