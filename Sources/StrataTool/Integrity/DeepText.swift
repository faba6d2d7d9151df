import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// Prints the result of `verify --deep` for people.
struct DeepText {
    let report: DeepReport
    let output: Output

    /// Each line starts with a line break, because the output before it does not end with one.
    func write() {
        writeViews()
        writeAssets()
        if report.isErasing { note("an erasure was started but not finished; the next program that writes ends it") }
    }

    // MARK: Views

    private func writeViews() {
        if let damage = report.logDamage {
            heading("log damaged: a commit does not fit the commits before it", .damage)
            return line("\(damage)")
        }
        guard let finding = report.finding else {
            return note("there is no page file; the next program that writes builds one")
        }
        guard let newest = report.checkpoints.last else { return writeMissing(finding) }
        let checkpoint = "the checkpoint at \(newest.position.offset)"
        if report.pageDamage.isEmpty, report.differences.isEmpty, report.checkpoints.allSatisfy(\.isWhole) {
            let kept = report.checkpoints.count - 1
            heading(
                "views ok: \(checkpoint) has the same \(report.entryCount.counted("entry", "entries")) as "
                    + "a fresh fold of the log, in \(report.pageCount.counted("page"))"
                    + (kept > 0 ? "; digests of \(kept.counted("older one")) match too" : ""), .added)
        } else {
            writeDifferences(checkpoint)
            line("advice: 'strata rebuild-views' rebuilds the page file from the log, which is intact")
        }
        writeViewNotes(newest)
    }

    private func writeMissing(_ finding: PageFileFinding) {
        if report.isPageFileDamaged {
            heading("views damaged: no checkpoint can be used, the page file is \(finding.rawValue)", .damage)
        } else if report.wasOutrun {
            note("a writer replaced the page file's checkpoints too fast to compare one")
        } else {
            note(
                "no checkpoint of the page file can be used, it is \(finding.rawValue); the next program rebuilds it"
            )
        }
        lines(report.reasons.map { "\($0)" })
    }

    private func writeDifferences(_ checkpoint: String) {
        if !report.pageDamage.isEmpty {
            heading("views damaged: \(report.pageDamage.count.counted("page"))", .damage)
            lines(report.pageDamage.map { "\($0)" })
        }
        for found in report.checkpoints where !found.isWhole {
            heading("views differ: the digests of the checkpoint at \(found.position.offset)", .damage)
            line("expected: \(Self.text(found.expected))")
            if let noted = found.noted, noted != found.expected { line("noted: \(Self.text(noted))") }
            if let sum = found.found, sum != found.expected { line("sum of its trees: \(Self.text(sum))") }
        }
        guard !report.differences.isEmpty else { return }
        let isMore = report.differences.count >= ScrubReport.maximumDifferences
        let count = report.differences.count.counted("entry", "entries")
        heading("views differ: \(isMore ? "at least " : "")\(count) of \(checkpoint)", .damage)
        if let offset = report.firstOffset { line("first commit that produced one of them: \(offset)") }
        let order = report.differences.sorted { ($0.offset ?? .max) < ($1.offset ?? .max) }
        lines(
            order.map { difference in
                let place = difference.offset.map { "commit \($0)" } ?? "no known commit"
                return "\(difference.kind.rawValue) in \(difference.tree): \(difference.entry), from \(place)"
            })
    }

    private func writeViewNotes(_ newest: DeepReport.Checkpoint) {
        if report.end > newest.position.offset {
            note("the log continues after the checkpoint, up to commit \(report.end)")
        }
        if report.wasOutrun { note("a writer was too fast for the newest checkpoint; an older one was compared") }
        for reason in report.reasons { note("another checkpoint cannot be used: \(reason)") }
    }

    private static func text(_ digests: Digests) -> String {
        "state \(hexadecimal(digests.state)), content \(hexadecimal(digests.content))"
    }

    // MARK: Assets

    private func writeAssets() {
        guard report.logDamage == nil else { return }
        let files = report.assetCount.counted("file")
        if report.assetProblems.isEmpty {
            heading("assets ok: \(files), \(report.assetBytes.counted("byte"))", .added)
        } else {
            heading("assets damaged: \(report.assetProblems.count) of \(files)", .damage)
            lines(report.assetProblems.map(Self.text))
        }
        if !report.strayFiles.isEmpty {
            note("\(report.strayFiles.count.counted("file")) that no commit names:")
            lines(report.strayFiles)
        }
    }

    private static func text(_ problem: DeepReport.AssetProblem) -> String {
        let place = "\(problem.path), named by commit \(problem.offset)"
        return switch problem.kind {
        case .missing: "missing: \(place)"
        case .size: "\((problem.foundBytes ?? 0).counted("byte")) instead of \(problem.expectedBytes): \(place)"
        case .content: "content does not match its name: \(place)"
        case .unreadable: "cannot be read: \(place): \(problem.error.map { "\($0)" } ?? "")"
        }
    }

    // MARK: Lines

    private func heading(_ text: String, _ ink: TextStyle) {
        output.write("\n")
        output.write(Printable.escaped(text), ink)
    }

    private func note(_ text: String) { output.write("\nnote: " + Printable.escaped(text)) }
    private func line(_ text: String) { output.write("\n  " + Printable.escaped(text)) }

    private func lines(_ texts: [String]) {
        for text in DamageText.limited(texts) { line(text) }
    }
}
