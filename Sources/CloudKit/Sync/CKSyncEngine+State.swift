import Foundation
import StrataSystem

extension CKSyncEngine {
    /// The changes that an engine has to send and to fetch. It can be used on any thread, in callbacks too.
    public final class State: Sendable {
        let content: Lock<SyncContent>
        private let scheduler: SyncScheduler

        init(_ content: SyncContent, _ scheduler: SyncScheduler) {
            self.content = Lock(content)
            self.scheduler = scheduler
        }

        /// The changes of records to send, in the order of their addition; those that are being sent, too.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] { content.withLock { $0.recordChanges.changes } }

        /// The changes of zones to send, in the order of their addition; those that are being sent, too.
        public var pendingDatabaseChanges: [PendingDatabaseChange] { content.withLock { $0.databaseChanges.changes } }

        /// True if the program has changes to send that are not in the lists. The engine resets it once the delegate
        /// has no more changes (B425).
        public var hasPendingUntrackedChanges: Bool {
            get { content.withLock { $0.hasUntrackedChanges } }
            set {
                change(sends: newValue) { content in
                    defer { content.hasUntrackedChanges = newValue }
                    return content.hasUntrackedChanges != newValue
                }
            }
        }

        /// The zones that have changes which were not fetched (B426).
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] { content.withLock { $0.unfetchedZones } }

        /// Adds changes. A change of the same kind keeps its place; one of the other kind goes (B420).
        public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            change(sends: true) { $0.recordChanges.add(pendingRecordZoneChanges) }
        }

        /// Removes changes of the same kind and record.
        public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            change(sends: false) { content in
                pendingRecordZoneChanges.reduce(false) { content.recordChanges.remove($1) || $0 }
            }
        }

        /// Adds changes of zones, by the same rules as changes of records.
        public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
            change(sends: true) { $0.databaseChanges.add(pendingDatabaseChanges) }
        }

        /// Removes changes of the same kind and zone.
        public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
            change(sends: false) { content in
                pendingDatabaseChanges.reduce(false) { content.databaseChanges.remove($1) || $0 }
            }
        }

        /// - Parameter body: Returns true if it changed something.
        func change(sends: Bool = false, _ body: (inout SyncContent) -> Bool) {
            guard content.withLock({ body(&$0) }) else { return }
            scheduler.stateChanged()
            if sends { scheduler.cause(fetches: false, sends: true) }
        }

        /// The state of an engine as bytes, for the next launch.
        ///
        /// Keep the last one together with the data that was fetched before it. Any encoder can encode it.
        public struct Serialization: Codable, Sendable {
            let content: SyncContent

            init(_ content: SyncContent) { self.content = content }

            private enum CodingKeys: String, CodingKey { case data }

            /// - Throws: `DecodingError.dataCorrupted` for damaged bytes, and for those of another version (B448).
            public init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                let data = try container.decode(Data.self, forKey: .data)
                do { content = try SyncContent(decoding: data) } catch {
                    throw DecodingError.dataCorruptedError(
                        forKey: .data, in: container, debugDescription: "The state of the engine is damaged: \(error)")
                }
            }

            public func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(content.encoded(), forKey: .data)
            }
        }
    }
}
