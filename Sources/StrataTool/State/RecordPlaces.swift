import StrataModel
import StrataStore

/// Finds the zones that have a record of a name, as a hint for a lookup in the wrong place.
struct RecordPlaces {
    /// The number of other users' databases to search.
    private static let maximumDatabases = 200

    private let state: ContainerState

    init(_ state: ContainerState) { self.state = state }

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
        var databases: [ContainerState.Database] = []
        try state.forEachDatabase { database in
            guard databases.count < Self.maximumDatabases, database.ordinal != own?.ordinal else { return }
            databases.append(database)
        }
        for database in databases {
            let zones = try zones(with: name, in: database)
            guard let found = zones.first(where: { $0 == asked }) ?? zones.first else { continue }
            // Name the zone if the command line named another one.
            let isUsual = found == .default && options.zone == nil
            let place = isUsual ? "" : " --zone \(Self.shellWord(found.name))"
            if database.id.scope == .public { return "There is one in the public database: --database public" + place }
            let owner = database.id.owner
            return "There is one in the private database of \(owner): --user \(Self.shellWord(owner))" + place
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
