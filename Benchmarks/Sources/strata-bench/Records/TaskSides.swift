import Glibc
import StrataSystem
import Synchronization

/// Strata and its peers, each with the same records in it as soon as it is wanted.
final class TaskSides {
    let records: TaskRecords
    /// The number of records that all have at first.
    let count: Int
    /// The numbers of new records.
    let numbers: TaskNumbers
    let versions = TaskNumbers(from: 1)
    private let folder: String
    /// Stores as they were filled, to be copied: filling takes ten times as long.
    private let filledFolder: String
    private static let copiedCount = 1_000_000
    private var stores: [String: (store: any TaskStore, open: () throws -> any TaskStore)] = [:]

    init(_ records: TaskRecords, count: Int, in folder: String) throws {
        self.records = records
        // A record at least, so that there are fields to be indexed.
        self.count = max(1, count)
        self.folder = "\(folder)/tasks"
        filledFolder = "\(folder)/filled"
        numbers = TaskNumbers(from: self.count)
        for folder in [self.folder, filledFolder] { mkdir(folder, 0o755) }
    }

    func strata() throws -> StrataTasks { try store("strata") { [records] in StrataTasks(path: $0, records) } }

    func rocks(_ settings: RocksConfiguration) throws -> RocksTasks {
        try store(Self.fileName(settings.name)) { [records] in try RocksTasks(path: $0, settings, records) }
    }

    func sqlite(_ settings: SQLiteConfiguration) throws -> SQLiteTasks {
        try store(Self.fileName(settings.name)) { [records] in
            try SQLiteTasks(path: "\($0).sqlite", settings, records)
        }
    }

    private static func fileName(_ settings: String) -> String {
        String(settings.map { $0.isLetter || $0.isNumber ? $0 : "-" })
    }

    private func store<Kind: TaskStore>(_ name: String, _ make: @escaping (String) throws -> Kind) throws -> Kind {
        if let known = stores[name]?.store as? Kind { return known }
        let (place, filled) = ("\(folder)/\(name)", "\(filledFolder)/\(count) \(name)")
        let isCopied = records.shape == .usual && count <= Self.copiedCount
        var store: Kind
        if try isCopied && RealFileSystem().exists(filled) {
            try copyTree(filled, to: place)
            store = try make("\(place)/store")
            try store.resume(after: count)
        } else {
            mkdir(place, 0o755)
            store = try make("\(place)/store")
            try store.fill(count)
            if isCopied {
                try store.close()
                try copyTree(place, to: filled)
                store = try make("\(place)/store")
                try store.resume(after: count)
            }
        }
        Glibc.sync()
        stores[name] = (store, { try make("\(place)/store") })
        return store
    }

    /// Opens a store that was closed once more, with so many records in it.
    func reopened(_ store: any TaskStore, after count: Int) throws -> any TaskStore {
        guard let (name, known) = stores.first(where: { $0.value.store === store }) else {
            throw BenchError(message: "\(store.fullName) is not of these sides")
        }
        let store = try known.open()
        try store.resume(after: count)
        stores[name]?.store = store
        return store
    }

    private func copyTree(_ source: String, to target: String) throws {
        let files = RealFileSystem()
        mkdir(target, 0o755)
        for name in try files.list(source) {
            let (old, new) = ("\(source)/\(name)", "\(target)/\(name)")
            if opendir(old).map({ closedir($0) }) != nil {
                try copyTree(old, to: new)
            } else {
                try files.copy(old, to: new, .create)
            }
        }
    }

    func close() {
        for known in stores.values { try? known.store.close() }
        stores = [:]
        removeTree(folder)
    }
}

/// Gives each new record a number of its own.
final class TaskNumbers: Sendable {
    private let next: Atomic<Int>

    init(from first: Int) { next = Atomic(first) }

    func take(_ count: Int) -> Range<Int> {
        let end = next.add(count, ordering: .relaxed).newValue
        return end - count..<end
    }
}

/// Which of the existing records are changed or read.
struct TaskChoice {
    private let count: Int
    private let random: SeededRandom
    private let zipf: ZipfRanks?

    init(below count: Int, seed: Int, zipf: ZipfRanks? = nil) {
        self.count = count
        self.zipf = zipf
        random = SeededRandom(seed: UInt64(seed) &* 7_919 &+ 3)
    }

    func next() -> Int {
        // The hot ones are anywhere.
        if let zipf { return Int(TaskRecords.mixed(UInt64(zipf.rank(at: unit()))) % UInt64(count)) }
        return Int(random.next(below: UInt64(count)))
    }

    func below(_ limit: Int) -> Int { Int(random.next(below: UInt64(limit))) }

    private func unit() -> Double { Double(random.next() >> 11) / Double(1 << 53) }

    /// As many different ones, or all of them.
    func distinct(_ wanted: Int) -> [Int] {
        var known: Set<Int> = []
        while known.count < min(wanted, count) { known.insert(next()) }
        return Array(known)
    }
}

/// Ranks with the frequencies of Zipf's law, as YCSB draws them.
struct ZipfRanks: Sendable {
    private static let exponent = 0.99
    private let count: Double
    private let total: Double
    private let scale: Double
    private let second: Double

    init(count: Int) {
        self.count = Double(count)
        var total = 0.0
        for rank in 1...max(1, count) { total += pow(Double(rank), -Self.exponent) }
        self.total = total
        second = 1 + pow(0.5, Self.exponent)
        scale = (1 - pow(2 / Double(count), 1 - Self.exponent)) / (1 - second / total)
    }

    /// The rank for a number from 0 to 1.
    func rank(at part: Double) -> Int {
        let place = part * total
        if place < 1 { return 0 }
        if place < second { return 1 }
        return min(Int(count) - 1, Int(count * pow(scale * part - scale + 1, 1 / (1 - Self.exponent))))
    }
}
