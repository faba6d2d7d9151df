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
    public typealias Durability = StrataLog.Durability

    /// Determines how the asynchronous `modifyRecords` reports that an item of an atomic zone failed.
    public enum AtomicFailures: Sendable, Hashable {
        /// It throws `partialFailure`, as Apple documents.
        case throwing
        /// It returns a result for each item, as observed with the service.
        case perItem
    }

    /// The predicates that a query may use.
    public typealias PredicateDialect = StrataQuery.PredicateDialect

    /// Determines if saves extend the schema. A store that enforces it needs ``CloudStore/importSchema(_:)``.
    public typealias SchemaMode = StrataRules.SchemaMode

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
            containerIdentifier: containerIdentifier, durability: durability.bounded, limits: limits.rules,
            assetBytes: UInt64(max(0, limits.assetBytes)), touchesParents: parentTouch,
            unknownTypesAreErrors: predicates == .cloudKit,
            predicates: predicates, schema: schema,
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

extension Durability {
    /// The same, with an interval from a millisecond to a day.
    fileprivate var bounded: Durability {
        guard case .interval(let interval) = self else { return self }
        return .interval(min(max(interval, .milliseconds(1)), .seconds(86_400)))
    }
}
