/// The way a device presents a subscription's notifications (docs/format.md §18); nil for properties that are not set.
public struct NotificationInfo: Sendable, Hashable {
    public static let maximumTextBytes = 65_536
    public static let maximumListCount = 65_535

    public var alertBody: String?
    public var alertLocalizationKey: String?
    public var title: String?
    public var titleLocalizationKey: String?
    public var subtitle: String?
    public var subtitleLocalizationKey: String?
    public var alertActionLocalizationKey: String?
    public var alertLaunchImage: String?
    public var soundName: String?
    public var category: String?
    public var collapseIDKey: String?
    public var alertLocalizationArguments: [String]?
    public var titleLocalizationArguments: [String]?
    public var subtitleLocalizationArguments: [String]?
    public var desiredKeys: [String]?
    public var shouldBadge = false
    public var shouldSendContentAvailable = false
    public var shouldSendMutableContent = false

    public init() {}

    private typealias Path<Value> = WritableKeyPath<NotificationInfo, Value> & Sendable

    // Keyed by their numbers on disk.
    private static let texts: [(number: UInt64, path: Path<String?>)] = [
        (1, \.alertBody), (2, \.alertLocalizationKey), (3, \.title), (4, \.titleLocalizationKey), (5, \.subtitle),
        (6, \.subtitleLocalizationKey), (7, \.alertActionLocalizationKey), (8, \.alertLaunchImage), (9, \.soundName),
        (10, \.category), (11, \.collapseIDKey),
    ]
    private static let lists: [(number: UInt64, path: Path<[String]?>)] = [
        (16, \.alertLocalizationArguments), (17, \.titleLocalizationArguments),
        (18, \.subtitleLocalizationArguments), (19, \.desiredKeys),
    ]
    private static let flags: [(number: UInt64, path: Path<Bool>)] = [
        (24, \.shouldBadge), (25, \.shouldSendContentAvailable), (26, \.shouldSendMutableContent),
    ]

    /// Returns the encoding that a subscription contains, which has no ordinals.
    public func encoded() throws -> [UInt8] {
        var writer = ByteWriter(reserving: 64)
        try encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout ByteWriter) throws {
        for (number, path) in Self.texts {
            try Self.check(self[keyPath: path])
            writer.appendField(number * 2 + 1, text: self[keyPath: path])
        }
        for (number, path) in Self.lists {
            guard let list = self[keyPath: path] else { continue }
            try StrataError.check("a notification's texts", count: list.count, atMost: Self.maximumListCount)
            try writer.appendField(number * 2 + 1) { writer in
                writer.appendVarint(UInt64(list.count))
                for text in list {
                    try Self.check(text)
                    writer.appendString(text)
                }
            }
        }
        for (number, path) in Self.flags { writer.appendField(number * 2 + 1, self[keyPath: path] ? 1 : 0) }
    }

    private static func check(_ text: String?) throws {
        try StrataError.check("a notification's text", count: text?.utf8.count ?? 0, atMost: maximumTextBytes)
    }

    init(from reader: ByteReader) throws {
        var fields = KeyedFields(reader)
        while var field = try fields.next() {
            if let path = Self.texts.first(where: { $0.number * 2 + 1 == field.key })?.path {
                self[keyPath: path] = try field.text("a notification's text", atMost: Self.maximumTextBytes)
            } else if let path = Self.lists.first(where: { $0.number * 2 + 1 == field.key })?.path {
                let limit = UInt64(Self.maximumListCount)
                let count = try field.value.readVarint("the number of texts", atMost: limit)
                self[keyPath: path] = try (0..<count).map { _ in
                    try field.value.readString("a notification's text", atMost: Self.maximumTextBytes)
                }
                try field.value.expectEnd("a notification's texts")
            } else if let path = Self.flags.first(where: { $0.number * 2 + 1 == field.key })?.path {
                self[keyPath: path] = try field.number("a notification's flag", atMost: 1) == 1
            } else {
                try field.skip()
            }
        }
    }
}
