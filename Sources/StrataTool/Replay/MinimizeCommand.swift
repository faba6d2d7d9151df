import Foundation
import StrataModel
import StrataReplay
import StrataStore

/// `strata minimize`: a minimal set of commits after which a predicate holds.
enum MinimizeCommand: Command {
    static let name = "minimize"
    static let summary = "find the few commits that are needed for a predicate to hold"
    static let details =
        "It looks for a small set of the log's requests after which a record of TYPE, or the one that --record names, "
        + "matches the predicate, as it does at the moment that --at names, or else after the commit that 'strata "
        + "bisect' finds: the first one after which it holds. It leaves out "
        + "whatever it can: commits, their items, invitations and permissions of shares, and with --keys the keys that "
        + "they save, until nothing more can be removed. Each trial judges the remaining requests by the rules; a "
        + "change tag that was never created is replaced by the one before it. It prints the remaining commits. --out "
        + "saves them as a store, and --test as a Swift test that does the same through CloudKit's API, each device "
        + "with the records that it held, and fails. If interrupted, it prints what it has found by then. Exits with 1 "
        + "if the predicate does not hold then, or if more could be removed. The store is only read."
    static let operands = [
        Operand.store, Operand(name: "TYPE", help: "the record type, such as Note", isRequired: true),
    ]
    static let out = Option.text(
        "--out", "NEWSTORE", help: "save the result as a new store; the path must not exist yet")
    static let test = Option.text("--test", "FILE.swift", help: "write a Swift test of the result; - prints it")
    static let at = Option.point(
        "the point at which the predicate holds, by default the first commit after which it does")
    static let keys = Option.flag(
        "--keys", help: "also leave out keys of saves, though the predicate may then hold for another reason")
    static let knownIssue = Option.flag(
        "--known-issue",
        help: "make the test a known issue: it passes while its expectation fails, and fails once it does not")
    static let options: [any OptionDescription] = [
        BisectCommand.predicate.required, BisectCommand.record, DatabaseOptions.zone, DatabaseOptions.user,
        DatabaseOptions.database, DatabaseOptions.owner, at, keys, WhatIfCommand.rules, out, test, knownIssue,
        Option.json,
    ]
    static let examples = [
        "strata minimize Notes.strata Note --where \"rank > 3\" --user anna",
        "strata minimize Notes.strata Note --where \"rank > 3\" --user anna --record milk --out Few.strata",
        "strata minimize Notes.strata Note --where \"title == nil\" --user anna --test LostTitle.swift",
    ]

    /// It may take a while and reports its progress.
    static func isPaged(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let text = arguments[BisectCommand.predicate] else {
            throw UsageError("there is nothing to search for: give --where PREDICATE")
        }
        if arguments[knownIssue], !arguments.has(test) { throw UsageError("--known-issue is for --test FILE.swift") }
        if arguments[test] == "-", arguments[Option.json] { throw UsageError("--test - and --json cannot be combined") }
        let predicate = try QueryRequest.predicate(text, of: BisectCommand.predicate.name)
        _ = try DatabaseOptions(arguments)
        let options = arguments[WhatIfCommand.rules] ?? .service
        do {
            return try StateAccess.read(
                arguments.store, at: arguments[Option.at], options: options, by: name, output
            ) { access in
                var question = try NamedPlace(access.store).question(
                    arguments, predicate, of: BisectCommand.predicate.name, by: name)
                question.record = arguments[BisectCommand.record]
                do {
                    guard let first = try firstOffset(question, access.store, arguments) else {
                        return try answer(question, arguments, of: access, first: nil, to: output)
                    }
                    let past = try access.asOf(first, options: options)
                    defer { try? past.store.close() }
                    return try answer(question, arguments, of: past, first: first, to: output)
                } catch let error as StrataError
                    where [.alreadyExists, .notFound, .interrupted].contains(error.code)
                {
                    try output.flush()
                    return Diagnostics.refuse(error.description, code: error.code, by: name)
                }
            }
        } catch let error as StrataError where error.code == .invalidArgument {
            try output.flush()
            throw UsageError(error.description)
        }
    }

    /// Returns the first commit after which the predicate holds; nil if a moment was named, or if it is the last one,
    /// or if there is none.
    private static func firstOffset(
        _ question: BisectionQuestion, _ store: Store, _ arguments: Arguments
    ) throws -> UInt64? {
        guard !arguments.has(Option.at) else { return nil }
        let bisection = try Bisection(of: store, question, from: store.log.floor.offset, to: store.offset)
        let answer = try bisection.answer(limit: 1)
        guard !answer.holdsAtStart, let first = answer.flips.first?.offset, first < store.offset else { return nil }
        return first
    }

    /// - Parameter first: the commit that was chosen because the predicate first holds after it; nil for none.
    private static func answer(
        _ question: BisectionQuestion, _ arguments: Arguments, of access: StateAccess, first: UInt64?,
        to output: Output
    ) throws -> ExitCode {
        // Unwritable paths are reported before the work is done.
        let newStore = try arguments[out].map { try WhatIfStore($0, of: access, arguments.store) }
        let testFile = try arguments[test].map { try ExportOutput($0, store: arguments.store, standard: output) }
        let (history, written): (MinimalHistory, MinimalTest?)
        do { (history, written) = try find(question, access.store, arguments) } catch {
            testFile?.discard()
            throw error
        }
        if let testFile, let written {
            _ = try testFile.write { output in
                output.write(written.text)
                return true
            }
        }
        let report = try MinimizationReport(access.store, arguments, first: first, output)
        // A printed test stands alone.
        if arguments[test] == "-", let choice = report.choice { Diagnostics.note(choice, by: name) }
        if arguments[test] != "-" { for request in history.requests { try report.write(request) } }
        try newStore?.make { log, didFinish in try history.write(of: access.store, into: log, didFinish) }
        if arguments[test] != "-" { try report.writeEnd(history, written) }
        try output.flush()
        if !history.isComplete { Diagnostics.remark("interrupted: more might be removable", by: name) }
        return history.isComplete ? .success : .no
    }

    /// Returns the minimal history, and its test if requested.
    private static func find(
        _ question: BisectionQuestion, _ store: Store, _ arguments: Arguments
    ) throws -> (MinimalHistory, MinimalTest?) {
        let history = try search(question, store, arguments)
        guard let file = arguments[test] else { return (history, nil) }
        let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        let source = URL(fileURLWithPath: arguments.store).lastPathComponent
        return (history, try MinimalTest(of: history, named: name, from: source, isKnownIssue: arguments[knownIssue]))
    }

    private static func search(
        _ question: BisectionQuestion, _ store: Store, _ arguments: Arguments
    ) throws -> MinimalHistory {
        var minimization = Minimization(of: store, question)
        minimization.reducesKeys = arguments[keys]
        if arguments.has(WhatIfCommand.rules) { minimization.rules = store.rules }
        StopRequest.listen()
        defer { StopRequest.end() }
        minimization.isStopped = { StopRequest.hasCome }
        return try minimization.run { progress in
            let left = progress.requestCount.counted("commit")
            Progress.note(
                progress.readThrough.map { "reading commit \($0)" }
                    ?? "\(left) left, \(progress.trialCount.counted("history", "histories")) tried")
        }
    }
}
