import StrataModel
import StrataQuery
import StrataReplay
import StrataRules

/// Parses a typed breakpoint: `record milk field rank`, `refusal user anna`, `where Note rank > 3`.
enum DebugBreakpoint {
    /// The properties that are names, by the words before them.
    private static let names: [(key: String, path: WritableKeyPath<Breakpoint, String?> & Sendable)] = [
        ("record", \.record), ("zone", \.zone), ("type", \.type), ("user", \.user), ("device", \.device),
        ("owner", \.owner), ("field", \.field),
    ]
    static let keys = names.map(\.key) + ["refusal", "where"]

    /// Returns the index of the word where a predicate begins; nil if there is none.
    static func predicatePlace(_ words: [String]) -> Int? {
        var place = 0
        while place < words.count {
            switch words[place] {
            case "where": return place + 2 < words.count ? place + 2 : nil
            case "refusal": place += 1
            default: place += 2
            }
        }
        return nil
    }

    /// - Parameter place: the database for a predicate, if no owner is named.
    static func parse(_ words: [String], in place: DatabaseOptions) throws(UsageError) -> Breakpoint {
        var breakpoint = Breakpoint()
        var given: Set<String> = []
        var rest = words[...]
        while let key = rest.popFirst() {
            guard given.insert(key).inserted else { throw UsageError("\(key) is given twice") }
            if key == "refusal" {
                breakpoint.isRefusal = true
                continue
            }
            if key == "where" {
                breakpoint.question = try question(&rest, breakpoint, in: place)
                continue
            }
            guard let path = names.first(where: { $0.key == key })?.path else {
                throw UsageError(
                    "a breakpoint is on \(keys.joined(separator: ", ")), not '\(key)'",
                    suggestion: Suggestion.closest(to: key, among: keys))
            }
            guard let name = rest.popFirst() else { throw UsageError("\(key) needs a name: \(key) NAME") }
            breakpoint[keyPath: path] = name
        }
        if breakpoint.question != nil, breakpoint.isRefusal {
            throw UsageError("refusal and where cannot be combined: a refused request makes no record match")
        }
        return breakpoint
    }

    private static func question(
        _ rest: inout ArraySlice<String>, _ breakpoint: Breakpoint, in place: DatabaseOptions
    ) throws(UsageError) -> BisectionQuestion {
        guard let type = rest.popFirst(), let text = rest.popFirst() else {
            throw UsageError("where needs a type and a predicate: where TYPE PREDICATE")
        }
        let tree = try QueryRequest.predicate(text, of: "where")
        var (database, actor) = (place.database, place.actor)
        if let owner = breakpoint.owner { (database, actor) = (DatabaseID(.private, owner: owner), .service) }
        let zone = breakpoint.zone.map { ZoneID($0) } ?? place.zone
        return BisectionQuestion(type, where: tree, in: database, zone: zone, record: breakpoint.record, as: actor)
    }

    // MARK: For people

    /// Returns the breakpoint in the form in which it is typed.
    static func text(of breakpoint: Breakpoint) -> String {
        var words = names.compactMap { key, path in
            breakpoint[keyPath: path].map { "\(key) \(Printable.escaped(DebugWords.quoted($0)))" }
        }
        if breakpoint.isRefusal { words.insert("refusal", at: 0) }
        if let question = breakpoint.question { words.append("where " + text(of: question)) }
        return words.joined(separator: " ")
    }

    static func text(of question: BisectionQuestion) -> String {
        let predicate = Printable.escaped(PredicateWriter.text(of: question.predicate))
        return "\(Printable.escaped(DebugWords.quoted(question.type))) \(predicate)"
    }

    /// `milk in Notes, private of anna: rank`.
    static func text(of watch: Watch) -> String {
        let place = "\(Printable.escaped(watch.record.zone.name)), \(watch.database.shownText)"
        let field = watch.field.map { " field \(Printable.escaped($0))" } ?? ""
        return "\(Printable.escaped(watch.record.name))\(field) in \(place)"
    }
}
