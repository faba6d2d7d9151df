import Foundation
import StrataModel
import StrataQuery

/// A subscription to the records of a type that match a predicate, in the public or private database.
///
/// ```swift
/// let subscription = CKQuerySubscription(
///     recordType: "Book", predicate: NSPredicate(format: "price < 5"), subscriptionID: "bargains",
///     options: [.firesOnRecordCreation, .firesOnRecordUpdate])
/// ```
// @unchecked: the predicate is immutable.
public final class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    /// The events that make a subscription fire.
    public struct Options: OptionSet, Sendable, BitwiseCopyable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A matching record was created.
        public static let firesOnRecordCreation = Self(rawValue: 1)
        /// A record was updated and now matches.
        public static let firesOnRecordUpdate = Self(rawValue: 2)
        /// A matching record was deleted.
        public static let firesOnRecordDeletion = Self(rawValue: 4)
        /// The subscription is removed after its first notification.
        public static let firesOnce = Self(rawValue: 8)
    }

    let question: FormatPredicate
    /// The events that make it fire.
    public let querySubscriptionOptions: Options

    /// Creates a subscription to the records of a type, with an ID.
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
        options: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    ) {
        self.init(
            subscriptionID, FormatPredicate.read(predicate), options: options,
            settings: Settings(recordType: recordType))
    }

    /// Creates a subscription to the records of a type, with a unique ID.
    @available(*, deprecated, message: "Pass a subscriptionID, or every launch creates another subscription.")
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate,
        options: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    ) {
        self.init(
            recordType: recordType, predicate: predicate, subscriptionID: UUID().uuidString, options: options)
    }

    private init(_ id: ID, _ question: FormatPredicate, options: Options, settings: Settings) {
        self.question = question
        querySubscriptionOptions = options
        super.init(id, .query, settings)
    }

    convenience init(stored model: NamedSubscription) {
        self.init(
            model.id, FormatPredicate(format: model.predicate, arguments: []),
            options: Options(rawValue: UInt(model.options.rawValue)), settings: Settings(stored: model))
    }

    override func model(for me: String) -> NamedSubscription {
        var model = super.model(for: me)
        model.predicate = question.tree.map(PredicateWriter.text) ?? ""
        model.options = Subscription.Options(rawValue: UInt64(querySubscriptionOptions.rawValue))
        return model
    }

    /// The type of the records.
    public var recordType: CKRecord.RecordType? { settings.withLock { $0.recordType } }
    /// The predicate that records must match.
    public var predicate: NSPredicate { question }

    /// The zone of the watched records; nil for all zones.
    public var zoneID: CKRecordZoneID? {
        get { settings.withLock { $0.zoneID } }
        set { settings.withLock { $0.zoneID = newValue } }
    }

    override var mistake: CKError? {
        if recordType?.isEmpty != false {
            return CKError(.invalidArguments, message: "The record type of subscription '\(subscriptionID)' is empty.")
        }
        let events: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
        if querySubscriptionOptions.isDisjoint(with: events) {
            return CKError(
                .invalidArguments, message: "Subscription '\(subscriptionID)' never fires: set its options.")
        }
        return question.mistake.map(CKError.init(predicate:)) ?? super.mistake
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKQuerySubscription, super.isEqual(object) else { return false }
        return other.question.isEqual(question) && other.querySubscriptionOptions == querySubscriptionOptions
    }

    // MARK: NSSecureCoding, NSCopying

    public override func copy(with zone: NSZone? = nil) -> Any {
        CKQuerySubscription(
            subscriptionID, question, options: querySubscriptionOptions, settings: settingsForCopy)
    }

    private enum Key {
        static let predicate = "Predicate"
        static let options = "QuerySubscriptionOptions"
    }

    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(question, forKey: Key.predicate)
        coder.encode(Int64(bitPattern: UInt64(querySubscriptionOptions.rawValue)), forKey: Key.options)
    }

    public required init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let question = archive.object(FormatPredicate.self, Key.predicate),
            let options = archive.integer(Key.options), archive.isIntact
        else { return nil }
        self.question = question
        querySubscriptionOptions = Options(rawValue: UInt(UInt64(bitPattern: options)))
        super.init(coder: coder)
    }

    override class var archivedType: SubscriptionType? { .query }
}
