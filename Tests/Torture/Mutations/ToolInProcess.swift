import Glibc
import StrataTool

/// Commands of the tool without a process for each: one that ends this process is a trap of the batch.
struct ToolInProcess {
    private let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)

    /// Commands that read a store; its path comes behind the first word.
    static let lines: [[String]] = [
        ["info"], ["stats"], ["log"], ["log", "--patch", "--json"], ["show", "4"], ["explain", "4", "--notifications"],
        ["segments"], ["frames", "--json"], ["dump"], ["verify"], ["verify", "--deep"], ["repair"],
        ["records", "--user", "user-0"], ["query", "Note", "--user", "user-1"], ["zones"], ["subscriptions"], ["users"],
        ["diff", "3"], ["feed", "A", "--user", "user-0"], ["play", "--user", "user-0"],
        ["history", "mark", "--user", "user-0", "--zone", "A"], ["blame", "mark", "--user", "user-0", "--zone", "A"],
        ["get", "mark", "--user", "user-0", "--zone", "A"], ["device", "user-0", "d0"], ["verify", "--judge"],
        ["report", "-"], ["what-if", "--drop", "4"], ["compact", "--before", "4"], ["rebuild-views"],
        ["debug", "-e", "step", "-e", "list"], ["bisect", "Note", "--where", "number > 9", "--user", "user-0"],
    ]

    /// - Parameters:
    ///   - output: The file that receives what the command prints; nil for none.
    ///   - errors: The file that receives its error messages; nil for none.
    func run(_ words: [String], output: String? = nil, errors: String? = nil) -> Int32 {
        let targets = [output, errors].map { path in
            path.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) } ?? nowhere
        }
        let own = (dup(1), dup(2))
        dup2(targets[0], 1)
        dup2(targets[1], 2)
        defer {
            dup2(own.0, 1)
            dup2(own.1, 2)
            for descriptor in [own.0, own.1] + targets where descriptor != nowhere { close(descriptor) }
        }
        let texts = words.map { strdup($0) }
        defer { for text in texts { free(text) } }
        return Tool.run(texts.compactMap { $0.map { UnsafePointer($0) } }).rawValue
    }
}
