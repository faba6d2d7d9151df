import Foundation

extension CloudStore {
    /// The kinds of requests that a client makes, whether by an operation or by a method of `CKDatabase`.
    public enum RequestKind: String, Sendable, Hashable, CaseIterable {
        /// Saves and deletes of records.
        case modifyRecords
        /// Fetches records by their IDs.
        case fetchRecords
        /// Fetches a page of a query.
        case query
        /// Saves and deletes of zones.
        case modifyRecordZones
        /// Fetches zones by their IDs, or all zones.
        case fetchRecordZones
        /// Fetches a page of a database's changes.
        case fetchDatabaseChanges
        /// Fetches a page of a zone's changes.
        case fetchRecordZoneChanges
        /// Saves and deletes of subscriptions.
        case modifySubscriptions
        /// Fetches subscriptions by their IDs, or all subscriptions.
        case fetchSubscriptions
        /// Looks up users by their addresses, or asks for the state of a permission. Such requests have no items.
        case fetchUserIdentities
        /// Asks the user for a permission.
        case requestPermission
        /// Fetches shares by their URLs, or participants to add to them.
        case fetchShares
        /// Accepts shares, or asks for access to them.
        case joinShares

        /// True if a request changes something, so that its response can be lost.
        var modifies: Bool {
            switch self {
            case .modifyRecords, .modifyRecordZones, .modifySubscriptions, .requestPermission, .joinShares: true
            default: false
            }
        }
    }

    /// The unit that fails.
    public enum FaultScope: Sendable, Hashable {
        /// A request as a whole; the store never sees it.
        case request
        /// The first items of requests: records, zones, subscriptions, matches of a query. The other items are
        /// processed as usual, except those of an atomic zone, which fail too.
        case item
    }

    /// The network between a device and the store.
    public enum Network: Sendable, Hashable {
        /// No delays and no failures.
        case normal
        /// Each request takes longer by this duration.
        case slow(Duration)
        /// Requests that do not allow cellular access fail with `networkUnavailable`.
        case cellularOnly
        /// All requests fail with `networkUnavailable`; notifications wait.
        case unavailable
    }

    /// Random faults from a seed: failing requests and items, lost responses and expired tokens, each with a
    /// probability.
    ///
    /// The faults of a device's requests depend only on the seed, the device and the number of the request. A run that
    /// failed can therefore be repeated with the seed from its description.
    ///
    /// ```swift
    /// let plan = CloudStore.FaultPlan(seed: 17)
    /// try store.console.setFaultPlan(plan)
    /// print(plan)
    /// ```
    public struct FaultPlan: Sendable, Hashable, CustomStringConvertible {
        /// The seed that determines all faults.
        public var seed: UInt64
        /// The probability that a request fails before the store sees it, with one of ``codes``.
        public var requestFailure = 0.1
        /// The probability that a single item of a request fails, with one of ``codes``.
        public var itemFailure = 0.02
        /// The probability that a request is applied but its response is lost.
        public var lostResponse = 0.05
        /// The probability that a request with a change token finds it expired.
        public var expiredToken = 0.02
        /// The probability that a request is delayed, by at most ``longestDelay``.
        public var delay = 0.0
        /// The maximum delay of a request.
        public var longestDelay = Duration.milliseconds(20)
        /// The codes of injected errors. By default, a client may retry after each of them.
        public var codes: [CKError.Code] = [
            .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy,
        ]
        /// The retry time of `requestRateLimited`, `zoneBusy` and `serviceUnavailable`, in seconds; nil for none.
        public var retryAfter: TimeInterval? = 0.01

        /// Creates a plan with the default probabilities.
        public init(seed: UInt64) { self.seed = seed }

        /// The seed, and all values that differ from the defaults.
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
