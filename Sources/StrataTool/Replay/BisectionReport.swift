import StrataLog
import StrataModel
import StrataReplay
import StrataStore
import StrataViews

/// Prints the result of a bisection.
struct BisectionReport {
    private let store: Store
    private let range: ClosedRange<UInt64>
    private let asJSON: Bool
    private let output: Output
    private let state: ContainerState
    private let names: KnownNames

    init(_ store: Store, _ range: ClosedRange<UInt64>, asJSON: Bool, _ output: Output) throws {
        (self.store, self.range, self.asJSON, self.output) = (store, range, asJSON, output)
        state = ContainerState(store)
        names = try Self.names(in: state)
    }

    /// Reads the names from the trees, which avoids reading the whole log.
    static func names(in state: ContainerState) throws -> KnownNames {
        var names = KnownNames()
        try state.trees.forEachName { names.add($0) }
        return names
    }

    private func commit(at offset: UInt64) throws -> (commit: Commit, envelope: DecodedEnvelope) {
        guard let commit = try store.log.commit(at: offset) else {
            throw StrataError(.outOfRange, "The log has no commit at this offset.", .init(offset: offset))
        }
        let envelope = Result { try Envelope(decoding: commit.payload) }.mapError { error in
            error as? StrataError ?? StrataError(.malformed, "The payload cannot be decoded.", cause: error)
        }
        return (commit, envelope)
    }

    // MARK: A predicate

    func write(_ flip: Bisection.Flip) throws {
        let (commit, envelope) = try commit(at: flip.offset)
        guard !asJSON else { return try writeJSON(flip.holds, flip.record, commit, envelope) }
        output.write(flip.holds ? "holds after\n" as StaticString : "no longer holds after\n")
        try CommitText().write(commit, envelope, names, to: output)
        if let record = flip.record {
            try write(record)
        } else {
            output.write("    (the record is not known)")
        }
        try output.endLine()
    }

    private func write(_ record: RecordDifference) throws {
        let zone = Printable.escaped(record.id.zone.name)
        output.write("    record ")
        output.write(Printable.escaped(record.id.name), .heading)
        output.write(" in \(zone), \(record.database.shownText)\n")
        for (title, record, ink) in [("before", record.before, TextStyle.removed), ("after", record.after, .added)] {
            output.write("        ")
            output.write(title, ink)
            output.write(String(repeating: " ", count: 8 - title.count) + (try text(of: record)) + "\n")
        }
    }

    private func text(of record: Record?) throws -> String {
        guard let record else { return "none" }
        let values = try RecordDetail(record, in: state).valuesText()
        return record.version.tag + (values.isEmpty ? "" : "  " + values)
    }

    /// - Parameter listsAll: true if every flip has been written.
    func writeEnd(_ answer: Bisection.Answer, listsAll: Bool) throws {
        if asJSON {
            var json = beginEnd()
            json.field("holdsAtStart", answer.holdsAtStart)
            json.field("flips", answer.flipCount)
            return try end(&json)
        }
        guard answer.flipCount > 0, listsAll || !answer.holdsAtStart else { return }
        if answer.flipCount == 1 {
            let holds = answer.flips.first?.holds ?? true
            output.write("it \(holds ? "holds" : "does not hold") from there up to commit \(range.upperBound)")
        } else {
            output.write("it begins or ceases to hold \(answer.flipCount) times up to commit \(range.upperBound)")
            if !listsAll { output.write("; --all lists each" as StaticString) }
        }
        try output.endLine()
    }

    // MARK: A command

    func write(_ outcome: BisectionOutcome, steps: Int) throws {
        if case .found(let offset) = outcome {
            let (commit, envelope) = try commit(at: offset)
            if asJSON {
                try writeJSON(true, nil, commit, envelope)
            } else {
                output.write("holds after\n" as StaticString)
                try CommitText().write(commit, envelope, names, to: output)
                output.write("found in \(steps.counted("step"))")
                try output.endLine()
            }
        }
        guard asJSON else { return }
        var json = beginEnd()
        json.field("steps", steps)
        switch outcome {
        case .oneOf(let offsets):
            json.field("firstPossible", offsets.lowerBound)
            json.field("lastPossible", offsets.upperBound)
        case .fromStart: json.field("holdsAtStart", true)
        case .never: json.field("holdsAtStart", false)
        case .cannotTell(let offset): json.field("untested", offset)
        case .found: break
        }
        try end(&json)
    }

    // MARK: For programs

    private func writeJSON(
        _ holds: Bool, _ record: RecordDifference?, _ commit: Commit, _ envelope: DecodedEnvelope
    ) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("offset", commit.offset)
        json.field("holds", holds)
        if let record {
            json.field("record", record.id.name)
            json.field("zone", record.id.zone.name)
            json.field("database", record.database.scope.name)
            json.field("owner", record.database.owner)
            try write("before", record.before, to: &json)
            try write("after", record.after, to: &json)
        }
        json.beginObject("commit")
        CommitJSON().writeFields(of: commit, envelope, names, to: &json)
        json.endObject()
        try end(&json)
    }

    private func write(_ key: StaticString, _ record: Record?, to json: inout JSONWriter) throws {
        guard let record else { return json.null(key) }
        json.beginObject(key)
        try RecordDetail(record, in: state).writeFields(to: &json)
        json.endObject()
    }

    private func beginEnd() -> JSONWriter {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("from", range.lowerBound)
        json.field("to", range.upperBound)
        return json
    }

    private func end(_ json: inout JSONWriter) throws {
        json.endObject()
        try output.endLine()
    }
}
