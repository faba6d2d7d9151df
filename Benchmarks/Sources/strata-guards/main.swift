import Glibc
import TestSupport

/// Compares what common operations cost, in counts that do not depend on the clock, with committed limits.
let help = """
    usage: strata-guards LIMITS [--update | --canary]

    Counts allocations, retains and system calls of common operations, for each save, record or hit, over all
    threads, and compares them with the limits in a file. Instructions are shown where the machine has a counter.
    Where no program may be traced, system calls are left out with a notice. Then counts the bytes, writes and syncs of
    200,000 saves on a simulated disk, whose limits are in Tests/Support/WriteGuard.swift.

    --update   writes limits a tenth above what was measured
    --canary   measures operations that cost twice as much as they should, and fails unless each count notices it
    Ends with 0 if all limits hold, 1 if one is exceeded, 2 for wrong usage, 3 if nothing could be measured.
    """

func printError(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

/// Measures all costs of a run's operations.
func guards(of run: GuardRun, _ limits: GuardLimits) throws -> [Guard] {
    let (costs, unitCounts) = try run.counted()
    let calls = try run.systemCalls(of: "/proc/self/exe", unitCounts: unitCounts)
    if calls == nil { printError("notice: no program may be traced here; system calls are skipped") }
    if costs.allSatisfy({ $0[.instructions] == nil }) {
        printError("notice: this machine has no counter of instructions; they are skipped")
    }
    return run.operations.indices.flatMap { index in
        let name = run.operations[index].operation.name
        return Guard.Cost.allCases.compactMap { cost -> Guard? in
            let measured = cost == .systemCalls ? calls?[index] : costs[index][cost]
            return measured.map { Guard(operation: name, cost: cost, measured: $0, limit: limits[name, cost]) }
        }
    }
}

func run(_ words: [String]) throws -> Int32 {
    for run in [GuardRun.all, .canary] where words.first == run.tracedWord {
        try run.runTraced()
        return 0
    }
    guard let path = words.first, !path.hasPrefix("-"), words.count <= 2,
        words.count == 1 || ["--update", "--canary"].contains(words[1])
    else {
        printError(help)
        return 2
    }
    let isUpdate = words.last == "--update"
    let limits = try GuardLimits(reading: isUpdate ? "" : try read(path))
    if words.last == "--canary" {
        // A fetch makes next to no system calls, once or twice.
        let missed = try guards(of: .canary, limits).filter { item in
            let isLarge = item.cost != .systemCalls || item.operation == GuardedOperation.savingTwice.name
            return isLarge && item.cost != .instructions && item.measured <= item.limit ?? .infinity
        }
        for item in missed { printError("\(item.operation): twice the \(item.cost.rawValue) were not noticed") }
        let missedWrites = try WriteGuard.many.run(isDoubled: true).filter { !$0.isExceeded }
        for item in missedWrites { printError("\(item): twice as much was not noticed") }
        guard missed.isEmpty, missedWrites.isEmpty else { return 1 }
        printError("the canaries were noticed")
        return 0
    }
    let guards = try guards(of: .all, limits)
    for item in guards {
        let limit = item.limit.map { "≤ \($0)" } ?? "no limit"
        let line = [
            padded(item.operation, to: 30), padded(item.cost.rawValue, to: 14),
            padded("\((item.measured * 100).rounded() / 100)", to: 12), padded(limit, to: 12),
        ]
        print(line.joined() + (isUpdate || item.holds ? "" : item.isCounted ? "EXCEEDED" : "NOT COUNTED"))
    }
    guard isUpdate else {
        let writes = try WriteGuard.many.run()
        for item in writes { print("\(item)\(item.holds ? "" : item.isExceeded ? " EXCEEDED" : " NOT COUNTED")") }
        return guards.allSatisfy(\.holds) && writes.allSatisfy(\.holds) ? 0 : 1
    }
    let lines = guards.map { "\($0.operation)\t\($0.cost.rawValue)\t\($0.suggestedLimit)\n" }
    try write("# operation, cost, and the limit for each save, record or hit\n" + lines.joined(), to: path)
    return 0
}

func read(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw GuardError(message: "\(path) cannot be read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw GuardError(message: "\(path) cannot be written") }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw GuardError(message: "\(path) could not be written whole") }
}

do { exit(try run(Array(CommandLine.arguments.dropFirst()))) } catch {
    printError("strata-guards: \(error)")
    exit(3)
}
