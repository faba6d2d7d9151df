import StrataModel

/// The result of a compaction.
public struct Compaction: Sendable, Hashable {
    /// The last commit that was removed; a base replaces all commits up to it.
    public var horizon: UInt64
    /// The number of log files removed, which were wholly at or below the horizon. The file that has the next commit
    /// stays.
    public var segmentCount: Int
    /// The bytes of those files and of the previous base.
    public var freedBytes: UInt64
    /// The bytes of the new base.
    public var baseBytes: UInt64
    /// The number of asset files removed because nothing names them.
    public var assetCount: Int
}

/// The effects that a compaction would have.
public struct CompactionPlan: Sendable, Hashable {
    public struct Zone: Sendable, Hashable {
        /// The zone's database, with the name of its owner.
        public var database: DatabaseID
        public var zone: ZoneID
        /// The number of saves and deletions of its records, and of the zone itself, that would be removed.
        public var changeCount: Int
        /// The exact number of its records in the base.
        public var recordCount: UInt64
        /// The bytes of these records' events before compression, estimated from a sample for large zones.
        public var byteCount: UInt64
    }

    public var horizon: UInt64
    /// The number of log files wholly at or below the horizon. ``freedBytes`` also includes the previous base.
    public var segmentCount: Int
    public var freedBytes: UInt64
    /// The bytes of the records' events in the base, before compression.
    public var recordBytes: UInt64
    /// The zones of which anything would be removed or kept, in the order of their databases.
    public var zones: [Zone]
}
