import StrataLog
import StrataModel
import StrataViews

/// The record that a command line names in the log of a store.
struct RecordTimelineTarget {
    static let operand = Operand(name: "RECORD", help: "the record's name")
    static let options: [any OptionDescription] = [
        DatabaseOptions.zone, DatabaseOptions.user, DatabaseOptions.database, DatabaseOptions.owner,
    ]

    /// The number of zones to list in a message; the rest are counted.
    private static let mostZones = 40

    let store: StoreAccess
    let names: KnownNames
    /// Nil if the log does not have the record.
    let record: RecordKey?
    /// The reason why the record was not found.
    let problem: String
    private let nameDamage: StrataError?

    /// The damage found so far.
    var damage: StrataError? { store.damage ?? nameDamage }

    /// - Throws: ``UsageError`` if several records have the name.
    init(_ arguments: Arguments) throws {
        let name = arguments.operands[1]
        let filter = try LogFilter(placesOf: arguments)
        try StoreAccess.requireDirectory(arguments.store)
        let gathered = LogFilterNames()
        let store = try StoreAccess(arguments.store, touches: gathered.touches(.record(name)))
        var names = KnownNames()
        nameDamage = try names.addAll(of: store, before: store.reader.end.offset + 1, newest: gathered.all)
        (self.store, self.names) = (store, names)
        var zones = filter.zones(names)
        if filter.isEmpty { zones += try Self.unnamedZones(with: name, store, gathered, names) }
        if zones.count > 1 {
            let base = BaseRecords(store.reader)
            zones = try zones.filter { try Self.mayHave(RecordKey(zone: $0, name: name), store, base) }
        }
        guard zones.count < 2 else { throw Self.ambiguity(of: name, in: zones, names) }
        record = zones.first.map { RecordKey(zone: $0, name: name) }
        problem = filter.unknownName(names) ?? "the log does not have a record '\(name)'"
    }

    /// Returns the zones whose names were compacted with the beginning of the log.
    private static func unnamedZones(
        with name: String, _ store: StoreAccess, _ gathered: LogFilterNames, _ names: KnownNames
    ) throws -> [UInt64] {
        if names.zones.isEmpty {
            do {
                // No zone has this ordinal. The query forces a scan of all unsealed segments.
                _ = try store.reader.touches(
                    record: Array(name.utf8), in: 0, after: store.reader.floor.offset, limit: 1)
            } catch let error as StrataError where error.isDamage {
                // Reading the record's history reports it again.
            }
        }
        return gathered.touchedZones.filter { names.zone($0) == nil }.sorted()
    }

    /// Returns false only if the record certainly has no history in the zone.
    private static func mayHave(_ record: RecordKey, _ store: StoreAccess, _ base: BaseRecords) throws -> Bool {
        do {
            let page = try store.reader.touches(
                record: Array(record.name.utf8), in: record.zone, after: store.reader.floor.offset, limit: 1)
            return try !page.touches.isEmpty || base.state(of: record) != nil
        } catch let error as StrataError where error.isDamage { return true }
    }

    /// - Parameter zones: The zones that have a record of the name.
    static func ambiguity(of name: String, in zones: [UInt64], _ names: KnownNames) -> UsageError {
        let more = zones.count > mostZones ? ["… and \(zones.count - mostZones) more"] : []
        return UsageError(
            "\(zones.count) zones have a record '\(name)'; choose with --zone, --database, --user or --owner",
            list: zones.prefix(mostZones).map { names.shownPlace(ofZone: $0) } + more)
    }
}

extension LogFilter {
    /// The places that a command line names with ``RecordTimelineTarget/options``; all zones if it names none.
    init(placesOf arguments: Arguments) throws(UsageError) {
        self.init()
        zone = arguments[DatabaseOptions.zone]
        guard DatabaseOptions.areGiven(in: arguments) else { return }
        let place = try DatabaseOptions(arguments)
        scope = place.database.scope
        if scope != .public { owner = place.ownerName }
    }
}
