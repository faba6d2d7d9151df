import StrataModel
import StrataStore

/// Finds the zones that have a record of a name, as a hint for a lookup in the wrong place.
struct RecordPlaces {
    /// The number of other users' databases to search.
    private static let maximumDatabases = 200

    private let state: ContainerState
    /// The option that names the owner of a private database.
    private let owner: String

    init(_ state: ContainerState, owner: String = DatabaseOptions.user.name) {
        (self.state, self.owner) = (state, owner)
    }

    /// Returns the reason why a record cannot be read, such as the commit that deleted it, and where there is one.
    func problem(
        _ refusal: Refusal, with id: RecordID, _ options: DatabaseOptions
    ) throws -> (text: String, advice: String?) {
        let isMissing = [.unknownItem, .zoneNotFound, .userDeletedZone].contains(refusal.code)
        guard isMissing else { return (refusal.message, nil) }
        if let ending = try ending(of: id, options) { return (ending.sentence(onRecord: id.name), nil) }
        let advice = try advice(for: id.name, besides: options) ?? adviceOnGone(id.name, besides: options)
        if let place = try state.place(of: id.zone, options),
            let ending = try Ending.ofZone(place.zone.ordinal, in: place.database.ordinal, state)
        {
            return (ending.sentence(onZone: id.zone.name), advice)
        }
        return (refusal.message, advice)
    }

    /// Returns the end of a record that a command line names.
    private func ending(of id: RecordID, _ options: DatabaseOptions) throws -> Ending? {
        try state.place(of: id.zone, options).flatMap { place in
            try Ending.of(RecordKey(zone: place.zone.ordinal, name: id.name), in: place.database.ordinal, state)
        }
    }

    /// Returns the options that find the record of that name elsewhere that was deleted last, preferably in the same
    /// database; nil if there never was one.
    private func adviceOnGone(_ name: String, besides options: DatabaseOptions) throws -> String? {
        let own = try? state.database(options.database.scope, of: options.ownerName)
        var found: (ending: Ending, advice: String)?
        for database in try databases(own) {
            for zone in try state.zones(of: database) {
                let record = RecordKey(zone: zone.ordinal, name: name)
                guard let ending = try Ending.of(record, in: database.ordinal, state) else { continue }
                if let found, found.ending.offset >= ending.offset { continue }
                let (place, words) = place(of: ZoneID(zone.name), in: database, own, options)
                found = (ending, ending.advice(place, options: words))
            }
            if found != nil, database.ordinal == own?.ordinal { break }
        }
        return found?.advice
    }

    /// Returns the databases to search, the given one first.
    private func databases(_ own: ContainerState.Database?) throws -> [ContainerState.Database] {
        var databases: [ContainerState.Database] = []
        try state.forEachDatabase { database in
            guard databases.count < Self.maximumDatabases, database.ordinal != own?.ordinal else { return }
            databases.append(database)
        }
        return (own.map { [$0] } ?? []) + databases
    }

    /// Returns the words for a zone and the options that name it.
    private func place(
        of zone: ZoneID, in database: ContainerState.Database, _ own: ContainerState.Database?,
        _ options: DatabaseOptions
    ) -> (words: String, options: String) {
        if database.ordinal == own?.ordinal { return ("another zone", "--zone \(Self.shellWord(zone.name))") }
        // Name the zone if the command line named another one.
        let isUsual = zone == .default && options.zone == nil
        let place = isUsual ? "" : " --zone \(Self.shellWord(zone.name))"
        if database.id.scope == .public {
            let option = owner == DatabaseOptions.user.name ? "--database public" : "no \(owner)"
            return ("the public database", option + place)
        }
        let name = database.id.owner
        return ("the private database of \(name)", "\(owner) \(Self.shellWord(name))" + place)
    }

    /// - Throws: ``Refusal`` for a zone that was deleted, also in a database that the command line does not name.
    ///
    /// - Parameter isNamed: true if the command line names the database.
    func requireZone(_ options: DatabaseOptions, isNamed: Bool) throws {
        guard let zone = options.zone else { return }
        let own = try state.place(of: zone, options)
        if let own {
            guard let ending = try Ending.ofZone(own.zone.ordinal, in: own.database.ordinal, state) else { return }
            throw Refusal(.zoneNotFound, ending.sentence(onZone: zone.name))
        }
        guard !isNamed else { return }
        for database in try databases(nil) {
            let found = try state.zones(of: database).first { LogFilter.isSame($0.name, zone.name) }
            guard let found, let ending = try Ending.ofZone(found.ordinal, in: database.ordinal, state)
            else { continue }
            let owner = database.id.owner
            let options = "--user \(Self.shellWord(owner)) "
            throw Refusal(.zoneNotFound, ending.sentence(onZone: zone.name, " of \(owner)", options: options))
        }
    }

    /// Returns the options that find a record of that name elsewhere, preferably in the same database; nil if there is
    /// none.
    ///
    /// - Parameter searchesOthers: pass false to search only the same database.
    func advice(
        for name: String, besides options: DatabaseOptions, searchesOthers: Bool = true
    ) throws -> String? {
        let asked = options.zone ?? .default
        // A user who has written nothing has no database.
        let own = try? state.database(options.database.scope, of: options.ownerName)
        if let own, let found = try zones(with: name, in: own).first(where: { $0 != asked }) {
            return "There is one in another zone: --zone \(Self.shellWord(found.name))"
        }
        guard searchesOthers else { return nil }
        for database in try databases(own) where database.ordinal != own?.ordinal {
            let zones = try zones(with: name, in: database)
            guard let found = zones.first(where: { $0 == asked }) ?? zones.first else { continue }
            let (place, words) = place(of: found, in: database, own, options)
            return "There is one in \(place): \(words)"
        }
        return nil
    }

    /// Returns a name quoted for the shell if necessary.
    static func shellWord(_ name: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/@%+".utf8)
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x80 || plain.contains($0) }
        return isPlain ? name : ShellCompletions.quoted(name)
    }

    /// Returns the zones of a database that have a record of that name.
    private func zones(with name: String, in database: ContainerState.Database) throws -> [ZoneID] {
        try state.zones(of: database).filter { $0.row.status == .alive }.map { ZoneID($0.name) }.filter { zone in
            let id = RecordID(name, zone: zone)
            let found = try state.snapshot.records([id], in: database.id, desiredKeys: [], as: .service)
            guard case .success? = found.first else { return false }
            return true
        }
    }
}
