/// Settings of SQLite. The best of them for a piece of work is the peer.
struct SQLiteConfiguration: Sendable, Hashable {
    var name: String
    var pragmas: [String] = []
    var pageBytes = 4_096
    var hasRowID = true
    /// True if only one connection can have the file open, so that there cannot be readers beside a writer.
    var isExclusive: Bool { pragmas.contains { $0.hasPrefix("locking_mode = EXCLUSIVE") } }

    /// A log that is synced with each transaction, and nothing else that is not the default.
    static let documented = Self(name: "as documented")
    private static let cached = ["cache_size = -262144", "mmap_size = 8589934592"]
    private static let fewCheckpoints = ["wal_autocheckpoint = 100000"]
    private static let exclusive = ["locking_mode = EXCLUSIVE"]

    static let tuned = Self(name: "tuned", pragmas: exclusive + cached + fewCheckpoints)
    /// With the usual checkpoints: readers make a long log slower to search.
    static let mapped = Self(name: "map and cache", pragmas: cached)
    static let shared = Self(name: "tuned, shared", pragmas: cached + fewCheckpoints)
    static let largePages = Self(name: "8 KiB pages", pragmas: exclusive + cached + fewCheckpoints, pageBytes: 8_192)
    static let withoutRowID = Self(
        name: "WITHOUT ROWID", pragmas: exclusive + cached + fewCheckpoints, hasRowID: false)

    static let all = [documented, tuned, largePages, withoutRowID]
    /// The settings that let others read while one writes.
    static let forReaders = [documented, mapped, shared]
}
