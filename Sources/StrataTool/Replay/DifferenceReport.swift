import StrataModel
import StrataStore

/// Prints differing records as they are found, and their number at the end.
struct DifferenceReport {
    /// The number of records for each kind of difference.
    struct Counts {
        var added = 0
        var removed = 0
        var changed = 0

        mutating func add(_ kind: RecordDifference.Kind) {
            switch kind {
            case .added: added += 1
            case .removed: removed += 1
            case .changed: changed += 1
            }
        }
    }

    private struct Place: Hashable {
        var database: DatabaseID
        var zone: ZoneID
    }

    private let asJSON: Bool
    private let isSummary: Bool
    private let output: Output
    /// Decrypts values; nil to leave them encrypted.
    private let secrets: Secrets?
    private var total = Counts()
    /// The counts of the current place by type, in order of first appearance.
    private var types: [(name: String, counts: Counts)] = []
    private var place: Place?

    init(_ arguments: Arguments, _ output: Output) {
        asJSON = arguments[Option.json]
        isSummary = arguments[DiffCommand.stat]
        secrets = arguments[QueryCommand.reveal] ? Secrets() : nil
        self.output = output
    }

    /// Adds a difference. Always returns true, so that the search continues.
    mutating func add(_ difference: RecordDifference) throws -> Bool {
        total.add(difference.kind)
        let found = Place(database: difference.database, zone: difference.id.zone)
        if place != found {
            try endPlace()
            place = found
            if !asJSON, !isSummary {
                try output.writeLine(text(of: found), .heading)
            }
        }
        if isSummary {
            try count(difference)
            return true
        }
        let shown = try secrets?.revealed(difference) ?? difference
        if asJSON { try output.writeJSON(shown) } else { try write(shown) }
        return true
    }

    /// Writes the end of the report.
    ///
    /// - Parameters:
    ///   - same: the text to print if no record differs.
    ///   - command: the command that reports values that could not be decrypted.
    mutating func end(_ same: StaticString = "nothing differs", by command: String) throws -> ExitCode {
        try endPlace()
        let isSame = total.added + total.removed + total.changed == 0
        if asJSON {
            try output.writeJSON((nil, total), as: Self.end)
        } else if isSame {
            output.write(same)
            try output.endLine()
        } else {
            try output.writeLine("\(total.added) added, \(total.removed) removed, \(total.changed) changed")
        }
        let code = try secrets?.reportClosed(by: command, output) ?? .success
        return isSame ? code : .no
    }

    // MARK: In short

    private mutating func count(_ difference: RecordDifference) throws {
        let type = try difference.type
        let index = types.firstIndex { LogFilter.isSame($0.name, type) } ?? types.count
        if index == types.count { types.append((type, Counts())) }
        types[index].counts.add(difference.kind)
    }

    private mutating func endPlace() throws {
        guard let place, isSummary else { return }
        for (type, counts) in types {
            if asJSON {
                try output.writeJSON(((place.database, place.zone, type), counts), as: Self.end)
                continue
            }
            output.write("\(text(of: place))  \(Printable.escaped(type))")
            output.write("  +\(counts.added)", .added)
            output.write("  -\(counts.removed)", .removed)
            try output.writeLine("  ~\(counts.changed)", .place)
        }
        types = []
    }

    // MARK: For people

    private func text(of place: Place) -> String {
        "\(place.database.shownText), \(Printable.escaped(place.zone.name))"
    }

    private func write(_ difference: RecordDifference) throws {
        let (mark, ink): (String, TextStyle) =
            switch difference.kind {
            case .added: ("+", .added)
            case .removed: ("-", .removed)
            case .changed: ("~", .place)
            }
        let tags = [difference.before, difference.after].compactMap { $0?.version.tag }.joined(separator: " -> ")
        try output.writeLine(
            "\(mark) \(Printable.escaped(try difference.type)) \(Printable.escaped(difference.id.name))  \(tags)", ink)
        for link in try difference.links {
            try writeLine(
                link.kind.rawValue, link.before.map { ValueText.link($0, isLoose: link.isLooseBefore) },
                link.after.map { ValueText.link($0, isLoose: link.isLooseAfter) })
        }
        for field in try difference.fields {
            if field.key == ShareState.key, let lines = ShareStateText.lines(from: field.before, to: field.after) {
                for (text, ink) in lines {
                    try output.writeLine("    " + text, ink)
                }
                continue
            }
            let texts = ValueText.change(from: field.before, to: field.after)
            try writeLine(Printable.escaped(field.key), texts.before, texts.after)
        }
    }

    private func writeLine(_ key: String, _ before: String?, _ after: String?) throws {
        let (text, ink) = ChangeText(name: key, old: before, new: after).line
        try output.writeLine("    " + text, ink)
    }

    // MARK: For programs

    /// The counts of all records, or of a zone and type.
    static let end = Shape<(of: (database: DatabaseID, zone: ZoneID, type: String)?, counts: Counts)>(
        "The end of a diff", "With `--stat` also one for each zone and type that has differences."
    ) {
        Key("scope", "`public`, `private` or `shared`", if: "of a zone and type") { $0.of?.database.scope.name }
        Key("owner", "the database's user, empty for the public one", if: "of a zone and type") {
            $0.of?.database.owner
        }
        Key("zoneName", "name of its zone", if: "of a zone and type") { $0.of?.zone.name }
        Key("typeName", "its type", if: "of a zone and type") { $0.of?.type }
        Key("added", "how many") { $0.counts.added }
        Key("removed", "how many") { $0.counts.removed }
        Key("changed", "how many") { $0.counts.changed }
    }
}

extension RecordDifference: Shaped {
    static let shape = Shape<Self>("A record that differs") {
        Key("difference", "`added`, `removed` or `changed`") { $0.kind.rawValue }
        Key("scope", "`public`, `private` or `shared`") { $0.database.scope.name }
        Key("owner", "name of the database's user, empty for the public one") { $0.database.owner }
        Key("zoneName", "name of its zone") { $0.id.zone.name }
        Key("typeName", "its type") { try $0.type }
        Key("record", "its name") { $0.id.name }
        Key("oldTag", "on the side of A", if: "removed, changed") { $0.before?.version }
        Key("newTag", "on the side of B", if: "added, changed") { $0.after?.version }
        Key("changes", "links and fields that differ", each: change) {
            try $0.links.map { Change(link: $0) } + $0.fields.map { Change(field: $0) }
        }
    }

    private struct Change {
        var link: Link?
        var field: Field?
    }

    private static let change = Shape<Change>("A difference") {
        Key("link", "`parent` or `share`", if: "links") { $0.link?.kind.rawValue }
        Key("fieldName", "its name", if: "fields") { $0.field?.key }
        Key("old", "on the side of A, for a link the name of a record") {
            ValueOrName(name: $0.link?.before, value: $0.field?.before)
        }
        Key("new", "on the side of B, for a link the name of a record") {
            ValueOrName(name: $0.link?.after, value: $0.field?.after)
        }
        Key("oldLoose", "true", if: "a loose parent") { $0.link?.isLooseBefore == true ? true : nil }
        Key("newLoose", "true", if: "a loose parent") { $0.link?.isLooseAfter == true ? true : nil }
    }
}

/// A value, or the name of a record.
private struct ValueOrName: JSONValue {
    let name: String?
    let value: FieldValue?

    static var jsonKind: JSONKind { FieldValue.jsonKind.orNull }

    func write(to json: inout JSONWriter) throws {
        if let name { json.value(name) } else { try value.write(to: &json) }
    }
}
