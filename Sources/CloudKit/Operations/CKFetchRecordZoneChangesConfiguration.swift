import Foundation
import StrataSystem

/// The options for fetching a zone's changes: `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
///
/// ```swift
/// let since = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
///     previousServerChangeToken: token, desiredKeys: ["title"])
/// ```
public final class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying, CVarArg, Sendable {
    private struct Values: Sendable {
        var token: CKServerChangeToken?
        var resultsLimit = 0
        var desiredKeys: [CKRecord.FieldKey]?
    }

    private let values: Lock<Values>

    /// Creates a configuration that fetches everything.
    public override init() { values = Lock(Values()) }

    private init(_ values: Values) { self.values = Lock(values) }

    /// Creates a configuration that fetches the changes since a token.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init(
            Values(token: previousServerChangeToken, resultsLimit: resultsLimit ?? 0, desiredKeys: desiredKeys))
    }

    /// The token at which the last fetch ended; nil for all records.
    public var previousServerChangeToken: CKServerChangeToken? {
        get { values.withLock { $0.token } }
        set { values.withLock { $0.token = newValue } }
    }

    /// The maximum number of records in a page; 0 lets the store choose.
    public var resultsLimit: Int {
        get { values.withLock { $0.resultsLimit } }
        set { values.withLock { $0.resultsLimit = newValue } }
    }

    /// The fields to fetch; nil for all, an empty array for the records' metadata only.
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { values.withLock { $0.desiredKeys } }
        set { values.withLock { $0.desiredKeys = newValue } }
    }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesConfiguration(values.withLock { $0 })
    }

    private enum Key {
        static let token = "PreviousServerChangeToken"
        static let resultsLimit = "ResultsLimit"
        static let desiredKeys = "DesiredKeys"
    }

    public func encode(with coder: NSCoder) {
        let values = values.withLock { $0 }
        if let token = values.token { coder.encode(token, forKey: Key.token) }
        coder.encode(Int64(values.resultsLimit), forKey: Key.resultsLimit)
        if let keys = values.desiredKeys {
            coder.encode(NSArray(array: keys.map { NSString(string: $0) }), forKey: Key.desiredKeys)
        }
    }

    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        var values = Values()
        values.token = archive.object(CKServerChangeToken.self, Key.token)
        values.resultsLimit = Int(truncatingIfNeeded: archive.integer(Key.resultsLimit) ?? 0)
        values.desiredKeys = archive.strings(Key.desiredKeys)
        guard archive.isIntact, values.desiredKeys != nil || !archive.contains(Key.desiredKeys) else { return nil }
        self.values = Lock(values)
    }
}

/// The options for fetching a zone's changes: `CKFetchRecordZoneChangesOperation.ZoneOptions`.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation.ZoneConfiguration.")
public final class CKFetchRecordZoneChangesOptions: NSObject, NSSecureCoding, NSCopying, Sendable {
    let configuration: CKFetchRecordZoneChangesConfiguration

    /// Creates options that fetch everything.
    public override init() { configuration = CKFetchRecordZoneChangesConfiguration() }

    init(of configuration: CKFetchRecordZoneChangesConfiguration) { self.configuration = configuration }

    /// The token at which the last fetch ended; nil for all records.
    public var previousServerChangeToken: CKServerChangeToken? {
        get { configuration.previousServerChangeToken }
        set { configuration.previousServerChangeToken = newValue }
    }

    /// The maximum number of records in a page; 0 lets the store choose.
    public var resultsLimit: Int {
        get { configuration.resultsLimit }
        set { configuration.resultsLimit = newValue }
    }

    /// The fields to fetch; nil for all, an empty array for the records' metadata only.
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { configuration.desiredKeys }
        set { configuration.desiredKeys = newValue }
    }

    public static var supportsSecureCoding: Bool { true }

    public func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesOptions(
            of: CKFetchRecordZoneChangesConfiguration(
                previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit,
                desiredKeys: desiredKeys))
    }

    public func encode(with coder: NSCoder) { configuration.encode(with: coder) }

    public init?(coder: NSCoder) {
        guard let configuration = CKFetchRecordZoneChangesConfiguration(coder: coder) else { return nil }
        self.configuration = configuration
    }
}

extension CKFetchRecordZoneChangesOperation {
    /// The options for fetching a zone's changes.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The options for fetching a zone's changes.
    @available(*, deprecated, message: "Use ZoneConfiguration.")
    public typealias ZoneOptions = CKFetchRecordZoneChangesOptions
}
