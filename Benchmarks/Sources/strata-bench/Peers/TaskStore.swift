import StrataModel
import StrataStore
import TestSupport

/// A store of tasks that is measured: Strata, or one of its peers. Its writes are durable when they return.
protocol TaskStore: AnyObject, Sendable {
    /// Strata, SQLite or RocksDB.
    var engine: String { get }
    /// The name of its settings; empty if the engine has only one set of them.
    var configuration: String { get }
    /// The files and folders that are the store.
    var paths: [String] { get }
    /// What was written to its files so far; nil if that is not counted.
    var writeCounts: WriteCounts? { get }

    /// Fills an empty store with the first records, without syncing each, and makes the indexes.
    func fill(_ count: Int) throws
    /// Opens a store that was filled with so many records, and closed.
    func resume(after count: Int) throws
    /// Prepares what users need who were never seen before.
    func addUsers(_ count: Int) throws
    /// One durable transaction.
    func write(_ writes: [TaskWrite]) throws
    /// - Parameter isShared: true if others read and write at the same time.
    func reader(isShared: Bool) throws -> any TaskReader
    /// Does what the measured writes have left to be done before a query may be asked.
    func settle() throws
    /// Waits for the work that the store does by itself once nothing is written for a while.
    func awaitBackground() throws
    /// Does all that would be done sooner or later if nothing more were written.
    func rest() throws
    func close() throws
}

extension TaskStore {
    var writeCounts: WriteCounts? { nil }
    func settle() throws {}
    func awaitBackground() throws {}
    func rest() throws { try settle() }
    func addUsers(_ count: Int) throws {}

    var fullName: String { configuration.isEmpty ? engine : "\(engine), \(configuration)" }

    /// The bytes of the store on the disk.
    var diskBytes: Double { paths.reduce(0) { $0 + allocatedBytes(of: $1) } }
}

/// A store whose clients can be tasks.
protocol AsyncTaskStore: TaskStore {
    func write(_ writes: [TaskWrite]) async throws
}

/// Reads of one client.
protocol TaskReader: AnyObject {
    /// Reads all values of records that are asked for together; the sum of what was looked at, so that nothing is left
    /// out.
    func fetch(_ keys: ArraySlice<TaskKey>, _ reading: Reading) throws -> Int
    /// The records of one priority, all values decoded to Swift types; how many there were.
    func query(priority: Int, limit: Int) throws -> Int
    /// The records that changed since a place; all of them from nil.
    func feed(after place: FeedPlace?, limit: Int) throws -> FeedPage
}

enum Reading: String {
    /// Read at their place in the store, as far as its interface allows.
    case inPlace = "read in place"
    case values = "decoded to Swift types"
}

/// Returns the sum of bytes, so that each of them is read.
func byteSum(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.reduce(0) { $0 &+ Int($1) } }

extension Record {
    /// Looks at all values where they are; returns their number and a sum of what was looked at.
    func lookInPlace() throws -> (count: Int, sum: Int) {
        var (count, sum) = (0, 0)
        try forEachValue { _, value in
            count += 1
            if let number = try value.int64 {
                sum &+= Int(number)
            } else if let textBytes = try value.withText({ $0.count }) {
                sum &+= textBytes
            } else if let number = try value.double ?? value.date {
                sum &+= Int(number)
            } else if let dataSum = value.withData({ $0.withUnsafeBytes { byteSum($0) } }) {
                sum &+= dataSum
            } else if case .location(let place) = try value.decoded() {
                sum &+= Int(place.latitude) &+ Int(place.longitude) &+ Int(place.horizontalAccuracy)
            }
        }
        return (count, sum)
    }
}

/// A record's name as each store wants it, made before the clock starts.
struct TaskKey: Sendable {
    var id: RecordID
    var name: [UInt8]

    init(_ number: Int) {
        id = TaskRecords.id(number)
        name = Array(TaskRecords.name(number).utf8)
    }
}

/// The place up to which a client has read a feed.
enum FeedPlace: Sendable {
    case token(FeedToken)
    case change(Int64)
}

struct FeedPage {
    var count: Int
    var place: FeedPlace
    var hasMore: Bool
}

/// The number of single reads that share a snapshot or a transaction if nothing is written meanwhile.
let readsPerSnapshot = 100
