import Foundation
import StrataSystem

extension CKOperation {
    /// The settings for running an operation. A setting that is not set is taken from the operation's group, else the
    /// default is used.
    ///
    /// ```swift
    /// let configuration = CKOperation.Configuration()
    /// configuration.qualityOfService = .userInitiated
    /// operation.configuration = configuration
    /// ```
    public final class Configuration: NSObject, CVarArg, Sendable {
        /// The settings that were set; nil leaves a setting to the next configuration.
        struct Explicit: Sendable {
            var container: CKContainer?
            var qualityOfService: QualityOfService?
            var allowsCellularAccess: Bool?
            var isLongLived: Bool?
            var timeoutIntervalForRequest: TimeInterval?
            var timeoutIntervalForResource: TimeInterval?

            /// Returns these settings, with missing ones taken from another configuration.
            func merged(over other: Explicit) -> Explicit {
                Explicit(
                    container: container ?? other.container,
                    qualityOfService: qualityOfService ?? other.qualityOfService,
                    allowsCellularAccess: allowsCellularAccess ?? other.allowsCellularAccess,
                    isLongLived: isLongLived ?? other.isLongLived,
                    timeoutIntervalForRequest: timeoutIntervalForRequest ?? other.timeoutIntervalForRequest,
                    timeoutIntervalForResource: timeoutIntervalForResource ?? other.timeoutIntervalForResource)
            }

            /// A caller that waits for an operation does not want a week of retries (B205).
            static func resourceTimeout(of quality: QualityOfService) -> TimeInterval {
                switch quality {
                case .userInteractive, .userInitiated: .infinity
                default: 7 * 24 * 60 * 60
                }
            }
        }

        private let values: Lock<Explicit>

        /// Creates a configuration in which nothing is set.
        public override init() { values = Lock(Explicit()) }

        init(_ explicit: Explicit) { values = Lock(explicit) }

        var explicit: Explicit { values.withLock { $0 } }

        /// The container to work in if the operation has no database; nil for the default container.
        public var container: CKContainer? {
            get { explicit.container }
            set { values.withLock { $0.container = newValue } }
        }

        /// The urgency of the operation; `.default` by default.
        public var qualityOfService: QualityOfService {
            get { explicit.qualityOfService ?? .default }
            set { values.withLock { $0.qualityOfService = newValue } }
        }

        /// True if the operation may use a cellular network, as by default.
        public var allowsCellularAccess: Bool {
            get { explicit.allowsCellularAccess ?? true }
            set { values.withLock { $0.allowsCellularAccess = newValue } }
        }

        /// True if the operation outlives the process; false by default.
        public var isLongLived: Bool {
            get { explicit.isLongLived ?? false }
            set { values.withLock { $0.isLongLived = newValue } }
        }

        /// The number of seconds within which the store must answer; 60 by default.
        public var timeoutIntervalForRequest: TimeInterval {
            get { explicit.timeoutIntervalForRequest ?? 60 }
            set { values.withLock { $0.timeoutIntervalForRequest = newValue } }
        }

        /// The number of seconds within which the whole operation must end; by default a week, or no limit if a user
        /// waits for it.
        public var timeoutIntervalForResource: TimeInterval {
            get {
                values.withLock {
                    $0.timeoutIntervalForResource
                        ?? Explicit.resourceTimeout(of: $0.qualityOfService ?? .default)
                }
            }
            set { values.withLock { $0.timeoutIntervalForResource = newValue } }
        }
    }
}
