import Foundation
import StrataLog
import StrataQuery
import StrataRules
import StrataStore
import StrataSystem

extension CloudStore {
    /// The options of a store. ``service`` behaves like CloudKit, ``embedded`` like a database for servers and tools.
    ///
    /// ```swift
    /// var options = CloudStore.Options.embedded
    /// options.durability = .interval(.milliseconds(50))
    /// let store = try CloudStore(at: url, options: options)
    /// ```
    public struct Options: Sendable {
        /// The name of the container, which the store records.
        public var containerIdentifier = StoreOptions.service.containerIdentifier
        /// Determines when a save is durable.
        public var durability = Durability.commit
        /// Determines how a call for several records reports that one of them failed.
        public var atomicFailures = AtomicFailures.throwing
        /// The predicates that a query may use.
        public var predicates = PredicateDialect.cloudKit
        /// Determines if saves extend the schema.
        public var schema = SchemaMode.open
        /// The limits of a request.
        public var limits = Limits.service
        /// True if saving a child gives its parent a new change tag.
        public var parentTouch = StoreOptions.service.touchesParents
        /// True to record rejected requests in the log, complete and with the reasons, for later diagnosis. No call
        /// waits for this: a rejection is written with the next change, or after a second; after 10 seconds in a store
        /// that several processes write.
        public var recordRefusals = true
        /// True to record fetches, queries and followed feeds in the log, in the same way as rejections.
        public var recordFetches = StoreOptions.service.recordsFetches
        /// The history to keep; by default all of it.
        public var history = HistoryPolicy.everything
        /// The part of the URLs of shares before their tokens. Apps may check for Apple's host.
        public var shareURLBase = "https://www.icloud.com/share/"
        /// The source of time.
        public var clock: any Clock = SystemClock()
        /// The source of random numbers.
        public var random: any RandomNumbers = SystemRandomNumbers()

        /// Creates the options of ``service``.
        public init() {}

        /// The behavior of CloudKit: requests that succeed here succeed with CloudKit.
        public static var service: Options { Options() }

        /// Options for servers and tools: more predicates, larger limits, and saves that do not touch parents.
        public static var embedded: Options {
            var options = Options()
            options.predicates = .extended
            options.limits = .embedded
            options.parentTouch = StoreOptions.embedded.touchesParents
            return options
        }
    }

    /// Determines when a save is durable.
    public enum Durability: Sendable, Hashable {
        /// Before the call returns: a save survives a power loss.
        case commit
        /// Within this interval. The end of the process loses nothing; a power loss loses at most the last interval.
        case interval(Duration)
        /// When the operating system writes it, or with ``CloudStore/sync()``.
        case system
    }

    /// Determines how the asynchronous `modifyRecords` reports that an item of an atomic zone failed.
    public enum AtomicFailures: Sendable, Hashable {
        /// It throws `partialFailure`, as Apple documents.
        case throwing
        /// It returns a result for each item, as observed with the service.
        case perItem
    }

    /// The predicates that a query may use.
    public enum PredicateDialect: Sendable, Hashable {
        /// The predicates that CloudKit accepts.
        case cloudKit
        /// All predicates that can be evaluated.
        case extended
    }

    /// Determines if saves extend the schema.
    public enum SchemaMode: Sendable, Hashable {
        /// Saving a new record type or key declares it.
        case open
        /// Undeclared types and keys are rejected, as in CloudKit's production environment; see
        /// ``CloudStore/importSchema(_:)``.
        case enforced
    }

    /// The limits of a request, above which it fails with `limitExceeded`.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of saves and deletes together, or of fetched records.
        public var itemsPerRequest: Int
        /// The maximum bytes of all records of a request, without assets.
        public var requestBytes: Int
        /// The maximum bytes of one record, without assets.
        public var recordBytes: Int
        /// The maximum bytes of one asset.
        public var assetBytes: Int
        /// The maximum number of references to one record that delete their records with it.
        public var owningReferences: Int
        /// The default number of results in a page of a query or feed.
        public var pageSize: Int
        /// The maximum number of results in a page.
        public var pageSizeMaximum: Int

        /// The limits of CloudKit.
        public static let service = Limits(.service)
        /// The limits for servers and tools.
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
            // A date outside the range of the log becomes the nearest date in it.
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
