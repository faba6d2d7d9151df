/// Settings of RocksDB. The best of them for a piece of work is the peer.
struct RocksConfiguration: Sendable, Hashable {
    var name: String
    var cacheBytes: Int
    /// True if a group of writes goes into the memtable while the next one is written to the log.
    var isPipelined: Bool

    static let small = Self(name: "256 MiB cache", cacheBytes: 256 << 20, isPipelined: false)
    /// All blocks of a million records, as others map whole files.
    static let large = Self(name: "2 GiB cache, pipelined", cacheBytes: 2 << 30, isPipelined: true)

    static let all = [small, large]
}
