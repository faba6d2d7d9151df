/// The event that creates, changes or ends a share: the facts about it that the views need. The list of its
/// participants is in the share's record (docs/decisions/0014-shares-are-records.md).
package struct ShareSavedEvent: StatedEvent {
    package static let kind = EventKind.shareSaved
    package static let shownFields = ShownFields<Self> {
        Shown("share", "its number") { $0.share }
        Shown(.zone, after: "") { $0.record.zone }
        Shown("record", "name of the share's record", after: " / ") { $0.record.name }
        Shown(after: ", share ") { $0.share }
        Shown("root", "name of the root record", if: "unless the whole zone is shared") { $0.root }
        Shown(after: " of ") { $0.root ?? "the whole zone" }
        Shown("publicPermission", "`none`, `read only` or `read and write`") { $0.publicPermission.name }
        Shown("oneTimeURLs", "how many it has") { UInt64($0.oneTimeTokens.count) }
        Shown("ended", "true if it has ended") { $0.isEnded }
        Shown(after: ", ") { $0.access }
    }
    package static let maximumTokenBytes = 64

    /// A URL that only one participant can use, once.
    package struct OneTimeToken: Sendable, Hashable {
        package var token: String
        package var participant: String

        package init(_ token: String, of participant: String) {
            self.token = token
            self.participant = participant
        }
    }

    /// The number of the share, dense from 1 and never reused.
    package var share: UInt64
    /// The share's own record.
    package var record: RecordKey
    /// The name of the root record; nil if the share covers its whole zone.
    package var root: String?
    package var publicPermission: SharePermission
    /// The part of the URL that finds the share.
    package var urlToken: String
    package var oneTimeTokens: [OneTimeToken]
    package var isEnded: Bool
    package var original: Version?

    package init(
        share: UInt64, record: RecordKey, root: String?, publicPermission: SharePermission = .none, urlToken: String,
        oneTimeTokens: [OneTimeToken] = [], isEnded: Bool = false, original: Version? = nil
    ) {
        self.share = share
        self.record = record
        self.root = root
        self.publicPermission = publicPermission
        self.urlToken = urlToken
        self.oneTimeTokens = oneTimeTokens
        self.isEnded = isEnded
        self.original = original
    }

    /// The access of others than the participants, in words; nil for none.
    private var access: String? {
        if isEnded { return "ended" }
        if publicPermission != .none { return "public \(publicPermission.name)" }
        let count = oneTimeTokens.count
        return count == 0 ? nil : count == 1 ? "1 one-time URL" : "\(count) one-time URLs"
    }

    private static let root: UInt64 = 4
    private static let permission: UInt64 = 6
    private static let oneTimeTokens: UInt64 = 8
    private static let end: UInt64 = 10

    package func encode(into writer: inout ByteWriter) throws {
        try StrataError.checkName(record.name, "a share's name")
        writer.appendVarint(share)
        writer.appendVarint(record.zone)
        writer.appendString(record.name)
        writer.appendString(urlToken)
        try writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.root, text: root)
            writer.appendField(Self.permission, publicPermission == .none ? 0 : UInt64(publicPermission.rawValue))
            if !oneTimeTokens.isEmpty {
                try writer.appendField(Self.oneTimeTokens) { writer in
                    try writer.appendList(oneTimeTokens) { token, writer in
                        writer.appendString(token.token)
                        writer.appendString(token.participant)
                    }
                }
            }
            writer.appendField(Self.end, isEnded ? 1 : 0)
        }
    }

    package init(from reader: inout ByteReader) throws {
        let share = try reader.readVarint("a share")
        let zone = try reader.readEventZone()
        let record = RecordKey(zone: zone, name: try reader.readName("a share's name"))
        let token = try reader.readString("a share's token", atMost: Self.maximumTokenBytes)
        self.init(share: share, record: record, root: nil, urlToken: token)
        var fields = try KeyedFields(from: &reader, "the fields of a share")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.root: root = try field.text("a root's name", atMost: Envelope.maximumNameBytes)
            case Self.permission: publicPermission = try field.permission(default: .none)
            case Self.oneTimeTokens:
                oneTimeTokens = try field.value.readList("the number of one-time URLs") { reader in
                    let token = try reader.readString("a share's token", atMost: Self.maximumTokenBytes)
                    return OneTimeToken(token, of: try reader.readName("a participant"))
                }
                try field.value.expectEnd("one-time URLs")
            case Self.end: isEnded = try field.number("the end of a share", atMost: 1) == 1
            default: try field.skip()
            }
        }
    }
}

extension KeyedFields.Field {
    /// Reads a permission other than the default, which is never encoded.
    mutating func permission(default standard: SharePermission) throws -> SharePermission {
        let permission: SharePermission = try numbered("a permission")
        guard permission != standard else { throw value.malformed("a permission", expected: "left out") }
        return permission
    }
}
