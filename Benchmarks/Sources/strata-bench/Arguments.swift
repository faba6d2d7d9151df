import Glibc

/// The command line.
struct Arguments {
    static let help = """
        usage: tools/bench [WORKLOAD…] [--quick] [--rounds N] [--records N] [--only PART]… [--alone]
                           [--json FILE] [--from FILE]… [--compare FILE] [--markdown] [--plots FOLDER]

        Runs the workloads (all of them unless some are named) against their peers, rounds alternating,
        and compares medians with the bars. Exit 0: no bar was missed; 1: one was; 2: wrong usage;
        3: it could not be run.

        workloads: \(Runner.workloads.map(\.name).joined(separator: ", "))
        --quick          every metric at a smaller size; records has bars of its own there, most others have none
        --rounds N       how often each side is measured; 7, or 3 when quick, unless told. `records` does at most 3,
                         or 2 with --quick; some parts have a fixed number
        --records N      how many records there are before, in records and query; STRATA_BENCH_RECORDS sets the
                         default
        --only PART      \(Runner.parts().joined(separator: ", "))
        --alone          leaves the peers of records out, to profile Strata
        --json FILE      also writes one JSON object per metric and line
        --from FILE      measures nothing, and shows the rows of an earlier --json file
        --compare FILE   also shows Strata's figures, ratios, p99, processor times and written bytes beside those of
                         an earlier --json file
        --markdown       shows the tables as Markdown
        --plots FOLDER   also draws growth with the number of records, throughput and latency, as SVG
        """

    var workloads: [String] = []
    var isQuick = false
    /// Nil for as many as the size has.
    var rounds: Int?
    var records: Int?
    var parts: Set<String> = []
    /// True without the peers of the workload `records`.
    var isAlone = false
    var jsonPath: String?
    var sourcePaths: [String] = []
    var comparedPath: String?
    var plotFolder: String?
    var isMarkdown = false
    var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var words = words.makeIterator()
        func value(_ option: String, _ what: String) throws -> String {
            guard let word = words.next(), !word.hasPrefix("-") else {
                throw UsageError(message: "\(option) needs \(what)")
            }
            return word
        }
        func number(_ option: String, _ word: String? = nil, below limit: Int) throws -> Int {
            let what = "a number from 1 to \(limit - 1)"
            guard let number = Int(try word ?? value(option, what)), (1..<limit).contains(number) else {
                throw UsageError(message: "\(option) needs \(what)")
            }
            return number
        }
        if let set = getenv("STRATA_BENCH_RECORDS") {
            records = try number("STRATA_BENCH_RECORDS", String(cString: set), below: Self.recordLimit)
        }
        var measuring: [String] = []
        while let word = words.next() {
            if !Self.wordsBesideFrom.contains(word) { measuring.append(word) }
            switch word {
            case "--help", "-h": showsHelp = true
            case "--quick": isQuick = true
            case "--markdown": isMarkdown = true
            case "--alone": isAlone = true
            case "--rounds": rounds = try number(word, below: 100)
            case "--records": records = try number(word, below: Self.recordLimit)
            case "--only":
                let part = try value(word, "a part")
                guard Runner.parts().contains(part) else {
                    throw UsageError(message: "--only needs one of \(Runner.parts().joined(separator: ", "))")
                }
                parts.insert(part)
            case "--json": jsonPath = try value(word, "a file")
            case "--from": sourcePaths.append(try value(word, "a file"))
            case "--compare": comparedPath = try value(word, "a file")
            case "--plots": plotFolder = try value(word, "a folder")
            case _ where word.hasPrefix("-"): throw UsageError(message: "unknown option \(word)")
            case _ where Runner.workloads.contains { $0.name == word }: workloads.append(word)
            default: throw UsageError(message: "unknown workload \(word)")
            }
        }
        if let word = measuring.first, !sourcePaths.isEmpty {
            throw UsageError(message: "--from measures nothing, and cannot be with \(word)")
        }
        if let part = parts.subtracting(Runner.parts(of: workloads)).min() {
            throw UsageError(message: "\(part) is no part of \(workloads.joined(separator: " or "))")
        }
    }

    private static let recordLimit = 100_000_001
    /// The options that are about rows, from wherever they come.
    private static let wordsBesideFrom: Set = ["--from", "--compare", "--markdown", "--plots", "--help", "-h"]
}

struct UsageError: Error {
    var message: String
}
