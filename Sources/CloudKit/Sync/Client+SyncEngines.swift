extension Client {
    func join(_ core: SyncCore) { syncEngines.withLock { $0.add(core) } }

    /// Wakes the other engines of the same database, to which the store sends no push for changes of this device.
    func wakeOthers(than core: SyncCore) {
        let scope = core.database.databaseScope
        for other in syncEngines.withLock({ $0.objects }) where other !== core && other.database.databaseScope == scope
        {
            other.scheduler.pushed()
        }
    }
}
