import Foundation
import StrataSystem

extension CKOperation {
    /// How an operation is to run. What is not set explicitly is taken from the operation's group, then from defaults.
    ///
    /// ```swift
    /// let configuration = CKOperation.Configuration()
    /// configuration.qualityOfService = .userInitiated
    /// operation.configuration = configuration
    /// ```
    public final class Configuration: NSObject, CVarArg, Sendable {
        /// What was set; nil is left to whoever comes next.
        struct Explicit: Sendable {
            var container: CKContainer?
            var qualityOfService: QualityOfService?
            var allowsCellularAccess: Bool?
            var isLongLived: Bool?
            var timeoutIntervalForRequest: TimeInterval?
            var timeoutIntervalForResource: TimeInterval?

            /// Fills in what is missing.
            func merged(over other: Explicit) -> Explicit {
                Explicit(
                    container: container ?? other.container,
                    qualityOfService: qualityOfService ?? other.qualityOfService,
                    allowsCellularAccess: allowsCellularAccess ?? other.allowsCellularAccess,
                    isLongLived: isLongLived ?? other.isLongLived,
                    timeoutIntervalForRequest: timeoutIntervalForRequest ?? other.timeoutIntervalForRequest,
                    timeoutIntervalForResource: timeoutIntervalForResource ?? other.timeoutIntervalForResource)
            }

            /// Whoever waits for an operation wants no week of retries (B205).
            static func resourceTimeout(of quality: QualityOfService) -> TimeInterval {
                switch quality {
                case .userInteractive, .userInitiated: .infinity
                default: 7 * 24 * 60 * 60
                }
            }
        }

        private let values: Lock<Explicit>

        /// A configuration in which everything is left open.
        public override init() { values = Lock(Explicit()) }

        init(_ explicit: Explicit) { values = Lock(explicit) }

        var explicit: Explicit { values.withLock { $0 } }

        /// The container to work in if the operation has no database; nil means the default container.
        public var container: CKContainer? {
            get { explicit.container }
            set { values.withLock { $0.container = newValue } }
        }

        /// How urgent the operation is; `.default` if nothing is said.
        public var qualityOfService: QualityOfService {
            get { explicit.qualityOfService ?? .default }
            set { values.withLock { $0.qualityOfService = newValue } }
        }

        /// Whether the operation may use a network that is paid for; true if nothing is said.
        public var allowsCellularAccess: Bool {
            get { explicit.allowsCellularAccess ?? true }
            set { values.withLock { $0.allowsCellularAccess = newValue } }
        }

        /// Whether the operation outlives the process; false if nothing is said.
        public var isLongLived: Bool {
            get { explicit.isLongLived ?? false }
            set { values.withLock { $0.isLongLived = newValue } }
        }

        /// Seconds that the store has to answer; 60 if nothing is said.
        public var timeoutIntervalForRequest: TimeInterval {
            get { explicit.timeoutIntervalForRequest ?? 60 }
            set { values.withLock { $0.timeoutIntervalForRequest = newValue } }
        }

        /// Seconds that the whole operation has; a week if nothing is said, without limit for what a user waits for.
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
