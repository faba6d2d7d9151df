import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// `strata show`: one commit with all its details.
enum ShowCommand: Command {
    static let name = "show"
    static let summary = "print one commit in full detail"
    static let details =
        "In addition to what 'strata log' prints: the position of the commit in its file, how it is stored, the chain "
        + "value before it, the shape of its request, and each field that was sent, with its value before and after. "
        + "= marks a field that was sent and did not change. Of a zone that was deleted it prints the records that "
        + "went with it, and of a change to an account or to tokens what they were before. URLs and addresses of the "
        + "request are not printed without --reveal. Exits with 1 if there is no commit at that offset."

    static let readsAddresses = true
    static let operands = [Operand.storeOrAddress, CommitOperand.operand]
    static let reveal = Option.flag("--reveal", help: "print the request with its URLs and addresses")
    static let options: [any OptionDescription] = [
        reveal, AddressCopy.directory, SequencerAddress.files, Option.json,
    ]
    static let examples = [
        "strata show Notes.strata 12", "strata show Notes.strata last",
        "strata show Notes.strata 12 --json | jq .stored",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let operand = try CommitOperand(arguments.operands[1])
        try StoreAccess.requireDirectory(arguments.store)
        let store = try StoreAccess(arguments.store, touches: LogFilterNames().touches(.all))
        let (floor, end) = (store.reader.floor.offset, store.reader.end.offset)
        let offset = operand.offset(upTo: end)
        guard offset > floor, offset <= end else {
            // The commit may be in the part that damage makes unreadable.
            if offset > end, let damage = store.damage { throw damage }
            return Diagnostics.refuse(store.reader.absence(of: offset), code: .outOfRange, by: name)
        }
        var names = KnownNames()
        // Show the commit even if damage hides the names.
        _ = try names.addAll(of: store, before: offset)
        guard let commit = try store.reader.commit(at: offset), let place = try store.reader.place(of: offset) else {
            throw StrataError(.outOfRange, "The log has no commit at this offset.", .init(offset: offset))
        }
        names.add(from: commit.payload)
        let patch = CommitPatch(timeline: ChangeTimeline(of: store.reader), filter: LogFilter())
        let envelope = commit.decoded
        let effects = effects(of: envelope, at: offset, arguments.store)
        let isJSON = arguments[Option.json]
        let format: any CommitFormat =
            isJSON
            ? CommitJSON(stored: place, patch: patch, effects: effects ?? [], reveals: arguments[reveal])
            : CommitDetail(
                place: place, chainBefore: try store.reader.chain(at: offset - 1), patch: patch, effects: effects,
                reveals: arguments[reveal])
        try format.write(commit, envelope, names, to: output)
        return .success
    }

    /// Returns what a commit changed besides records; nil if the state before it cannot be read.
    private static func effects(of envelope: DecodedEnvelope, at offset: UInt64, _ path: String) -> [CommitEffect]? {
        guard case .success(let envelope) = envelope, CommitEffect.needState(envelope) else { return [] }
        do {
            let store = try StateAccess.open(path).store
            defer { try? store.close() }
            let past = try store.past.state(at: offset - 1)
            defer { try? past.close() }
            return try CommitEffect.others(of: envelope, before: past.snapshot().trees, store.snapshot().trees)
        } catch { return nil }
    }
}

/// Prints the paragraph of `strata log`, followed by all other details.
private struct CommitDetail: CommitFormat {
    let place: CommitPlace
    let chainBefore: UInt32
    let patch: CommitPatch
    /// Nil if they are not known.
    let effects: [CommitEffect]?
    /// True to print URLs and addresses of the request.
    let reveals: Bool

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        try CommitText().write(commit, envelope, names, to: output)
        if case .success(let envelope) = envelope { try writeChanges(of: envelope, commit, names, to: output) }
        func line(_ label: String, _ value: String) {
            output.write("    ")
            output.write(label, .faint)
            output.write("".padded(to: 16 - label.count) + Printable.escaped(value) + "\n")
        }
        line("chain before", hexadecimal(chainBefore))
        line("file", place.path)
        line("segment", "\(place.segment)")
        line("bytes", "\(place.range.lowerBound) to \(place.range.upperBound - 1), \(place.range.count) in total")
        for frame in place.frames { line("frame at \(frame.position)", text(of: frame.header)) }
        if let block = place.block {
            line(
                "block",
                "of commits \(block.firstOffset) to \(block.firstOffset + UInt64(block.commitCount) - 1), "
                    + "\(block.rawLength.counted("byte")) raw, \(block.storedLength.counted("byte")) stored, "
                    + "body \(hexadecimal(block.bodyChecksum))")
        }
        if case .success(let envelope) = envelope {
            if let words = Self.request(of: envelope)?.sentence(reveals: reveals) { line("asked to", words) }
            if let state = envelope.header.judgedOn { line("judged on", "the state at \(state)") }
            let bytes = envelope.header.requestShape
            let isHidden = !reveals && (try? RequestShape(decoding: bytes))?.mayHaveAddresses != false
            if !bytes.isEmpty {
                line("request shape", isHidden ? "\(bytes.count) bytes" : bytes.map { hexadecimal($0) }.joined())
            }
        }
        try output.endLine()
    }

    /// Returns the whole request that a commit or an audit keeps; nil for none.
    private static func request(of envelope: Envelope) -> Request? {
        if !envelope.header.requestShape.isEmpty {
            return (try? RequestShape(decoding: envelope.header.requestShape))?.wholeRequest
        }
        let kept = try? envelope.events.last?.requestNote()?.request
        return kept.flatMap { try? Request(decoding: $0[...]) }
    }

    private func text(of header: FrameHeader) -> String {
        let codec = header.codec == .lz4 ? "LZ4, \(header.rawLength) bytes raw, " : ""
        return "\(header.kind), \(codec)\(header.storedLength) bytes stored, body \(hexadecimal(header.bodyChecksum)), "
            + "\(header.undurable) not known to be durable"
    }

    /// Writes the changes that each event made to a record, below its version, then the other effects.
    private func writeChanges(of envelope: Envelope, _ commit: Commit, _ names: KnownNames, to output: Output) throws {
        for (index, event) in envelope.events.enumerated() {
            guard let step = patch.step(of: event, at: index, in: commit, envelope.header, names) else { continue }
            let save = event.kind == .recordSaved ? try? SaveOutline(event.body, names) : nil
            let fields = save?.fields ?? []
            if fields.isEmpty, step.changes.isEmpty, !step.isErased { continue }
            output.write("    ")
            output.write(step.version.tag, .place)
            output.write("  \(Printable.escaped(try event.record().key.name))  ")
            output.write(save?.policy.name ?? CommitPatchText.title(of: step))
            if let base = save?.base { output.write(", client had \(base.tag)") }
            try output.endLine()
            try CommitPatchText.write(step, sending: fields, indentation: 8, names, to: output)
        }
        for effect in effects ?? [] { try effect.write(to: output) }
        if effects == nil { try output.writeLine("    (the state before it cannot be read)", .faint) }
    }
}
