/// What the caller asked for.
struct Arguments {
    static let help = """
        usage: tools/bench [WORKLOAD…] [--quick] [--rounds N] [--only PART] [--json FILE]

        Runs the workloads (all of them unless some are named) against their peers, rounds alternating,
        and compares medians with the bars. Exit 0: all bars met; 1: a bar was missed; 2: wrong usage;
        3: it could not be run.

        workloads: \(Runner.workloads.map(\.name).joined(separator: ", "))
        --quick      every metric at a smaller size, in under a minute
        --rounds N   how often each side is measured; 7, or 3 when quick, unless told
        --only PART  of one workload: \(Runner.parts.joined(separator: ", "))
        --json FILE  also writes one JSON object per metric and line
        """

    var workloads: [String] = []
    var isQuick = false
    /// Nil for as many as the size has.
    var rounds: Int?
    var part: String?
    var jsonPath: String?
    var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--help", "-h": showsHelp = true
            case "--quick": isQuick = true
            case "--rounds":
                guard let rounds = words.next().flatMap(Int.init), (1...99).contains(rounds) else {
                    throw UsageError(message: "--rounds needs a number from 1 to 99")
                }
                self.rounds = rounds
            case "--only":
                guard let part = words.next(), Runner.parts.contains(part) else {
                    throw UsageError(message: "--only needs one of \(Runner.parts.joined(separator: ", "))")
                }
                self.part = part
            case "--json":
                guard let path = words.next() else { throw UsageError(message: "--json needs a file") }
                jsonPath = path
            case _ where word.hasPrefix("-"): throw UsageError(message: "unknown option \(word)")
            case _ where Runner.workloads.contains { $0.name == word }: workloads.append(word)
            default: throw UsageError(message: "unknown workload \(word)")
            }
        }
    }
}

struct UsageError: Error {
    var message: String
}
