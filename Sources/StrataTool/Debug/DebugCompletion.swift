import StrataModel
import StrataStore
import StrataViews

/// Completes words in a debugger session.
struct DebugCompletion {
    /// The maximum number of record names read from each zone, and of zones.
    private static let maximumRecords = 200
    private static let maximumZones = 100

    private let session: DebugSession

    init(_ session: DebugSession) { self.session = session }

    func completion(of text: String) throws -> LineEditor.Completion {
        let words = DebugWords(text)
        let isNew = !words.isOpen && (text.last?.isWhitespace ?? true)
        let last = isNew ? nil : words.words.last
        let before = isNew ? words.words[...] : words.words.dropLast()
        let beginning = last?.text ?? ""
        let start = last?.start ?? text.count
        guard let first = before.first else {
            return .init(start: start, candidates: DebugVerb.all.map(\.name).filter { $0.hasPrefix(beginning) })
        }
        guard let verb = try? DebugVerb.verb(named: first.text) else { return .init(start: start, candidates: []) }
        let candidates = try candidates(verb, before.dropFirst().map(\.text), beginning)
        return .init(start: start, candidates: candidates.map { DebugWords.quoted($0) })
    }

    private func candidates(_ verb: DebugVerb, _ words: [String], _ beginning: String) throws -> [String] {
        if let option = verb.options.first(where: { $0.name == words.last }), option.valueName != nil {
            return try values(option.name.drop { $0 == "-" }, beginning)
        }
        if beginning.hasPrefix("-") { return verb.options.map(\.name).filter { $0.hasPrefix(beginning) } }
        if verb.name == "break" {
            if let key = words.last, DebugBreakpoint.keys.contains(key), key != "refusal" {
                return try values(key == "where" ? "type" : key[...], beginning)
            }
            return DebugBreakpoint.keys.filter { $0.hasPrefix(beginning) }
        }
        var count = 0
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                count += 1
                continue
            }
            if verb.options.first(where: { $0.name == word })?.valueName != nil { _ = rest.popFirst() }
        }
        guard count < verb.operands.count else {
            // Within a predicate only field names are completed.
            return verb.endsWithPredicate ? try values("field", beginning) : []
        }
        switch verb.operands[count].name {
        case "RECORD": return try values("record", beginning)
        case "FIELD", "PREDICATE": return try values("field", beginning)
        case "TYPE": return try values("type", beginning)
        case "COMMAND": return DebugVerb.all.map(\.name).filter { $0.hasPrefix(beginning) }
        case "OFFSET|TIME|start|end": return ["start", "end"].filter { $0.hasPrefix(beginning) }
        default: return []
        }
    }

    private func values(_ what: Substring, _ beginning: String) throws -> [String] {
        let names = session.names
        let found: [String] =
            switch what {
            case "record": try records(beginning)
            case "zone": names.names(in: .zone)
            case "type": names.names(in: .recordType)
            case "user", "owner": names.names(in: .user)
            case "device": names.names(in: .device)
            case "field": names.names(in: .field)
            case "database": ["public", "private"]
            default: []
            }
        return Set(found.filter { $0.hasPrefix(beginning) }).sorted()
    }

    /// Returns names from the newest state, which has most of the records that ever existed.
    private func records(_ beginning: String) throws -> [String] {
        var found: [String] = []
        for (zone, _) in session.names.zones.prefix(Self.maximumZones) {
            var count = 0
            try session.state.trees.forEachRecord(of: zone, from: beginning) { nameBytes, _ in
                let name = String(decoding: nameBytes, as: UTF8.self)
                count += 1
                guard name.hasPrefix(beginning), count <= Self.maximumRecords else { return false }
                found.append(name)
                return true
            }
        }
        return found
    }
}
