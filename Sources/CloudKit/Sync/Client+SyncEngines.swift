import StrataSystem

/// The engines of a device. Each is a device of its own to the others (B473), although the store counts them as one.
struct SyncEngines {
    private struct Entry {
        weak var core: SyncCore?
    }

    private var entries: [Entry] = []

    mutating func add(_ core: SyncCore) {
        entries.removeAll { $0.core == nil }
        entries.append(Entry(core: core))
    }

    var cores: [SyncCore] { entries.compactMap(\.core) }
}

extension Client {
    func join(_ core: SyncCore) { syncEngines.withLock { $0.add(core) } }

    /// Wakes the other engines of the same database, to which the store sends no push for changes of this device.
    func wakeOthers(than core: SyncCore) {
        let scope = core.database.databaseScope
        for other in syncEngines.withLock({ $0.cores }) where other !== core && other.database.databaseScope == scope {
            other.scheduler.pushed()
        }
    }
}
