import StrataModel
import StrataStore

/// Finds the zones that have a record of a name, to tell somebody who has looked into another one.
struct RecordPlaces {
    /// More private databases are not searched.
    private static let maximumDatabases = 200

    private let state: ContainerState

    init(_ state: ContainerState) { self.state = state }

    /// Returns the options that lead to a record of that name in another place than the one that was looked in, first
    /// of all in the same database; nil if there is none.
    func advice(for name: String, besides options: DatabaseOptions) throws -> String? {
        let zone = options.zone ?? ZoneID("_defaultZone")
        let own = DatabaseID(options.database.scope, owner: options.ownerName)
        var databases: [ContainerState.Database] = []
        try state.forEachDatabase { if databases.count < Self.maximumDatabases { databases.append($0) } }
        for database in databases where LogFilter.isSame(database.id.owner, own.owner) && database.id.scope == own.scope
        {
            guard options.zone == nil, let found = try zones(with: name, in: database).first(where: { $0 != zone })
            else { continue }
            return "There is one in another zone: --zone \(found.name)"
        }
        for database in databases where database.id != own {
            guard let found = try zones(with: name, in: database).first else { continue }
            let place = found == ZoneID("_defaultZone") ? "" : " --zone \(found.name)"
            if database.id.scope == .public { return "There is one in the public database: --database public" + place }
            return "There is one in the private database of \(database.id.owner): --user \(database.id.owner)" + place
        }
        return nil
    }

    /// The living zones of a database that have a record of that name.
    private func zones(with name: String, in database: ContainerState.Database) throws -> [ZoneID] {
        try state.zones(of: database).filter { $0.row.status == .alive }.map { ZoneID($0.name) }.filter { zone in
            let id = RecordID(name, zone: zone)
            let found = try state.snapshot.records([id], in: database.id, desiredKeys: [], as: .service)
            guard case .success? = found.first else { return false }
            return true
        }
    }
}
