import Foundation
import StrataModel
import StrataSystem

/// The way a device presents a subscription's notifications: `CKSubscription.NotificationInfo`.
///
/// ```swift
/// let silent = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
/// let loud = CKSubscription.NotificationInfo(alertBody: "News", soundName: "default", desiredKeys: ["title"])
/// subscription.notificationInfo = silent
/// ```
// @unchecked: a lock protects the mutable content.
public final class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    private let content: Lock<NotificationInfo>

    /// Creates an object in which nothing is set.
    public override convenience init() { self.init(NotificationInfo()) }

    init(_ content: NotificationInfo) {
        self.content = Lock(content)
        super.init()
    }

    /// Creates an object with the given settings.
    public convenience init(
        alertBody: String? = nil, alertLocalizationKey: String? = nil, alertLocalizationArgs: [CKRecord.FieldKey] = [],
        title: String? = nil, titleLocalizationKey: String? = nil, titleLocalizationArgs: [CKRecord.FieldKey] = [],
        subtitle: String? = nil, subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey] = [], alertActionLocalizationKey: String? = nil,
        alertLaunchImage: String? = nil, soundName: String? = nil, desiredKeys: [CKRecord.FieldKey] = [],
        shouldBadge: Bool = false, shouldSendContentAvailable: Bool = false, shouldSendMutableContent: Bool = false,
        category: String? = nil, collapseIDKey: String? = nil
    ) {
        var content = NotificationInfo()
        content.alertBody = alertBody
        content.alertLocalizationKey = alertLocalizationKey
        content.alertLocalizationArguments = alertLocalizationArgs.isEmpty ? nil : alertLocalizationArgs
        content.title = title
        content.titleLocalizationKey = titleLocalizationKey
        content.titleLocalizationArguments = titleLocalizationArgs.isEmpty ? nil : titleLocalizationArgs
        content.subtitle = subtitle
        content.subtitleLocalizationKey = subtitleLocalizationKey
        content.subtitleLocalizationArguments = subtitleLocalizationArgs.isEmpty ? nil : subtitleLocalizationArgs
        content.alertActionLocalizationKey = alertActionLocalizationKey
        content.alertLaunchImage = alertLaunchImage
        content.soundName = soundName
        content.desiredKeys = desiredKeys.isEmpty ? nil : desiredKeys
        content.shouldBadge = shouldBadge
        content.shouldSendContentAvailable = shouldSendContentAvailable
        content.shouldSendMutableContent = shouldSendMutableContent
        content.category = category
        content.collapseIDKey = collapseIDKey
        self.init(content)
    }

    /// The content in the form that the store saves.
    var model: NotificationInfo { content.withLock { $0 } }

    private func get<Value: Sendable>(_ path: WritableKeyPath<NotificationInfo, Value>) -> Value {
        model[keyPath: path]
    }

    private func set<Value: Sendable>(_ path: WritableKeyPath<NotificationInfo, Value>, _ value: Value) {
        content.withLock { $0[keyPath: path] = value }
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKNotificationInfo)?.model == model }
    public override var hash: Int { model.alertBody.hashValue ^ model.title.hashValue }
    public override var description: String { "<CKNotificationInfo: \(model)>" }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any { CKNotificationInfo(model) }

    private static var texts: [(key: String, path: WritableKeyPath<NotificationInfo, String?>)] {
        [
            ("AlertBody", \.alertBody), ("AlertLocalizationKey", \.alertLocalizationKey), ("Title", \.title),
            ("TitleLocalizationKey", \.titleLocalizationKey), ("Subtitle", \.subtitle),
            ("SubtitleLocalizationKey", \.subtitleLocalizationKey),
            ("AlertActionLocalizationKey", \.alertActionLocalizationKey), ("AlertLaunchImage", \.alertLaunchImage),
            ("SoundName", \.soundName), ("Category", \.category), ("CollapseIDKey", \.collapseIDKey),
        ]
    }

    private static var lists: [(key: String, path: WritableKeyPath<NotificationInfo, [String]?>)] {
        [
            ("AlertLocalizationArgs", \.alertLocalizationArguments),
            ("TitleLocalizationArgs", \.titleLocalizationArguments),
            ("SubtitleLocalizationArgs", \.subtitleLocalizationArguments), ("DesiredKeys", \.desiredKeys),
        ]
    }

    private static var marks: [(key: String, path: WritableKeyPath<NotificationInfo, Bool>)] {
        [
            ("ShouldBadge", \.shouldBadge), ("ShouldSendContentAvailable", \.shouldSendContentAvailable),
            ("ShouldSendMutableContent", \.shouldSendMutableContent),
        ]
    }

    public func encode(with coder: NSCoder) {
        let model = model
        for (key, path) in Self.texts {
            if let text = model[keyPath: path] { coder.encode(NSString(string: text), forKey: key) }
        }
        for (key, path) in Self.lists {
            if let list = model[keyPath: path] { coder.encode(NSArray(array: list), forKey: key) }
        }
        for (key, path) in Self.marks { coder.encode(Int64(model[keyPath: path] ? 1 : 0), forKey: key) }
    }

    public convenience init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        var model = NotificationInfo()
        for (key, path) in Self.texts where coder.containsValue(forKey: key) {
            guard let text = archive.string(key) else { return nil }
            model[keyPath: path] = text
        }
        for (key, path) in Self.lists where coder.containsValue(forKey: key) {
            guard let list = archive.strings(key) else { return nil }
            model[keyPath: path] = list
        }
        for (key, path) in Self.marks { model[keyPath: path] = archive.integer(key) == 1 }
        guard archive.isIntact else { return nil }
        self.init(model)
    }
}

