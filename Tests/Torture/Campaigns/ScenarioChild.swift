import Foundation
import Glibc
import StrataModel
import StrataStore
import StrataSystem

/// Scenarios within one process, each with a store in a folder.
struct ScenarioChild {
    private let scenario: String
    private let store: String
    private static let actor = Actor(user: "anna")
    private static let own = DatabaseID(.private)

    init(_ words: some Collection<String>) {
        let words = Array(words)
        scenario = words.first ?? ""
        store = (words.last ?? "") + "/Store.strata"
    }

    func run() throws {
        switch scenario {
        case "reopened": try reopened()
        case "truncated": try truncated()
        default: reader()
        }
        Telling.say("done")
    }

    private var options: StoreOptions {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        return options
    }

    private func save(_ number: Int, in store: Store) throws {
        var builder = RequestBuilder(Self.own, policy: .allKeys)
        builder.save(
            RecordID("r\(number)", zone: ZoneID("_defaultZone")), type: "Note",
            fields: ["n": .int64(Int64(number)), "data": .data(SystemRandom().nextBytes(count: 700))])
        _ = try store.modify(builder.request, as: Self.actor).result.saves[0].get()
    }

    private func requireAll(_ numbers: [Int]) throws {
        let store: Store
        do { store = try Store.open(at: self.store, options: options) } catch {
            return Telling.lost("a store with \(numbers.count) acknowledged records does not open: \(error)")
        }
        let ids = numbers.map { RecordID("r\($0)", zone: ZoneID("_defaultZone")) }
        let found = try store.snapshot().records(ids, in: Self.own, as: Self.actor)
        let missing = found.filter { if case .failure = $0 { true } else { false } }.count
        if missing > 0 { Telling.lost("\(missing) of \(numbers.count) acknowledged records are not there") }
        Telling.count("acknowledged", numbers.count)
        try store.close()
    }

    /// A handle is left open while its store is removed and made again.
    private func reopened() throws {
        let old = try Store.open(at: store, options: options)
        try save(0, in: old)
        try FileManager.default.removeItem(atPath: store)
        let new = try Store.open(at: store, options: options)
        var acknowledged: [Int] = []
        for number in 0..<300 {
            try? save(number, in: old)
            do {
                try save(number, in: new)
                acknowledged.append(number)
            } catch { Telling.wrong("a save into the new store fails: \(error)") }
        }
        try? old.close()
        do {
            try save(300, in: new)
            acknowledged.append(300)
        } catch { Telling.wrong("a save into the new store fails after the old one was closed: \(error)") }
        try? new.close()
        try requireAll(acknowledged)
    }

    /// Files that are mapped become shorter under a living store.
    private func truncated() throws {
        var first = 0
        for name in ["views", "log/tail", "LOCK"] {
            var store = try Store.open(at: store, options: options)
            var acknowledged = (first..<first + 100).filter { (try? save($0, in: store)) != nil }
            if first == 0, acknowledged.count != 100 { Telling.wrong("saves fail before anything was done") }
            if name == "views" {
                // Closing writes the first state, whose files the next opening maps.
                try store.close()
                store = try Store.open(at: self.store, options: options)
            }
            try cut(name)
            let later = (first + 100..<first + 150).filter { number in
                retrying { try save(number, in: store) } != nil
            }
            acknowledged += later
            let ids = acknowledged.map { RecordID("r\($0)", zone: ZoneID("_defaultZone")) }
            let found = retrying { try store.snapshot().records(ids, in: Self.own, as: Self.actor) }
            // It may fail, but not give anything else. Views that are damaged once are folded again.
            for case .failure(let refusal) in found ?? [] { Telling.wrong("with \(name) truncated: \(refusal)") }
            if name == "views", found == nil || later.count != 50 {
                Telling.wrong("with views truncated, \(later.count) of 50 saves succeed, and reads \(found != nil)")
            }
            try? store.close()
            try requireAll(acknowledged)
            first += 200
        }
    }

    /// Truncates a file of the store, or all files of a directory.
    private func cut(_ name: String) throws {
        let files = name == "views" ? try RealFileSystem().list("\(store)/views").map { "views/\($0)" } : [name]
        if files.isEmpty { Telling.wrong("there are no files of \(name) to truncate") }
        for file in files where truncate("\(store)/\(file)", 0) != 0 {
            Telling.wrong("\(file) cannot be truncated: error \(errno)")
        }
    }

    /// Calls `body` up to a bound of times until it succeeds; nil if it never does.
    private func retrying<Result>(_ body: () throws -> Result) -> Result? {
        for _ in 0..<20 {
            if let result = try? body() { return result }
            usleep(10_000)
        }
        return nil
    }

    private func reader() {
        let tool = ToolInProcess()
        let lines = [
            ["info"], ["segments"], ["stats"], ["users"], ["zones"], ["export", "\(self.store).jsonl"], ["verify"],
            ["users", "--json"], ["records", "--user", "user-0"], ["feed", "A", "--user", "user-0"],
        ]
        for line in lines + lines + lines {
            unlink("\(store).jsonl")
            let code = tool.run([line[0], store] + line.dropFirst(), errors: "\(store).errors")
            Telling.count("tool commands", 1)
            guard code != 0 else { continue }
            let text = (try? String(contentsOfFile: "\(store).errors", encoding: .utf8)) ?? ""
            let message = text.split(separator: "\n").joined(separator: " ")
            Telling.wrong("beside a writer, strata \(line.joined(separator: " ")) ends with \(code): \(message)")
        }
    }
}
