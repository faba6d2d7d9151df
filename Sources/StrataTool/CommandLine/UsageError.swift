/// A command line that cannot be understood, with an explanation.
struct UsageError: Error, Sendable {
    var problem: String
    /// The word that was probably meant.
    var suggestion: String?
    /// The accepted values, each printed on a line of its own.
    var list: [String]

    init(_ problem: String, suggestion: String? = nil, list: [String] = []) {
        self.problem = problem
        self.suggestion = suggestion
        self.list = list
    }

    /// - Parameter command: the command whose help to suggest; nil for the tool's own.
    func message(for command: String?) -> String {
        let hint = suggestion.map { "; did you mean \($0)?" } ?? ";"
        return "\(problem)\(hint) see 'strata help\(command.map { " " + $0 } ?? "")'"
    }
}
