import StrataLog
import StrataModel
import StrataReplay

/// `strata show`: one commit with all its details.
enum ShowCommand: Command {
    static let name = "show"
    static let summary = "print one commit in full detail"
    static let details =
        "In addition to what 'strata log' prints: the position of the commit in its file, how it is stored, the chain "
        + "value before it, the shape of its request, and each field that was sent or declared. Values are not "
        + "printed, except for the participants and permissions of a share, nor are URLs and addresses of the request "
        + "without --reveal. Exits with 1 if there is no commit at that offset."

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
        let store = try StoreAccess(arguments.store)
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
        let detail = CommitDetail(
            place: place, chainBefore: try store.reader.chain(at: offset - 1), reveals: arguments[reveal])
        let isJSON = arguments[Option.json]
        let format: any CommitFormat = isJSON ? CommitJSON(stored: place, reveals: arguments[reveal]) : detail
        let envelope = commit.decoded
        try format.write(commit, envelope, names, to: output)
        return .success
    }
}

/// Prints the paragraph of `strata log`, followed by all other details.
private struct CommitDetail: CommitFormat {
    let place: CommitPlace
    let chainBefore: UInt32
    /// True to print URLs and addresses of the request.
    let reveals: Bool

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        try CommitText().write(commit, envelope, names, to: output)
        if case .success(let envelope) = envelope { writeFields(of: envelope, commit.offset, names, to: output) }
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

    /// Writes the fields of each event that has some, below its version.
    private func writeFields(of envelope: Envelope, _ offset: UInt64, _ names: KnownNames, to output: Output) {
        for (index, event) in envelope.events.enumerated() {
            guard event.kind == .recordSaved, let save = try? SaveOutline(event.body, names), !save.fields.isEmpty
            else { continue }
            let version = Version(offset: offset, eventIndex: UInt32(index))
            output.write("    ")
            output.write(version.tag, .place)
            output.write("  \(Printable.escaped(save.record.name))  \(save.policy.name)")
            if let base = save.base { output.write(", client had \(base.tag)") }
            output.write("\n" as StaticString)
            for field in save.fields {
                output.write("        \(names.shownField(field.ordinal))  ")
                output.write(field.kind?.description ?? "removed", field.kind == nil ? .removed : .added)
                if field.kind != nil { output.write(", \(field.bytes.counted("byte"))") }
                output.write("\n" as StaticString)
                guard let share = field.share else { continue }
                for part in ShareStateText.changes(from: nil, to: share) {
                    output.write("            \(part.name): \(part.new ?? "")\n")
                }
            }
        }
    }
}
