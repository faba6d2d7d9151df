import StrataModel
import StrataStore

/// Finds names that look like others but have other letters, and words that mix alphabets.
struct LookAlikeScan {
    /// The numbers of record names and of fields that are kept.
    private static let mostNames = 100_000
    private static let mostFields = 1_000

    private struct Field: Hashable {
        let type: UInt64
        let field: UInt64
    }

    private struct Mixed {
        let first: ScannedCommit
        let record: RecordKey
        let word: String
        var count: UInt64
    }

    /// Names of records with letters of other alphabets.
    private var names: [RecordKey: ScannedCommit] = [:]
    private var mixed: [Field: Mixed] = [:]

    mutating func add(_ event: RecordEvent, _ view: RecordSavedView, _ commit: ScannedCommit) throws {
        if view.change == .create, Alphabets.mayMix(event.nameBytes), names.count < Self.mostNames {
            let record = try event.key
            if Alphabets.latinTwin(of: record.name) != nil, names[record] == nil { names[record] = commit }
        }
        let table = try view.fields
        for index in 0..<table.count where try table.kind(at: index) == .string {
            let range = try table.range(at: index)
            guard Alphabets.mayMix(UnsafeRawBufferPointer(rebasing: event.body[range])),
                case .string(let text) = try FieldValue(decoding: event.body, in: range),
                let word = Alphabets.mixedWord(in: text)
            else { continue }
            let field = Field(type: view.type, field: UInt64(table.ordinal(at: index)))
            if mixed[field] == nil, mixed.count < Self.mostFields {
                mixed[field] = Mixed(first: commit, record: try event.key, word: word, count: 0)
            }
            mixed[field]?.count += 1
        }
    }

    // MARK: Findings

    /// - Parameter exists: returns true if a record exists now.
    func findings(_ names: KnownNames, exists: (RecordKey) throws -> Bool) throws -> [Finding] {
        var findings = Self.named(names)
        /// The names of the records that look like a name.
        var twins: [RecordKey: [String]] = [:]
        for record in self.names.keys {
            guard let twin = Alphabets.latinTwin(of: record.name) else { continue }
            twins[RecordKey(zone: record.zone, name: twin), default: []].append(record.name)
        }
        for (record, commit) in self.names.sorted(by: { $0.value.offset < $1.value.offset }) {
            guard let twin = Alphabets.latinTwin(of: record.name) else { continue }
            let other = RecordKey(zone: record.zone, name: twin)
            let known = try exists(other) ? twin : twins[other]?.first { $0 != record.name }
            guard let known, try exists(record) else { continue }
            findings.append(
                Finding(
                    .lookAlike, commit, zone: record.zone, record: record.name,
                    "two records of \(names.shownPlace(ofZone: record.zone)) look alike: "
                        + "\(Alphabets.spelled(record.name)) and \(Alphabets.spelled(known))",
                    next: Finding.history(of: record, names), names))
        }
        for (field, mixed) in mixed.sorted(by: { $0.value.first.offset < $1.value.first.offset }) {
            findings.append(
                Finding(
                    .lookAlike, mixed.first, zone: mixed.record.zone, record: mixed.record.name,
                    "\(mixed.count.counted("value")) of \(names.shownField(field.field)) of "
                        + "\(names.shownType(field.type)) mix alphabets within a word: "
                        + Alphabets.spelled(mixed.word),
                    count: mixed.count,
                    next: Finding.history(of: mixed.record, names), names))
        }
        return findings
    }

    /// Compares the names of zones, types, fields, users and devices.
    private static func named(_ names: KnownNames) -> [Finding] {
        let namespaces: [(Namespace, [String])] = [
            (.zone, ["zones"]), (.recordType, ["schema"]), (.field, ["schema"]), (.user, ["users"]),
            (.device, ["users"]),
        ]
        return namespaces.flatMap { namespace, next in
            let all = Set(names.names(in: namespace).map { ExactName(text: $0) })
            return all.map(\.text).sorted().compactMap { name -> Finding? in
                guard let twin = Alphabets.latinTwin(of: name), all.contains(ExactName(text: twin)) else { return nil }
                return Finding(
                    kind: .lookAlike,
                    text: "two names of \(namespace.noun)s look alike: \(Alphabets.spelled(name)) and "
                        + Alphabets.spelled(twin),
                    next: next)
            }
        }
    }
}
