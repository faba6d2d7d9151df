import Glibc
import StrataLog
import StrataStore
import StrataSystem

/// A group of metrics that are measured together.
protocol Workload {
    func run(_ progress: (String) -> Void) throws -> [Measurement]
}

/// A workload of parts that each work on stores of their own in a folder.
protocol StoreFolderWorkload: Workload {
    associatedtype Part: RawRepresentable<String>
    var size: WorkloadSize { get }
    var folder: String { get }
}

extension StoreFolderWorkload {
    func isWanted(_ part: Part) -> Bool { size.part == nil || size.part == part.rawValue }

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
    /// Nil for all of them.
    var part: String?

    static let full = WorkloadSize(rounds: 7, roundSeconds: 2, isQuick: false)
    static let quick = WorkloadSize(rounds: 3, roundSeconds: 0.4, isQuick: true)

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

    static var parts: [String] { workloads.flatMap(\.parts) }

    let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// Whether all bars were met.
    func run() throws -> Bool {
        let folder = try makeFolder()
        defer { removeTree(folder) }
        var measurements: [Measurement] = []
        for workload in Self.workloads {
            guard arguments.workloads.isEmpty || arguments.workloads.contains(workload.name),
                arguments.part.map({ workload.parts.contains($0) }) ?? true
            else { continue }
            var size = arguments.isQuick ? WorkloadSize.quick : .full
            size.rounds = arguments.rounds ?? size.rounds
            size.part = arguments.part
            let made = workload.make(size, folder)
            measurements += try made.run(printError)
        }
        print(table(measurements))
        if let path = arguments.jsonPath { try write(measurements.map { $0.json + "\n" }.joined(), to: path) }
        return measurements.allSatisfy(\.passes)
    }

    private func table(_ measurements: [Measurement]) -> String {
        var rows = [["metric", "unit", "Strata", "±%", "peer", "value", "±%", "ratio", "bar", ""]]
        for measurement in measurements {
            rows.append([
                "\(measurement.workload): \(measurement.metric)", measurement.unit, measurement.value.short,
                measurement.strata.spreadPercent.rounded().short, measurement.peer ?? "",
                measurement.peerValue?.short ?? "",
                measurement.peer == nil ? "" : measurement.peerValues.spreadPercent.rounded().short,
                measurement.ratio?.short ?? "", measurement.barText, measurement.passes ? "ok" : "MISSED",
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }.joined(separator: "\n")
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

func removeTree(_ path: String) {
    guard let stream = opendir(path) else { return }
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name == "." || name == ".." { continue }
        if unlink("\(path)/\(name)") != 0 { removeTree("\(path)/\(name)") }
    }
    closedir(stream)
    rmdir(path)
}
