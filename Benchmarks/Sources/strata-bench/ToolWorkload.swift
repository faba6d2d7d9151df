import Glibc
import StrataSystem

/// `strata`, run as people run it, on a store of a million commits.
struct ToolWorkload: Workload {
    static let name = "tool"

    enum Part: String, CaseIterable {
        case streaming, lookups, state
    }

    /// A command line, what is demanded of it, and what each run came to.
    private struct Case {
        var title: String
        /// Without the store, which comes behind the first word.
        var words: [String]
        var exitCode = 0
        /// Commits that pass by in a second.
        var isRate = false
        /// Nil where nobody waits for the first line.
        var firstLineBar: Measurement.Bar?
        var timeBar = Measurement.Bar.none
        var memoryBar = Measurement.Bar.atMost(128)
        var runs: [ToolRun] = []
    }

    let size: WorkloadSize
    let folder: String

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    private var commitCount: Int { ToolStore.commitCount(size) }

    /// Beside this program, which `tools/bench` builds with it.
    private var tool: String {
        get throws {
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("/proc/self/exe", &path, path.count)
            let program = String(decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let tool = program.dropLast(program.reversed().prefix { $0 != "/" }.count) + "strata"
            guard access(String(tool), X_OK) == 0 else { throw BenchError(message: "\(tool) has not been built") }
            return String(tool)
        }
    }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        let tool = try tool
        let (path, isKept) = try ToolStore.find(in: folder, size, progress)
        defer { if !isKept { removeTree(path) } }
        var cases = Part.allCases.filter { size.includes($0.rawValue) }.flatMap { self.cases($0) }
        for round in 0..<size.rounds {
            for index in cases.indices where round == 0 || cases[index].runs[0].milliseconds < 3_000 {
                let words = cases[index].words
                if round == 0 { progress("tool: strata \(cases[index].title)") }
                let run = try ToolRun(tool, [words[0], path] + words[1...], folder: folder)
                guard run.exitCode == cases[index].exitCode else {
                    throw BenchError(message: "'strata \(cases[index].title)' ended with \(run.exitCode)")
                }
                cases[index].runs.append(run)
            }
        }
        return cases.flatMap(measurements)
    }

    private func measurements(_ one: Case) -> [Measurement] {
        func measured(
            _ what: String, _ unit: String, _ bar: Measurement.Bar, _ figure: (ToolRun) -> Double
        ) -> Measurement {
            Measurement(
                workload: Self.name, metric: "\(one.title): \(what)", unit: unit, strata: one.runs.map(figure),
                bar: bar)
        }
        var all: [Measurement] = []
        if let bar = one.firstLineBar { all.append(measured("first line", "ms", bar) { $0.firstLineMilliseconds }) }
        if one.isRate {
            all.append(
                measured("commits", "commits/s", one.timeBar) { Double(commitCount) * 1_000 / $0.milliseconds })
        } else {
            all.append(measured("time", "ms", one.timeBar) { $0.milliseconds })
        }
        all.append(measured("memory", "MiB", one.memoryBar) { $0.peakMebibytes })
        return all
    }

    // MARK: Command lines

    private func cases(_ part: Part) -> [Case] {
        switch part {
        case .streaming:
            streamingCases.map { title in
                let isPlain = title == "log --oneline"
                return Case(
                    title: title, words: words(title), isRate: true,
                    firstLineBar: isPlain ? .atMost(100) : title.hasPrefix("log") ? Measurement.Bar.none : nil,
                    timeBar: isPlain ? .atLeast(200_000) : .none)
            }
        case .lookups:
            lookupCases.map { title, bar in Case(title: title, words: words(title), timeBar: bar) }
        case .state:
            // These fold the log; there is no bar for that.
            ["stats --compaction", "export --records"].map { title in
                Case(title: title, words: words(title), isRate: true, memoryBar: .none)
            } + pastCases
        }
    }

    /// Commands that fold the past, or judge it again.
    private var pastCases: [Case] {
        func fold(_ title: String) -> Case { Case(title: title, words: words(title), memoryBar: .none) }
        let middle = commitCount / 2
        var (explain, diff) = (fold("explain \(middle)"), fold("diff \(middle)"))
        var (whatIf, play) = (fold("what-if --drop 1000"), fold("play"))
        (explain.timeBar, diff.timeBar, whatIf.firstLineBar) = (.atMost(100), .atMost(1_000), .atMost(2_000))
        (diff.exitCode, whatIf.exitCode) = (1, 1)
        (play.isRate, play.timeBar) = (true, .atLeast(50_000))
        return [explain, diff, whatIf, play]
    }

    private var streamingCases: [String] {
        [
            "log --oneline", "log --oneline --reverse", "log", "log --stat", "log --patch", "log --json",
            "log --oneline --user bert", "log --oneline --where rank>8", "log --oneline --outcome refused",
            "log --oneline --zone Counters", "stats", "frames", "export",
        ]
    }

    private var lookupCases: [(String, Measurement.Bar)] {
        let note = ToolStore.note(ToolStore.askedNote)
        let counter = "\(ToolStore.counter) --user \(ToolStore.user)"
        let few = Measurement.Bar.atMost(50)
        return [
            ("info", few), ("history \(note)", few), ("blame \(note)", few), ("history \(counter) -n 5", few),
            ("blame \(counter)", few), ("history \(counter)", .none), ("log --oneline -n 10", few),
            ("log --oneline --record \(note)", few), ("log --oneline --where rank>8 -n 10", few),
            ("frames --from 500000 --to 500010", .none),
        ]
    }

    private func words(_ title: String) -> [String] { title.split(separator: " ").map { String($0) } }
}
