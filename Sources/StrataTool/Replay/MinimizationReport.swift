import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// Prints the rest of a minimized history.
struct MinimizationReport {
    private let store: Store
    private let arguments: Arguments
    private let output: Output
    private let names: KnownNames
    private var asJSON: Bool { arguments[Option.json] }

    init(_ store: Store, _ arguments: Arguments, _ output: Output) throws {
        (self.store, self.arguments, self.output) = (store, arguments, output)
        names = try BisectionReport.names(in: ContainerState(store))
    }

    func write(_ request: MinimalRequest) throws {
        guard !asJSON else { return try writeJSON(request) }
        guard let commit = try store.log.commit(at: request.offset) else {
            throw StrataError(.outOfRange, "The log has no commit at this offset.", .init(offset: request.offset))
        }
        let envelope = Result { try Envelope(decoding: commit.payload) }.mapError { error in
            error as? StrataError ?? StrataError(.malformed, "The payload cannot be decoded.", cause: error)
        }
        try CommitLine().write(commit, envelope, names, to: output)
        guard !request.isWhole else { return }
        output.write("    only ")
        if request.itemCount < request.originalItemCount {
            output.write("\(request.itemCount) of its \(request.originalItemCount.counted("item"))")
            if request.fieldCount < request.originalFieldCount { output.write(", ") }
        }
        if request.fieldCount < request.originalFieldCount {
            output.write("\(request.fieldCount) of its \(request.originalFieldCount.counted("key"))")
        }
        try output.endLine()
    }

    /// - Parameter test: the test that was written; nil if none was requested.
    func writeEnd(_ history: MinimalHistory, _ test: MinimalTest?) throws {
        if asJSON { try writeJSON(history, test) } else { try writeText(history, test) }
    }

    private var commitCount: UInt64 { store.offset - store.log.floor.offset }

    private func writeText(_ history: MinimalHistory, _ test: MinimalTest?) throws {
        let count = history.requests.count
        if count == 0 {
            output.write("it holds before any commit: the log begins with a base in which it does")
        } else {
            output.write("\(count) of \(commitCount.counted("commit")) left")
            output.write(history.isComplete ? ", none of which can be removed" : "; more might be removable")
        }
        output.write("; \(history.trialCount.counted("history", "histories")) tried")
        try output.endLine()
        if let path = arguments[MinimizeCommand.out] {
            output.write("saved as \(Printable.escaped(path)), up to offset \(end(of: history))")
            try output.endLine()
        }
        guard let test else { return }
        output.write("test written to \(Printable.escaped(arguments[MinimizeCommand.test] ?? ""))")
        try output.endLine()
        for what in test.leftOut {
            output.write("    not rebuilt: \(Printable.escaped(what))")
            try output.endLine()
        }
    }

    private func end(of history: MinimalHistory) -> UInt64 {
        history.requests.compactMap(\.newOffset).max() ?? history.floor
    }

    // MARK: For programs

    private func writeJSON(_ request: MinimalRequest) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", request.offset)
        if let offset = request.newOffset { json.field("newOffset", offset) } else { json.null("newOffset") }
        json.field("userName", request.actor.user)
        json.field("deviceName", request.actor.device)
        json.field("outcome", request.outcome.kind.rawValue)
        json.field("items", request.itemCount)
        json.field("itemsBefore", request.originalItemCount)
        json.field("keys", request.fieldCount)
        json.field("keysBefore", request.originalFieldCount)
        json.endObject()
        try output.endLine()
    }

    private func writeJSON(_ history: MinimalHistory, _ test: MinimalTest?) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("commits", commitCount)
        json.field("left", history.requests.count)
        json.field("trials", history.trialCount)
        json.field("isMinimal", history.isComplete)
        json.field("end", end(of: history))
        if let path = arguments[MinimizeCommand.out] { json.field("path", path) }
        if let test {
            json.field("test", arguments[MinimizeCommand.test] ?? "")
            json.beginArray("notRebuilt")
            for what in test.leftOut { json.value(what) }
            json.endArray()
        }
        json.endObject()
        try output.endLine()
    }
}
