import StrataModel
import StrataReplay
import StrataStore

/// Describes events as JSON.
enum EventJSON {
    /// An event of a commit.
    struct Line {
        let event: Event
        let index: Int
        let commit: CommitJSON.Line
    }

    static func lines(
        of envelope: Envelope, in commit: CommitJSON.Line
    ) -> LazyMapSequence<EnumeratedSequence<[Event]>, Line> {
        envelope.events.enumerated().lazy.map { Line(event: $0.element, index: $0.offset, commit: commit) }
    }

    static let shape = Shape<Line>(
        "An event", "With `--patch`, and in `show`, events of records also have the keys of [a patch](#a-patch)."
    ) {
        Key("kind", "number of its kind") { $0.event.kind.rawValue }
        Key("name", "its kind, as in [format.md](../format.md), §7, or `unknown event N`") { "\($0.event.kind)" }
        Key("bytes", "length of its body") { $0.event.body.count }
        Key(oneOf: bodies) { line, json in try write(line.event, line.commit.names, to: &json) }
        Key(oneOf: []) { line, json in
            let names = line.commit.names
            guard let patch = line.commit.format.patch, let header = line.commit.header,
                let step = patch.step(of: line.event, at: line.index, in: line.commit.commit, header, names)
            else { return }
            try json.fields(of: (step, names), as: Self.patch)
        }
    }

    private static let bodies =
        [ShapeDescription(of: InternedName.self), SaveOutline.shape.description]
        + EventKind.known.compactMap { kind, _ in
            kind == .recordSaved ? nil : kind.body.map { ShapeDescription(of: $0) }
        } + [malformed.description]

    /// Writes the keys of an event's body.
    static func write(_ event: Event, _ names: KnownNames, to json: inout JSONWriter) throws {
        let body: (any Described)?
        do {
            guard event.kind != .recordSaved else { return try SaveOutline(event.body, names).write(names, to: &json) }
            body = try event.described()
        } catch { return try json.fields(of: reason(error), as: malformed) }
        if let body { try json.fields(of: body, names) }
    }

    /// Returns the reason why a body cannot be decoded.
    static func reason(_ error: any Error) -> StrataError {
        error as? StrataError ?? StrataError(.malformed, "An event cannot be decoded.", cause: error)
    }

    static let malformed = Shape<StrataError>("An event that cannot be decoded") {
        Key("malformed", "why the body cannot be decoded") { $0.description }
    }

    static let patch = Shape<(step: TimelineStep, names: KnownNames)>("A patch") {
        Key(
            "changes",
            "links first, then fields in the order of their ordinals. Empty if nothing is known about them, or if the "
                + "record's content was erased",
            each: CommitPatchText.shape
        ) { patch in patch.step.changes.map { ($0, patch.names) } }
        Key("notAllKnown", "why not all changes are known, in words", if: "if so") { $0.step.problem?.description }
    }
}
