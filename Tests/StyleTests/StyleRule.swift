/// Something a rule has to complain about.
struct Finding: Sendable, Equatable, CustomStringConvertible {
    let path: String
    /// From 1.
    let line: Int
    /// What is wrong, and what to do.
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

/// A rule of style that looks at files, which tests can make up.
protocol StyleRule: Sendable {
    func findings(in files: [SourceFile]) -> [Finding]
}

/// A rule that needs no file but the one it looks at.
protocol FileRule: StyleRule {
    func findings(in file: SourceFile) -> [Finding]
}

extension FileRule {
    func findings(in files: [SourceFile]) -> [Finding] { files.flatMap { findings(in: $0) } }
}

extension SourceFile {
    /// A finding at a line, from 0.
    func finding(_ line: Int, _ message: String) -> Finding {
        Finding(path: path, line: line + 1, message: message)
    }
}

/// All rules by name; each must have samples in ``RuleSamples``.
enum StyleRules {
    static let all: [(name: String, rule: any StyleRule)] = [
        ("file length", FileLengthRule()),
        ("function length", FunctionLengthRule()),
        ("line length", LineLengthRule()),
        ("labels", LabelsRule()),
        ("circles", CirclesRule()),
        ("blanks", BlanksRule()),
        ("leftovers", LeftoversRule()),
        ("foreign words", ForeignWordsRule()),
        ("banned calls", BannedCallsRule()),
        ("force unwrap", ForceUnwrapRule()),
        ("unchecked", UncheckedRule()),
        ("imports", ImportsRule()),
        ("dependencies", DependenciesRule()),
        ("unused files", UnusedFilesRule()),
        ("folder size", FolderSizeRule()),
        ("module lines", ModuleLinesRule()),
        ("file name", FileNameRule()),
        ("page paths", PagePathsRule()),
        ("plain words", PlainWordsRule()),
        ("page budgets", PageBudgetRule()),
        ("public surface", PublicSurfaceRule()),
        ("rule citations", RuleCitationsRule()),
    ]
}
