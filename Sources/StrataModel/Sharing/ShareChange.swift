/// The changes of a save to the state of a share, as opposed to the fields of its record.
package struct ShareChange: Sendable, Hashable {
    /// A participant as the client sends it.
    package struct Participant: Sendable, Hashable {
        /// The means by which a participant is found.
        package enum Subject: Sendable, Hashable {
            /// A user, by the name of the user's own record.
            case user(recordName: String)
            case address(ShareParticipant.Address)
            /// The user who is the first to open the participant's one-time URL.
            case oneTimeURL
        }

        /// Identifies the participant within the share. The judge compares it with the stored participants.
        package var id: String
        package var subject: Subject
        package var role: ShareRole
        package var permission: SharePermission

        package init(_ id: String, _ subject: Subject, role: ShareRole, permission: SharePermission) {
            (self.id, self.subject, self.role, self.permission) = (id, subject, role, permission)
        }
    }

    /// The name of the root record of a new share, nil if the share covers its whole zone. Ignored for a stored share.
    package var root: String?
    /// The complete list, except that the owner may be left out; nil if the client did not change the list.
    package var participants: [Participant]?
    /// Nil if the client did not change it. The same holds for the next field.
    package var publicPermission: SharePermission?
    package var allowsAccessRequests: Bool?
    /// The record names of the users whose requests are denied, who are blocked, and who no longer are.
    package var denied: [String] = []
    package var blocked: [String] = []
    package var unblocked: [String] = []

    package init(
        root: String? = nil, participants: [Participant]? = nil, publicPermission: SharePermission? = nil,
        allowsAccessRequests: Bool? = nil
    ) {
        self.root = root
        self.participants = participants
        self.publicPermission = publicPermission
        self.allowsAccessRequests = allowsAccessRequests
    }

    /// True if the save changes more than the record's fields. Such a save needs the current change tag (B379).
    package var changesParticipation: Bool {
        participants != nil || publicPermission != nil || allowsAccessRequests != nil
            || !(denied.isEmpty && blocked.isEmpty && unblocked.isEmpty)
    }

    private static let root: UInt64 = 2
    private static let participants: UInt64 = 4
    private static let permission: UInt64 = 6
    private static let requests: UInt64 = 8
    private static let denied: UInt64 = 10
    private static let blocked: UInt64 = 12
    private static let unblocked: UInt64 = 14

    func encode(into writer: inout ByteWriter) throws {
        writer.appendField(Self.root, text: root)
        if let participants {
            try writer.appendField(Self.participants) { try $0.appendList(participants) { try $0.encode(into: &$1) } }
        }
        writer.appendField(Self.permission, publicPermission.map { UInt64($0.rawValue) } ?? 0)
        writer.appendField(Self.requests, allowsAccessRequests.map { $0 ? 2 : 1 } ?? 0)
        for (key, users) in [(Self.denied, denied), (Self.blocked, blocked), (Self.unblocked, unblocked)]
        where !users.isEmpty {
            try writer.appendField(key) { try $0.appendList(users) { try $1.append(name: $0) } }
        }
    }

    init(from reader: inout ByteReader) throws {
        self.init()
        var fields = KeyedFields(restOf: &reader)
        while var field = try fields.next() {
            switch field.key {
            case Self.root: root = try field.text("a root's name", atMost: Envelope.maximumNameBytes)
            case Self.participants:
                participants = try field.value.readList("the number of participants") { try Participant(from: &$0) }
                try field.value.expectEnd("participants")
            case Self.permission:
                let number = try field.number("a permission", atMost: 3)
                guard let permission = SharePermission(rawValue: UInt8(number)) else {
                    throw StrataError.newer("a permission", number, field.value)
                }
                publicPermission = permission
            case Self.requests: allowsAccessRequests = try field.number("access requests", atMost: 2) == 2
            case Self.denied: denied = try field.users()
            case Self.blocked: blocked = try field.users()
            case Self.unblocked: unblocked = try field.users()
            default: try field.skip()
            }
        }
    }
}

extension ShareChange.Participant {
    private static let subjects: (user: UInt8, email: UInt8, phone: UInt8, oneTimeURL: UInt8) = (1, 2, 3, 4)

    fileprivate func encode(into writer: inout ByteWriter) throws {
        try writer.append(name: id)
        writer.append(role.rawValue)
        writer.append(permission.rawValue)
        switch subject {
        case .user(let recordName):
            writer.append(Self.subjects.user)
            try writer.append(name: recordName)
        case .address(.email(let address)):
            writer.append(Self.subjects.email)
            try writer.append(name: address)
        case .address(.phone(let address)):
            writer.append(Self.subjects.phone)
            try writer.append(name: address)
        case .oneTimeURL: writer.append(Self.subjects.oneTimeURL)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        id = try reader.readName("a participant")
        role = try reader.readNumbered("a role")
        permission = try reader.readNumbered("a permission")
        switch try reader.read(UInt8.self, "the kind of a participant") {
        case Self.subjects.user: subject = .user(recordName: try reader.readName("a user's record"))
        case Self.subjects.email: subject = .address(.email(try reader.readName("an address")))
        case Self.subjects.phone: subject = .address(.phone(try reader.readName("an address")))
        case Self.subjects.oneTimeURL: subject = .oneTimeURL
        case let other: throw StrataError.newer("the kind of a participant", other, reader)
        }
    }
}