extension CKNotificationInfo {
    /// The text of the alert.
    public var alertBody: String? {
        get { get(\.alertBody) }
        set { set(\.alertBody, newValue) }
    }
    /// The key of the alert's text in the app's localized strings.
    public var alertLocalizationKey: String? {
        get { get(\.alertLocalizationKey) }
        set { set(\.alertLocalizationKey, newValue) }
    }
    /// The keys of the record whose values are inserted into the localized text.
    public var alertLocalizationArgs: [CKRecord.FieldKey]? {
        get { get(\.alertLocalizationArguments) }
        set { set(\.alertLocalizationArguments, newValue) }
    }
    /// The title of the alert.
    public var title: String? {
        get { get(\.title) }
        set { set(\.title, newValue) }
    }
    /// The key of the title in the app's localized strings.
    public var titleLocalizationKey: String? {
        get { get(\.titleLocalizationKey) }
        set { set(\.titleLocalizationKey, newValue) }
    }
    /// The keys of the record whose values are inserted into the localized title.
    public var titleLocalizationArgs: [CKRecord.FieldKey]? {
        get { get(\.titleLocalizationArguments) }
        set { set(\.titleLocalizationArguments, newValue) }
    }
    /// The subtitle of the alert.
    public var subtitle: String? {
        get { get(\.subtitle) }
        set { set(\.subtitle, newValue) }
    }
    /// The key of the subtitle in the app's localized strings.
    public var subtitleLocalizationKey: String? {
        get { get(\.subtitleLocalizationKey) }
        set { set(\.subtitleLocalizationKey, newValue) }
    }
    /// The keys of the record whose values are inserted into the localized subtitle.
    public var subtitleLocalizationArgs: [CKRecord.FieldKey]? {
        get { get(\.subtitleLocalizationArguments) }
        set { set(\.subtitleLocalizationArguments, newValue) }
    }
    /// The key of the button's title in the app's localized strings.
    public var alertActionLocalizationKey: String? {
        get { get(\.alertActionLocalizationKey) }
        set { set(\.alertActionLocalizationKey, newValue) }
    }
    /// The image to show while the app starts.
    public var alertLaunchImage: String? {
        get { get(\.alertLaunchImage) }
        set { set(\.alertLaunchImage, newValue) }
    }
    /// The name of the sound to play.
    public var soundName: String? {
        get { get(\.soundName) }
        set { set(\.soundName, newValue) }
    }
    /// The keys whose values are sent with the notification; three at most (B190).
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { get(\.desiredKeys) }
        set { set(\.desiredKeys, newValue) }
    }
    /// True if the notification increments the app's badge.
    public var shouldBadge: Bool {
        get { get(\.shouldBadge) }
        set { set(\.shouldBadge, newValue) }
    }
    /// True if the notification wakes the app; set alone, it makes the notification silent (B192).
    public var shouldSendContentAvailable: Bool {
        get { get(\.shouldSendContentAvailable) }
        set { set(\.shouldSendContentAvailable, newValue) }
    }
    /// True if the app may change the notification before it is shown.
    public var shouldSendMutableContent: Bool {
        get { get(\.shouldSendMutableContent) }
        set { set(\.shouldSendMutableContent, newValue) }
    }
    /// The group of actions that the notification offers.
    public var category: String? {
        get { get(\.category) }
        set { set(\.category, newValue) }
    }
    /// The ID under which a later notification replaces an earlier one.
    public var collapseIDKey: String? {
        get { get(\.collapseIDKey) }
        set { set(\.collapseIDKey, newValue) }
    }
}
