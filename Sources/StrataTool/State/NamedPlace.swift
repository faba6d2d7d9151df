import StrataModel
import StrataQuery
import StrataReplay
import StrataRules
import StrataStore
import StrataViews

/// Checks the names of a command line against those of a state, so that a mistyped name never passes for an empty
/// result, and chooses the database if the command line names none.
struct NamedPlace {
    /// The maximum number of private databases to search for matching records.
    private static let maximumOwners = 200

    /// The maximum number of records among which a mistyped name is searched.
    private static let maximumNames = 10_000

    /// The maximum number of zones in which a name in a predicate may have a record.
    private static let maximumZones = 200

    private let state: ContainerState
    private let store: Store

    init(_ store: Store) {
        self.store = store
        state = ContainerState(store)
    }

    /// Checks a command line's names and returns the database to use.
    ///
    /// - Parameters:
    ///   - type: The type of the requested records; nil for all types.
    ///   - fields: The keys and key paths of a predicate or an order.
    ///   - needsZone: True to refuse a zone that was deleted.
    /// - Throws: ``Refusal`` for an unknown name, and if several private databases match while the public one does not.
    func resolve(
        _ arguments: Arguments, type: String? = nil, fields: [String] = [], needsZone: Bool = false, by command: String
    ) throws -> DatabaseOptions {
        let named = try DatabaseOptions(arguments).placed(in: state.snapshot)
        try requireUsers(named)
        if let zone = named.zone, try !state.hasHadZone(named: zone.name) {
            throw unknown(Refusal.missingZone(zone.name).message, zone.name, try zoneNames())
        }
        if let type { try requireFields(of: type, fields) }
        let isNamed = DatabaseOptions.areGiven(in: arguments)
        let options = try isNamed ? named : chosen(named, type, by: command)
        if needsZone { try RecordPlaces(state).requireZone(options, isNamed: isNamed) }
        return options
    }

    /// Returns the question for a predicate about records of the type in the second operand.
    ///
    /// - Parameter argument: the name of the argument with the predicate.
    func question(
        _ arguments: Arguments, _ predicate: PredicateTree, of argument: String, by command: String
    ) throws -> BisectionQuestion {
        let type = arguments.operands[1]
        let place = try resolve(arguments, type: type, fields: predicate.namedKeys, by: command)
        var question = BisectionQuestion(type, where: predicate, in: place.database, zone: place.zone, as: place.actor)
        question.predicate = try fit(question, of: argument)
        return question
    }

    // MARK: Predicates

    /// Returns the predicate of a question with constants that fit its keys.
    ///
    /// - Throws: ``UsageError`` for a comparison that can never hold.
    func fit(_ question: BisectionQuestion, of argument: String) throws -> PredicateTree {
        let types = try state.snapshot.schema().recordTypes
        let own = types.filter { LogFilter.isSame($0.name, question.type) }
        let zones = try question.zone.map { [$0.name] } ?? zoneNames(of: question)
        let fitting = PredicateFitting(
            kinds: { path in
                var names = path.split(separator: ".").map(String.init)
                guard let key = names.popLast() else { return [] }
                if key == "@count" { return [.int64] }
                if let field = SystemField(key) { return [field.kind] }
                // A key after a dot belongs to a record of any type.
                let fields = (names.isEmpty && !own.isEmpty ? own : types).flatMap(\.fields)
                var kinds: [FieldKind] = []
                // A query with an encrypted field is refused by its own rule.
                for field in fields where LogFilter.isSame(field.name, key) && !field.isEncrypted {
                    if !kinds.contains(field.kind) { kinds.append(field.kind) }
                }
                return kinds
            },
            targets: { name, path in
                let key = path.split(separator: ".").last.map(String.init) ?? path
                if SystemField(key)?.isUser == true { return [try target(ofUser: requireUser(name))] }
                guard zones.count <= Self.maximumZones else {
                    throw UsageError("\(argument): there are \(zones.count) zones; choose one with --zone")
                }
                var targets = zones.map { PredicateValue.Target(recordName: name, zoneName: $0, ownerName: "") }
                if SystemField(key) == nil, let user = try? requireUser(name) {
                    targets.append(try target(ofUser: user))
                }
                return targets
            },
            argument: argument)
        return try fitting.fit(question.predicate)
    }

    /// Returns the names of all zones that the database of a question has had.
    private func zoneNames(of question: BisectionQuestion) throws -> [String] {
        let database = question.database.named(for: question.actor.user)
        return try state.database(database.scope, of: database.owner).map { try state.zones(of: $0).map(\.name) } ?? []
    }

    // MARK: Names

    /// Returns the name of a user who is given by name or by the name of their record.
    ///
    /// - Throws: ``Refusal`` if no user of that name has written to the store.
    @discardableResult
    func requireUser(_ name: String) throws -> String {
        var names: [String] = []
        try state.forEachUser { names.append($1) }
        if let user = names.first(where: { LogFilter.isSame($0, name) }) { return user }
        if let found = try state.snapshot.user(at: UserAddress(.recordName, name)) { return found.name }
        throw unknown("The store has no user '\(name)'.", name, names)
    }

