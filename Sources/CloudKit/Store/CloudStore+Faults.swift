import Foundation

extension CloudStore {
    /// What a client asks a store for: one request each, whether by an operation or by a method of `CKDatabase`.
    public enum RequestKind: String, Sendable, Hashable, CaseIterable {
        /// Saves and deletes of records.
        case modifyRecords
        /// Records by their ids.
        case fetchRecords
        /// A page of a query.
        case query
        /// Saves and deletes of zones.
        case modifyRecordZones
        /// Zones by their ids, or all.
        case fetchRecordZones
        /// A page of a database's changes.
        case fetchDatabaseChanges
        /// A page of a zone's changes.
        case fetchRecordZoneChanges
        /// Saves and deletes of subscriptions.
        case modifySubscriptions
        /// Subscriptions by their ids, or all.
        case fetchSubscriptions

        /// Whether a request changes something, so that its answer can be lost.
        var modifies: Bool {
            switch self {
            case .modifyRecords, .modifyRecordZones, .modifySubscriptions: true
            default: false
            }
        }
    }

    /// What fails.
    public enum FaultScope: Sendable, Hashable {
        /// A request as a whole; the store never sees it.
        case request
        /// Single items of requests, the first ones: records, zones, subscriptions, matches of a query. The others are
        /// judged as usual, but for those of an atomic zone, which fail with them.
        case item
    }

    /// What lies between a device and the store.
    public enum Network: Sendable, Hashable {
        /// As fast as the store is.
        case normal
        /// Each request takes so much longer.
        case slow(Duration)
        /// What does not allow cellular access fails with `networkUnavailable`.
        case cellularOnly
        /// Everything fails with `networkUnavailable`; notifications wait.
        case unavailable
    }

    /// Bad luck with a seed: requests fail, items fail, answers are lost and tokens expire, each with its probability.
    ///
    /// What happens to the requests of one device follows from the seed, the device and the number of the request
    /// alone; so a run that failed is repeated with the seed that its description names.
    ///
    /// ```swift
    /// let plan = CloudStore.FaultPlan(seed: 17)
    /// try store.console.setFaultPlan(plan)
    /// print(plan)
    /// ```
    public struct FaultPlan: Sendable, Hashable, CustomStringConvertible {
        /// Everything that happens follows from it.
        public var seed: UInt64
        /// That a request fails before the store sees it, with one of ``codes``.
        public var requestFailure = 0.1
        /// That an item of a request fails alone, with one of ``codes``.
        public var itemFailure = 0.02
        /// That a request is applied and its answer lost.
        public var lostResponse = 0.05
        /// That a request with a change token finds it expired.
        public var expiredToken = 0.02
        /// That a request is late, by at most ``longestDelay``.
        public var delay = 0.0
        /// The longest that a request is late.
        public var longestDelay = Duration.milliseconds(20)
        /// What requests and items fail with; all are errors after which a client may try again.
        public var codes: [CKError.Code] = [
            .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy,
        ]
        /// What `requestRateLimited`, `zoneBusy` and `serviceUnavailable` say about when to try again; nil: nothing.
        public var retryAfter: TimeInterval? = 0.01

        /// A plan with the usual probabilities.
        public init(seed: UInt64) { self.seed = seed }

        /// With the seed, and what is not as usual.
        public var description: String {
            let usual = FaultPlan(seed: seed)
            var parts = ["seed: \(seed)"]
            func add<Value: Equatable>(_ name: String, _ path: KeyPath<FaultPlan, Value>) {
                if self[keyPath: path] != usual[keyPath: path] { parts.append("\(name): \(self[keyPath: path])") }
            }
            add("requestFailure", \.requestFailure)
            add("itemFailure", \.itemFailure)
            add("lostResponse", \.lostResponse)
            add("expiredToken", \.expiredToken)
            add("delay", \.delay)
            add("longestDelay", \.longestDelay)
            if codes != usual.codes { parts.append("codes: [\(codes.map { ".\($0)" }.joined(separator: ", "))]") }
            if retryAfter != usual.retryAfter {
                parts.append("retryAfter: \(retryAfter.map { "\($0)" } ?? "nil")")
            }
            return "FaultPlan(\(parts.joined(separator: ", ")))"
        }
    }
}
