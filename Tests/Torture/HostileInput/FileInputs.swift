import Foundation
import StrataModel
import TestSupport

/// Files and words for the tool: exports that were changed, and arguments that mean nothing.
struct FileInputs {
    private let folder: String
    private let sample: SampleStore
    private let export: Data
    private let tool = ToolInProcess()

    init(_ folder: String, seed: UInt64) throws {
        self.folder = folder
        sample = try SampleStore(0, at: "\(folder)/Sample.strata", scratch: folder, seed: seed)
        guard tool.run(["export", sample.path], output: "\(folder)/export") == 0 else {
            throw StrataError(.inputOutput, "The sample could not be exported.")
        }
        export = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/export"))
    }

    private func expect(_ code: Int32, _ words: [String]) {
        if !(0...3).contains(code) { Telling.wrong("strata \(words.joined(separator: " ")) ends with \(code)") }
    }

    func importFile(_ generator: inout SeededGenerator) throws {
        var data = export
        switch generator.next(below: 4) {
        case 0: data = data.prefix(generator.next(below: data.count))
        case 1: data.insert(contentsOf: generator.nextBytes(20), at: generator.next(below: data.count))
        default: data[generator.next(below: data.count)] ^= 1 << UInt8(generator.next(below: 8))
        }
        let (file, target) = ("\(folder)/changed", "\(folder)/Imported.strata")
        try data.write(to: URL(fileURLWithPath: file))
        let words = ["import", target, file] + (generator.next(below: 2) == 0 ? ["--partial"] : [])
        let code = tool.run(words)
        expect(code, words)
        guard code == 0 else { return }
        // What it makes is a store.
        if tool.run(["verify", target]) != 0 { Telling.wrong("an import made a store that does not verify") }
        try FileManager.default.removeItem(atPath: target)
    }

    private static let words = [
        "--user", "anna", "--zone", "A", "--json", "--limit", "-1", "99999999999999999999", "0", "4", "4..2", "..",
        "@-9y",
        "@2026-13-45", "--before", "--where", "n >", "((((", "--color", "always", "--", "-", "--help", "\u{1b}[2J", "",
        "Note", "mark", "--at", "1e9", "--follow=no", "--sort", "number", "-e", "step 99999999", "--database", "public",
        "--fields", ",,,", "--token", "AAAA", "//", "--drop", "1-3", "--deep", "--bytes", "~", "%s%n",
    ]

    func arguments(_ generator: inout SeededGenerator) throws {
        let command = ToolInProcess.lines[generator.next(below: ToolInProcess.lines.count)][0]
        let more = (0..<generator.next(below: 5)).map { _ in Self.words[generator.next(below: Self.words.count)] }
        let words = [command] + (generator.next(below: 8) == 0 ? [] : [sample.path]) + more
        expect(tool.run(words), words)
    }
}
