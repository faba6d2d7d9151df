/// An environment variable that stands for what most command lines repeat.
enum CommandVariable: String, CaseIterable, Sendable {
    /// The store of a command that only reads it.
    case store = "STRATA_STORE"
    /// The user whose database a command reads, or as whom it acts.
    case user = "STRATA_USER"

    /// The meaning, for the help.
    var help: String {
        switch self {
        case .store:
            "the store of a command that only reads it, if the first argument is neither a directory nor an address"
        case .user: "the default of --user in commands that read a user's database or act as a user"
        }
    }

    /// Returns the values of the variables that are set and not empty.
    static func values(_ environment: (String) -> String? = Environment.text) -> [CommandVariable: String] {
        let values = allCases.map { ($0, environment($0.rawValue) ?? "") }
        return Dictionary(uniqueKeysWithValues: values.filter { !$0.1.isEmpty })
    }

    /// Returns the sentence that names the variables from which parts of a command line come; nil for none.
    static func origin(_ variables: Set<CommandVariable>) -> String? {
        let parts = allCases.filter(variables.contains).map {
            "the \($0 == .store ? "store" : "user") is that of \($0.rawValue)"
        }
        guard let first = parts.first else { return nil }
        return first.prefix(1).uppercased() + parts.joined(separator: ", ").dropFirst() + "."
    }
}
