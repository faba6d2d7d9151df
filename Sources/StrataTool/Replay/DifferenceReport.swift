import StrataModel
import StrataStore

/// Prints differing records as they are found, and their number at the end.
struct DifferenceReport {
    /// The number of records for each kind of difference.
    private struct Counts {
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
    private var total = Counts()
    /// The counts of the current place by type, in order of first appearance.
    private var types: [(name: String, counts: Counts)] = []
    private var place: Place?

    init(_ arguments: Arguments, _ output: Output) {
        asJSON = arguments[Option.json]
        isSummary = arguments[DiffCommand.stat]
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
                output.write(text(of: found), .heading)
                try output.endLine()
            }
        }
        if isSummary {
            try count(difference)
        } else if asJSON {
            try writeJSON(difference)
        } else {
            try write(difference)
        }
        return true
    }

    /// Writes the end of the report.
    ///
    /// - Parameter same: the text to print if no record differs.
    mutating func end(_ same: StaticString = "nothing differs") throws -> ExitCode {
        try endPlace()
        let isSame = total.added + total.removed + total.changed == 0
        if asJSON {
            var json = JSONWriter(output)
            json.beginObject()
            write(total, to: &json)
            json.endObject()
            try output.endLine()
        } else if isSame {
            output.write(same)
            try output.endLine()
        } else {
            output.write("\(total.added) added, \(total.removed) removed, \(total.changed) changed")
            try output.endLine()
        }
        return isSame ? .success : .no
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
                var json = JSONWriter(output)
                json.beginObject()
                write(place.database, place.zone, to: &json)
                json.field("typeName", type)
                write(counts, to: &json)
                json.endObject()
            } else {
                output.write("\(text(of: place))  \(Printable.escaped(type))")
                output.write("  +\(counts.added)", .added)
                output.write("  -\(counts.removed)", .removed)
                output.write("  ~\(counts.changed)", .place)
            }
            try output.endLine()
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
        output.write(
            "\(mark) \(Printable.escaped(try difference.type)) \(Printable.escaped(difference.id.name))  \(tags)", ink)
        try output.endLine()
        for link in try difference.links {
            try writeLine(
                link.kind.rawValue, link.before.map { ValueText.link($0, isLoose: link.isLooseBefore) },
                link.after.map { ValueText.link($0, isLoose: link.isLooseAfter) })
        }
        for field in try difference.fields {
            try writeLine(
                Printable.escaped(field.key), field.before.map { ValueText.text(of: $0) },
                field.after.map { ValueText.text(of: $0) })
        }
    }

    private func writeLine(_ key: String, _ before: String?, _ after: String?) throws {
        switch (before, after) {
        case (nil, let after): output.write("    + \(key): \(after ?? "")", .added)
        case (let before, nil): output.write("    - \(key): \(before ?? "")", .removed)
        case (let before?, let after?): output.write("    ~ \(key): \(before) -> \(after)", .place)
        }
        try output.endLine()
    }

    // MARK: For programs

    private func writeJSON(_ difference: RecordDifference) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("difference", difference.kind.rawValue)
        write(difference.database, difference.id.zone, to: &json)
        json.field("typeName", try difference.type)
        json.field("record", difference.id.name)
        if let before = difference.before { json.field("oldTag", before.version.tag) }
        if let after = difference.after { json.field("newTag", after.version.tag) }
        json.beginArray("changes")
        for link in try difference.links {
            json.beginObject()
            json.field("link", link.kind.rawValue)
            if let before = link.before { json.field("old", before) } else { json.null("old") }
            if let after = link.after { json.field("new", after) } else { json.null("new") }
            if link.isLooseBefore { json.field("oldLoose", true) }
            if link.isLooseAfter { json.field("newLoose", true) }
            json.endObject()
        }
        for field in try difference.fields {
            json.beginObject()
            json.field("fieldName", field.key)
            if let before = field.before { json.field("old", before) } else { json.null("old") }
            if let after = field.after { json.field("new", after) } else { json.null("new") }
            json.endObject()
        }
        json.endArray()
        json.endObject()
        try output.endLine()
    }

    private func write(_ database: DatabaseID, _ zone: ZoneID, to json: inout JSONWriter) {
        json.field("scope", database.scope.name)
        json.field("owner", database.owner)
        json.field("zoneName", zone.name)
    }

    private func write(_ counts: Counts, to json: inout JSONWriter) {
        json.field("added", counts.added)
        json.field("removed", counts.removed)
        json.field("changed", counts.changed)
    }
}
