extension CKSyncEngine {
    /// The settings of an engine.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database to sync with: a private or shared one.
        public var database: CKDatabase
        /// The last state that the delegate was given; nil if there is none.
        public var stateSerialization: State.Serialization?
        /// The delegate, which the engine holds weakly.
        public var delegate: any CKSyncEngineDelegate
        /// False if the engine does nothing by itself; true by default.
        public var automaticallySync = true
        /// The ID of the database subscription to use or to create; nil lets the engine choose.
        public var subscriptionID: CKSubscription.ID?

        /// Creates the settings of an engine that syncs automatically.
        public init(
            database: CKDatabase, stateSerialization: State.Serialization?, delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }

        public var description: String {
            let state = stateSerialization == nil ? "no state" : "a state"
            return "<Configuration: \(database), \(state), automaticallySync: \(automaticallySync)>"
        }
    }
}