    /// - Throws: ``Refusal`` if a database has no zone or record of that name.
    func requireRecord(_ id: RecordID, in database: DatabaseID) throws {
        let found = try state.database(database.scope, of: database.owner)
        let zones = try found.map { try state.zones(of: $0) } ?? []
        guard let zone = zones.first(where: { LogFilter.isSame($0.name, id.zone.name) }) else {
            throw unknown(Refusal.missingZone(id.zone.name).message, id.zone.name, zones.map(\.name))
        }
        if try state.trees.withRecord(RecordKey(zone: zone.ordinal, name: id.name), { _ in }) != nil { return }
        var names: [String] = []
        try state.trees.forEachRecord(of: zone.ordinal) { name, _ in
            names.append(String(decoding: name, as: UTF8.self))
            return names.count < Self.maximumNames
        }
        throw unknown("Record not found: \(id.name)", id.name, names)
    }

    private func requireUsers(_ named: DatabaseOptions) throws {
        if !named.actor.user.isEmpty, named.actor.user != Actor.service.user { try requireUser(named.actor.user) }
        for owner in [named.database.owner, named.zoneOwner] where !owner.isEmpty { try requireUser(owner) }
    }

    private func zoneNames() throws -> [String] {
        var names: Set<String> = []
        try state.forEachDatabase { for zone in try state.zones(of: $0) { names.insert(zone.name) } }
        return names.sorted()
    }

    /// - Throws: ``Refusal`` for a type or a field that no record ever had.
    func requireFields(of type: String, _ fields: [String]) throws {
        guard try state.trees.ordinal(of: .recordType(type)) != nil || type == "Users" else {
            throw unknown("Did not find record type: \(type)", type, try names(of: .recordType))
        }
        let definition = try state.snapshot.schema().recordTypes.first { LogFilter.isSame($0.name, type) }
        var known = definition?.fields.map(\.name) ?? []
        if known.isEmpty { known = try names(of: .field) }
        for path in fields {
            // The rest of the path names a field of another record, or a number derived from the field.
            let field = String(path.prefix { $0 != "." })
            if SystemField(field) != nil || known.contains(where: { LogFilter.isSame($0, field) }) { continue }
            throw unknown("No field of \(type) is named '\(field)'.", field, known)
        }
    }

    /// Returns the record of a user as a value of predicates.
    private func target(ofUser name: String) throws -> PredicateValue.Target {
        .init(recordName: try state.snapshot.recordName(of: name), zoneName: ZoneID.defaultName, ownerName: "")
    }

    private func names(of namespace: Namespace) throws -> [String] {
        try (1..<(try state.trees.nameCount(namespace)) + 1).map { try state.trees.text(namespace, $0) }
    }

    private func unknown(_ problem: String, _ name: String, _ known: [String]) -> Refusal {
        let suggestion = Suggestion.closest(to: name, among: known).map { "Did you mean \($0)?" }
        let separator = problem.hasSuffix(".") ? " " : ". "
        return Refusal(.unknownItem, problem + (suggestion.map { separator + $0 } ?? ""))
    }

    // MARK: The database

    /// Returns the public database if it has matching records, otherwise the only private one that does.
    private func chosen(_ named: DatabaseOptions, _ type: String?, by command: String) throws -> DatabaseOptions {
        if try has(DatabaseID(.public), type, named.zone) { return named }
        var owners: [String] = []
        var count = 0
        try state.forEachDatabase { database in
            guard database.id.scope == .private else { return }
            count += 1
            guard count <= Self.maximumOwners else { return }
            if try has(database.id, type, named.zone) { owners.append(database.id.owner) }
        }
        let what = type ?? "records"
        guard count <= Self.maximumOwners || owners.count > 1 else {
            throw Refusal(
                .unknownItem,
                "the public database has no \(what), and there are \(count) private ones: choose one with --user")
        }
        switch owners.count {
        case 0: return named
        case 1:
            Diagnostics.note(
                "the public database has no \(what); using the private one of \(owners[0]), as with --user "
                    + owners[0], by: command)
            return DatabaseOptions(of: owners[0], zone: named.zone)
        default:
            let shown = owners.prefix(5).joined(separator: ", ") + (owners.count > 5 ? ", …" : "")
            throw Refusal(
                .unknownItem,
                "the public database has no \(what), but the private ones of \(owners.count) users have: choose one "
                    + "with --user (\(shown))")
        }
    }

    private func has(_ database: DatabaseID, _ type: String?, _ zone: ZoneID?) throws -> Bool {
        guard let found = try state.database(database.scope, of: database.owner) else { return false }
        let zones = try state.zones(of: found).filter { entry in
            entry.row.status == .alive && (zone.map { LogFilter.isSame($0.name, entry.name) } ?? true)
        }
        for entry in zones {
            guard let type else {
                var isEmpty = true
                try state.trees.forEachRecord(of: entry.ordinal) { _, _ in
                    isEmpty = false
                    return isEmpty
                }
                if !isEmpty { return true }
                continue
            }
            var query = Query(type)
            query.zone = ZoneID(entry.name)
            let actor = database.scope == .public ? Actor(user: "") : Actor(user: database.owner)
            let page = try store.query(
                .new(query), in: DatabaseID(database.scope), desiredKeys: [], limit: 1, as: actor)
            if !page.matches.isEmpty { return true }
        }
        return false
    }
}

extension SystemField {
    var kind: FieldKind { [.creationDate, .modificationDate].contains(self) ? .date : .reference }
    var isUser: Bool { [.creatorUserRecordID, .lastModifiedUserRecordID].contains(self) }
}
