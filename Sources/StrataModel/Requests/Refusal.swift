/// The reason for rejecting a request, or one item of it: a decision of the rules, not a failure of the store.
///
/// ```swift
/// if case .failure(let refusal) = result.saves[0], refusal.code == .serverRecordChanged {
///     resolve(against: refusal.serverVersion)
/// }
/// ```
public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of the corresponding `CKError`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        public static let internalError = Self(rawValue: 1)
        public static let partialFailure = Self(rawValue: 2)
        public static let serviceUnavailable = Self(rawValue: 6)
        public static let notAuthenticated = Self(rawValue: 9)
        public static let permissionFailure = Self(rawValue: 10)
        public static let unknownItem = Self(rawValue: 11)
        public static let invalidArguments = Self(rawValue: 12)
        public static let serverRecordChanged = Self(rawValue: 14)
        public static let serverRejectedRequest = Self(rawValue: 15)
        public static let batchRequestFailed = Self(rawValue: 22)
        public static let changeTokenExpired = Self(rawValue: 21)
        public static let badDatabase = Self(rawValue: 24)
        public static let quotaExceeded = Self(rawValue: 25)
        public static let zoneNotFound = Self(rawValue: 26)
        public static let limitExceeded = Self(rawValue: 27)
        public static let userDeletedZone = Self(rawValue: 28)
        public static let tooManyParticipants = Self(rawValue: 29)
        public static let alreadyShared = Self(rawValue: 30)
        public static let referenceViolation = Self(rawValue: 31)
        public static let participantMayNeedVerification = Self(rawValue: 33)
        public static let serverResponseLost = Self(rawValue: 34)
        public static let accountTemporarilyUnavailable = Self(rawValue: 36)
        public static let participantAlreadyInvited = Self(rawValue: 37)

        static let names: [Code: String] = [
            .internalError: "internal error", .partialFailure: "partial failure",
            .serviceUnavailable: "service unavailable",
            .notAuthenticated: "not authenticated", .permissionFailure: "permission failure",
            .unknownItem: "unknown item", .invalidArguments: "invalid arguments",
            .serverRecordChanged: "server record changed", .serverRejectedRequest: "server rejected request",
            .batchRequestFailed: "batch request failed", .badDatabase: "bad database",
            .changeTokenExpired: "change token expired",
            .zoneNotFound: "zone not found", .limitExceeded: "limit exceeded", .userDeletedZone: "user deleted zone",
            .referenceViolation: "reference violation", .serverResponseLost: "server response lost",
            .quotaExceeded: "quota exceeded", .accountTemporarilyUnavailable: "account temporarily unavailable",
            .participantMayNeedVerification: "participant may need verification",
            .tooManyParticipants: "too many participants", .alreadyShared: "already shared",
            .participantAlreadyInvited: "participant already invited",
        ]

        public var description: String { Self.names[self] ?? "error \(rawValue)" }
    }

    public var code: Code
    /// The reason in words. Commits and audits store it. A later release may word it differently: reruns compare
    /// refusals with a log by item, code and stored version (docs/rules.md §1).
    public var message: String
    /// The stored version of the record, if it is the reason.
    public var serverVersion: Version?
    /// The version of the record that the client had seen.
    public var baseVersion: Version?
    /// True if the zone was deleted because its user reset encrypted data.
    public var didResetEncryptedData: Bool
    /// The time after which the same request may succeed; nil if that is not known. Equality ignores it.
    public var retryAfterSeconds: Double?
    /// The time after which a request may succeed that failed because of the servers that order the log: they elect a
    /// leader within seconds.
    package static let serverRetrySeconds = 1.0
    /// The rule that applied; nil for a refusal that was read from a commit, which does not store it. Equality ignores
    /// the rule.
    public var rule: Rule?

    public init(
        _ code: Code, _ message: String, rule: Rule? = nil, serverVersion: Version? = nil, baseVersion: Version? = nil,
        didResetEncryptedData: Bool = false, retryAfterSeconds: Double? = nil
    ) {
        self.code = code
        self.message = message
        self.serverVersion = serverVersion
        self.baseVersion = baseVersion
        self.didResetEncryptedData = didResetEncryptedData
        self.retryAfterSeconds = retryAfterSeconds
        self.rule = rule
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && isSameText(left.message, right.message) && left.serverVersion == right.serverVersion
            && left.baseVersion == right.baseVersion && left.didResetEncryptedData == right.didResetEncryptedData
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(bytesOf: message)
        hasher.combine(serverVersion)
        hasher.combine(baseVersion)
        hasher.combine(didResetEncryptedData)
    }

    public var description: String { "\(message) (\(code))" }
}
