import Foundation
import StrataLog
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem

extension CloudStore {
    /// How a store works. ``service`` behaves as CloudKit does, ``embedded`` as a database for servers and tools.
    ///
    /// ```swift
    /// var options = CloudStore.Options.embedded
    /// options.durability = .interval(.milliseconds(50))
    /// let store = try CloudStore(at: url, options: options)
    /// ```
    public struct Options: Sendable {
        /// The name of the container; it is kept in the store.
        public var containerIdentifier = StoreOptions.service.containerIdentifier
        /// When a save is on the medium.
        public var durability = Durability.commit
        /// How a call for several records tells that one of them failed.
        public var atomicFailures = AtomicFailures.throwing
        /// Which predicates a query may have.
        public var predicates = PredicateDialect.cloudKit
        /// Whether saves extend the schema.
        public var schema = SchemaMode.open
        /// How much a request may ask for.
        public var limits = Limits.service
        /// Whether saving a child gives its parent a new change tag.
        public var parentTouch = StoreOptions.service.touchesParents
        /// Whether the log keeps requests of which nothing came, complete and with the reasons, for whoever looks for a
        /// mistake later. Nobody waits for that: it is written with the next change, or after a second.
        public var recordRefusals = true
        /// Whether the log keeps what was fetched, queried and followed, as it keeps refusals.
        public var recordFetches = StoreOptions.service.recordsFetches
        /// How much history is kept; all of it, unless this says otherwise.
        public var history = HistoryPolicy.everything
        /// Where the time comes from.
        public var clock: any Clock = SystemClock()
        /// Where random numbers come from.
        public var random: any RandomNumbers = SystemRandomNumbers()

        /// The same as ``service``.
        public init() {}

        /// What passes here passes CloudKit.
        public static var service: Options { Options() }

        /// For servers and tools: wider predicates, larger limits, parents left alone.
        public static var embedded: Options {
            var options = Options()
            options.predicates = .extended
            options.limits = .embedded
            options.parentTouch = StoreOptions.embedded.touchesParents
            return options
        }
    }

    /// When a save is on the medium.
    public enum Durability: Sendable, Hashable {
        /// Before the call returns: it survives a loss of power.
        case commit
        /// At the latest so much later; the end of the process loses nothing, a loss of power the last interval.
        case interval(Duration)
        /// When the operating system thinks fit, or with ``CloudStore/sync()``.
        case system
    }

    /// How the asynchronous `modifyRecords` tells that an item of an atomic zone failed.
    public enum AtomicFailures: Sendable, Hashable {
        /// It throws `partialFailure`, as Apple documents it.
        case throwing
        /// It returns a result for each item, as the service has been seen to do.
        case perItem
    }

    /// Which predicates a query may have.
    public enum PredicateDialect: Sendable, Hashable {
        /// Those that CloudKit accepts.
        case cloudKit
        /// All that can be evaluated.
        case extended
    }

    /// Whether saves extend the schema.
    public enum SchemaMode: Sendable, Hashable {
        /// Saving a new record type or key declares it.
        case open
        /// What has not been declared is refused, as in CloudKit's production environment; see
        /// ``CloudStore/importSchema(_:)``.
        case enforced
    }

    /// How much a request may ask for; more is `limitExceeded`.
    public struct Limits: Sendable, Hashable {
        /// Saves and deletes together, or records fetched.
        public var itemsPerRequest: Int
        /// Bytes of all records of a request, without assets.
        public var requestBytes: Int
        /// Bytes of one record, without assets.
        public var recordBytes: Int
        /// Bytes of one asset.
        public var assetBytes: Int
        /// References to one record that delete with it.
        public var owningReferences: Int
        /// Results of a page of a query or feed if nothing is said.
        public var pageSize: Int
        /// Results of a page at most.
        public var pageSizeMaximum: Int

        /// What CloudKit allows.
        public static let service = Limits(.service)
        /// For servers and tools.
        public static let embedded = Limits(.embedded)

        private init(_ options: StoreOptions) {
            let rules = options.limits
            itemsPerRequest = rules.itemsPerRequest
            requestBytes = rules.requestBytes
            recordBytes = rules.recordBytes
            owningReferences = rules.owningReferences
            pageSize = rules.pageSize
            pageSizeMaximum = rules.pageSizeMaximum
            assetBytes = Int(clamping: options.assetBytes)
        }

        fileprivate var rules: StrataRules.Limits {
            StrataRules.Limits(
                itemsPerRequest: itemsPerRequest, requestBytes: requestBytes, recordBytes: recordBytes,
                owningReferences: owningReferences, pageSize: pageSize, pageSizeMaximum: pageSizeMaximum)
        }
    }
}

extension CloudStore.Options {
    var engine: StoreOptions {
        StoreOptions(
            containerIdentifier: containerIdentifier, durability: durability.engine, limits: limits.rules,
            assetBytes: UInt64(max(0, limits.assetBytes)), touchesParents: parentTouch,
            unknownTypesAreErrors: predicates == .cloudKit,
            predicates: predicates.engine, schema: schema == .enforced ? .enforced : .open,
            recordsRefusals: recordRefusals, recordsFetches: recordFetches, history: history.engine)
    }

    var platform: Platform {
        Platform(
            time: clock is CloudStore.SystemClock ? SystemTime() : EngineTime(clock: clock),
            random: EngineRandom(numbers: random))
    }

    private struct EngineTime: TimeSource {
        let clock: any CloudStore.Clock

        func nowMicroseconds() -> Int64 {
            // A date that the log has no number for becomes the nearest that it has.
            let date = clock.now
            return date.microseconds ?? (date.timeIntervalSince1970 < 0 ? 0 : Int64.max >> 8)
        }
    }

    private struct EngineRandom: RandomSource {
        let numbers: any CloudStore.RandomNumbers
        func next() -> UInt64 { numbers.next() }
    }
}

extension CloudStore.PredicateDialect {
    var engine: StrataQuery.PredicateDialect { self == .cloudKit ? .cloudKit : .extended }
}

extension CloudStore.Durability {
    fileprivate var engine: StrataLog.Durability {
        switch self {
        case .commit: return .commit
        case .system: return .system
        case .interval(let interval):
            let (seconds, attoseconds) = interval.components
            let clamped = min(max(seconds, 0), 86_400)
            return .interval(milliseconds: max(1, Int(clamped) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)))
        }
    }
}
