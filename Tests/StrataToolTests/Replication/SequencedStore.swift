import Foundation
import StrataLog
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem
import TestSupport
import Testing

/// A store on a sequencer in a directory, for tests of the tool: its copies and its entries.
final class SequencedStore {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    var sequence: String { directory.path("Notes.sequence") }
    var address: String { "file://" + sequence }

    func path(_ name: String) -> String { directory.path(name) }

    func run(_ words: String...) throws -> ToolResult { try run(words) }
    func run(_ words: [String]) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    /// Runs a command that must succeed and has nothing to say about problems.
    @discardableResult
    func succeed(_ words: String...) throws -> String {
        let result = try run(words)
        try #require(result.code == 0 && result.errors.isEmpty, "\(words): \(result)")
        return result.output
    }

    /// Runs a command that must fail, and returns what it says.
    func fail(_ words: String..., code: Int32) throws -> String {
        let result = try run(words)
        #expect(result.code == code && result.output.isEmpty, "\(words): \(result)")
        #expect(result.errors.hasPrefix("strata \(words[0]): "), "\(words): \(result.errors)")
        return result.errors
    }

    /// The object that a command prints with `--json`.
    func object(_ words: String...) throws -> [String: Any] {
        let result = try run(words + ["--json"])
        try #require(result.lines.count == 1, "\(words): \(result)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(words)")
    }

    /// Opens a store in a directory, on the sequencer or alone.
    func open(_ name: String, alone: Bool = false) throws -> Store {
        var options = StoreOptions.service
        if !alone { options.place = .directory(sequence) }
        return try Store.open(at: path(name), options: options)
    }

    func save(_ record: String, to store: Store, title: String? = nil) throws {
        var request = RequestBuilder(DatabaseID(.public), policy: .allKeys)
        request.save(
            RecordID(record, zone: ZoneID("_defaultZone")), type: "Item", fields: ["title": .string(title ?? record)])
        _ = try store.modify(request.request, as: Actor(user: "anna"))
    }

    /// Writes records to a store that no sequencer orders, one commit for each.
    func write(_ records: Range<Int>, to name: String) throws {
        let store = try open(name, alone: true)
        defer { try? store.close() }
        for record in records { try save("record-\(record)", to: store) }
    }

    // MARK: The entries

    var entryCount: Int {
        get throws { try entries().count }
    }

    private func entries() throws -> [String] {
        let files = RealFileSystem()
        return try files.list(sequence).filter { $0.count == 20 }.flatMap { folder in
            try files.list("\(sequence)/\(folder)").map { "\(sequence)/\(folder)/\($0)" }
        }.sorted()
    }

    /// Removes the last entries, as no sequencer may.
    func lose(_ count: Int) throws { for path in try entries().suffix(count) { try RealFileSystem().remove(path) } }

    func commits(_ name: String) throws -> [Commit] {
        let log = try LogReader.open(at: path(name), extent: .written)
        var cursor = try log.read(from: 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }
}
