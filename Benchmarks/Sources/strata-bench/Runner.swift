import Glibc
import StrataLog
import StrataStore
import StrataSystem

/// A group of metrics that are measured together.
protocol Workload {
    func run(_ progress: (String) -> Void) throws -> [Measurement]
    /// The same; calls `done` with what is known, part by part if these take long.
    func run(_ progress: (String) -> Void, done: ([Measurement]) throws -> Void) throws
}

extension Workload {
    func run(_ progress: (String) -> Void, done: ([Measurement]) throws -> Void) throws { try done(run(progress)) }
}

/// A workload of parts that each work on stores of their own in a folder.
protocol StoreFolderWorkload: Workload {
    associatedtype Part: RawRepresentable<String>
    var size: WorkloadSize { get }
    var folder: String { get }
}

extension StoreFolderWorkload {
    func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }

    func open(_ name: String, _ durability: Durability = .system) throws -> Store {
        var options = StoreOptions.embedded
        options.durability = durability
        return try Store.open(at: "\(folder)/\(name).strata", options: options)
    }

    func removing(_ name: String, _ store: Store) {
        try? store.close()
        removeTree("\(folder)/\(name).strata")
    }
}

struct WorkloadSize {
    var rounds: Int
    /// About how long one side of one round takes.
    var roundSeconds: Double
    var isQuick: Bool
    /// Empty for all of them.
    var parts: Set<String> = []
    /// The number of records of the workloads that have a choice; nil for the usual one.
    var records: Int?
    /// True if the peers of the workload `records` are left out.
    var isAlone = false

    static let full = WorkloadSize(rounds: 7, roundSeconds: 2, isQuick: false)
    static let quick = WorkloadSize(rounds: 3, roundSeconds: 0.4, isQuick: true)

    func includes(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }

    /// Milliseconds that one takes. Where a round takes long, one is enough.
    func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = secondsNow()
        var count = 0
        repeat {
            try body()
            count += 1
        } while secondsNow() - start < roundSeconds / 4
        return (secondsNow() - start) * 1_000 / Double(count)
    }
}

struct Runner {
    typealias Maker = @Sendable (WorkloadSize, String) -> any Workload

    static let workloads: [(name: String, parts: [String], make: Maker)] = [
        (LogWorkload.name, LogWorkload.Part.allCases.map(\.rawValue), { LogWorkload(size: $0, folder: $1) }),
        (TreeWorkload.name, [], { TreeWorkload(size: $0, folder: $1) }),
        (ViewsWorkload.name, ViewsWorkload.Part.allCases.map(\.rawValue), { ViewsWorkload(size: $0, folder: $1) }),
        (
            RecordsWorkload.name, RecordsWorkload.Part.allCases.map(\.rawValue),
            { RecordsWorkload(size: $0, folder: $1) }
        ),
        (StoreWorkload.name, StoreWorkload.Part.allCases.map(\.rawValue), { StoreWorkload(size: $0, folder: $1) }),
        (QueryWorkload.name, QueryWorkload.Part.allCases.map(\.rawValue), { QueryWorkload(size: $0, folder: $1) }),
        (FeedsWorkload.name, FeedsWorkload.Part.allCases.map(\.rawValue), { FeedsWorkload(size: $0, folder: $1) }),
        (
            SharingWorkload.name, SharingWorkload.Part.allCases.map(\.rawValue),
            { SharingWorkload(size: $0, folder: $1) }
        ),
        (SyncWorkload.name, SyncWorkload.Part.allCases.map(\.rawValue), { SyncWorkload(size: $0, folder: $1) }),
        (ApiWorkload.name, [], { ApiWorkload(size: $0, folder: $1) }),
        (ToolWorkload.name, ToolWorkload.Part.allCases.map(\.rawValue), { ToolWorkload(size: $0, folder: $1) }),
        (ReplayWorkload.name, ReplayWorkload.Part.allCases.map(\.rawValue), { ReplayWorkload(size: $0, folder: $1) }),
        (
            ReplicatedWorkload.name, ReplicatedWorkload.Part.allCases.map(\.rawValue),
            { ReplicatedWorkload(size: $0, folder: $1) }
        ),
    ]

