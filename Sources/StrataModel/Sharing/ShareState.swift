/// The state of a share, stored as a value of its record (docs/decisions/0014-shares-are-records.md): the record's
/// history, feeds and conflicts thereby include the participants.
package struct ShareState: Sendable, Hashable {
    /// The type of the records of shares, and the key of this value in them. Clients cannot use either themselves.
    package static let recordType = "cloudkit.share"
    package static let key = "cloudkit.share"
    /// The keys that only shares can have: title, preview and type of what is shared.
    package static let systemKeys = ["cloudkit.title", "cloudkit.thumbnailImageData", "cloudkit.type"]
    /// The name of the record of a share that covers its whole zone.
    package static let zoneWideName = "cloudkit.zoneshare"
    /// The maximum number of participants, including the owner.
    package static let maximumParticipants = 100
    /// The maximum number of users who wait for an answer to their requests for access.
    package static let maximumRequesters = 100

    /// The number of the share.
    package var number: UInt64
    /// The name of the root record; nil if the share covers its whole zone.
    package var root: String?
    package var urlToken: String
    package var publicPermission: SharePermission = .none
    package var allowsAccessRequests = false
    /// The owner first, the others in the order in which they were added.
    package var participants: [ShareParticipant] = []
    /// The names of the users who ask for access, and of those who may not.
    package var requesters: [String] = []
    package var blockedUsers: [String] = []

    package init(number: UInt64, root: String?, urlToken: String) {
        self.number = number
        self.root = root
        self.urlToken = urlToken
    }

    package var isZoneWide: Bool { root == nil }

    package func participant(ofUser user: String) -> ShareParticipant? {
        participants.first { !$0.user.isEmpty && isSameText($0.user, user) }
    }

    private static let version: UInt8 = 1
    private static let root: UInt64 = 2
    private static let permission: UInt64 = 4
    private static let requests: UInt64 = 6
    private static let requesters: UInt64 = 8
    private static let blocked: UInt64 = 10

    package func encoded() throws -> [UInt8] {
        var writer = ByteWriter(reserving: 64 + 64 * participants.count)
        writer.append(Self.version)
        writer.appendVarint(number)
        writer.appendString(urlToken)
        try writer.appendList(participants) { try $0.encode(into: &$1) }
        writer.appendField(Self.root, text: root)
        writer.appendField(Self.permission, publicPermission == .none ? 0 : UInt64(publicPermission.rawValue))
        writer.appendField(Self.requests, allowsAccessRequests ? 1 : 0)
        for (key, users) in [(Self.requesters, requesters), (Self.blocked, blockedUsers)] where !users.isEmpty {
            try writer.appendField(key) { try $0.appendList(users) { try $1.append(name: $0) } }
        }
        return writer.bytes
    }

    package init(decoding bytes: ArraySlice<UInt8>) throws {
        self = try bytes.reading { try ShareState(from: &$0) }
    }

    private init(from reader: inout ByteReader) throws {
        let version = try reader.read(UInt8.self, "a share's version")
        guard version == Self.version else { throw StrataError.newer("a share's version", version, reader) }
        let number = try reader.readVarint("a share")
        self.init(
            number: number, root: nil,
            urlToken: try reader.readString("a share's token", atMost: ShareSavedEvent.maximumTokenBytes))
        participants = try reader.readList("the number of participants") { try ShareParticipant(from: &$0) }
        var fields = KeyedFields(restOf: &reader)
        while var field = try fields.next() {
            switch field.key {
            case Self.root: root = try field.text("a root's name", atMost: Envelope.maximumNameBytes)
            case Self.permission: publicPermission = try field.permission(default: .none)
            case Self.requests: allowsAccessRequests = try field.number("access requests", atMost: 1) == 1
            case Self.requesters: requesters = try field.users()
            case Self.blocked: blockedUsers = try field.users()
            default: try field.skip()
            }
        }
    }
}

extension KeyedFields.Field {
    mutating func users() throws -> [String] {
        let users = try value.readList("the number of users") { try $0.readName("a user") }
        try value.expectEnd("a list of users")
        return users
    }
}
