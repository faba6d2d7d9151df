import StrataModel
import StrataStore

/// Finds the zones that have a record of a name, to tell somebody who has looked into another one.
struct RecordPlaces {
    /// More databases of others are not searched.
    private static let maximumDatabases = 200
    private static let defaultZone = ZoneID("_defaultZone")

    private let state: ContainerState

    init(_ state: ContainerState) { self.state = state }

    /// Returns the options that lead to a record of that name in another place than the one that was looked in, first
    /// of all in the same database; nil if there is none.
    ///
    /// - Parameter searchesOthers: false to look into the same database only.
    func advice(
        for name: String, besides options: DatabaseOptions, searchesOthers: Bool = true
    ) throws -> String? {
        let asked = options.zone ?? Self.defaultZone
        // An owner who has written nothing has none.
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
            // A zone that was given stays unless another one is.
            let isUsual = found == Self.defaultZone && options.zone == nil
            let place = isUsual ? "" : " --zone \(Self.shellWord(found.name))"
            if database.id.scope == .public { return "There is one in the public database: --database public" + place }
            let owner = database.id.owner
            return "There is one in the private database of \(owner): --user \(Self.shellWord(owner))" + place
        }
        return nil
    }

    /// Returns a name as a shell takes it for one word.
    private static func shellWord(_ name: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/@%+".utf8)
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x80 || plain.contains($0) }
        return isPlain ? name : ShellCompletions.quoted(name)
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