    /// The workloads whose bars are about the full size. Those of the others do not depend on it, or they have some for
    /// each size.
    private static let workloadsWithFullBars: Set = [
        StoreWorkload.name, QueryWorkload.name, FeedsWorkload.name, SharingWorkload.name, SyncWorkload.name,
        ApiWorkload.name,
    ]

    /// The words that `--only` takes: parts, and workloads that have none.
    ///
    /// - Parameter selected: names of workloads; empty for all of them.
    static func parts(of selected: [String] = []) -> [String] {
        workloads.filter { selected.isEmpty || selected.contains($0.name) }
            .flatMap { $0.parts.isEmpty ? [$0.name] : $0.parts }
    }

    let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// Returns true if all bars were met.
    func run() throws -> Bool {
        // Files that cannot be read are found before anything is measured.
        let earlier = try arguments.comparedPath.map { try Row.read(readFile($0)) }
        if let folder = arguments.plotFolder { try makeFolders(folder) }
        let rows =
            try arguments.sourcePaths.isEmpty
            ? measure()
            : arguments.sourcePaths.flatMap {
                try Row.read(readFile($0))
            }
        let tables = Tables(rows: rows)
        print(arguments.isMarkdown ? tables.markdown : tables.text)
        if let earlier { print("\n\(Comparison(before: earlier, after: rows).text)") }
        if let folder = arguments.plotFolder {
            let plots = Plots(rows: rows).all
            if plots.isEmpty { printError("no row is of a long run, or of a metric at three sizes: nothing to plot") }
            for (name, plot) in plots { try write(plot.svg, to: "\(folder)/\(name).svg") }
        }
        return rows.allSatisfy { $0.pass != false }
    }

    private func measure() throws -> [Row] {
        let folder = try makeFolder()
        defer { removeTree(folder) }
        try Interruption.remove(folder)
        var size = arguments.isQuick ? WorkloadSize.quick : .full
        size.rounds = arguments.rounds ?? size.rounds
        size.parts = arguments.parts
        size.records = arguments.records
        size.isAlone = arguments.isAlone
        var rows: [Row] = []
        func add(_ measurements: [Measurement]) throws {
            rows += measurements.map(\.row)
            // After each part, so that hours are not lost to the last one.
            if let path = arguments.jsonPath { try write(rows.map { try $0.line() + "\n" }.joined(), to: path) }
        }
        try add(CalibrationWorkload(size: size, folder: folder).run(printError))
        for workload in Self.workloads where isWanted(workload.name, workload.parts) {
            let isFull = !size.isQuick && (workload.name != QueryWorkload.name || size.records == nil)
            let hasBars = isFull || !Self.workloadsWithFullBars.contains(workload.name)
            try workload.make(size, folder).run(printError) { measurements in
                try add(
                    measurements.map { measurement in
                        var measurement = measurement
                        if !hasBars { measurement.bar = .none }
                        return measurement
                    })
            }
        }
        return rows
    }

    private func isWanted(_ workload: String, _ parts: [String]) -> Bool {
        guard arguments.workloads.isEmpty || arguments.workloads.contains(workload) else { return false }
        return arguments.parts.isEmpty || !arguments.parts.isDisjoint(with: parts.isEmpty ? [workload] : parts)
    }

    private func readFile(_ path: String) throws -> String {
        do { return String(decoding: try RealFileSystem().readAll(path, atMost: 1 << 30), as: UTF8.self) } catch {
            throw UsageError(message: "\(path) cannot be read: \(error)")
        }
    }

    private func makeFolders(_ path: String) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for count in 1...parts.count { mkdir(parts[..<count].joined(separator: "/"), 0o755) }
        guard access(path, W_OK) == 0 else { throw UsageError(message: "\(path) is no folder that can be written to") }
    }

    private func makeFolder() throws -> String {
        let base = getenv("STRATA_BENCH_DIR").map { String(cString: $0) } ?? "/var/tmp"
        return try TemporaryDirectory.make("strata-bench", in: base)
    }

    private func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw BenchError(message: "\(path) cannot be written") }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else { throw BenchError(message: "\(path) could not be written whole") }
    }
}

struct BenchError: Error, CustomStringConvertible {
    var message: String
    var description: String { message }
}

/// Standard error, without the C library's global stream.
func printError(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

func secondsNow() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}
