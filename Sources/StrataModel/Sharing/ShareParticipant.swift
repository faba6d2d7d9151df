/// A participant of a share, as stored in the share's record.
package struct ShareParticipant: Sendable, Hashable {
    /// The address by which a user was invited.
    package enum Address: Sendable, Hashable {
        case email(String)
        case phone(String)
    }

    /// Identifies the participant within the share; chosen by the client.
    package var id: String
    /// The name of the user; empty if no user is known to have the address yet.
    package var user: String
    /// Nil for a participant that was found by their user record, and for one with a one-time URL.
    package var address: Address?
    package var role: ShareRole
    package var permission: SharePermission
    package var hasAccepted: Bool
    /// The time of the commit that added the participant, in microseconds since 1970.
    package var added: Int64
    /// True if the participant asked for access and was then added.
    package var isApprovedRequester: Bool
    /// The token of the URL that only this participant can use; empty if there is none.
    package var oneTimeToken: String

    package init(
        id: String, user: String = "", address: Address? = nil, role: ShareRole = .privateUser,
        permission: SharePermission = .readOnly, hasAccepted: Bool = false, added: Int64 = 0,
        isApprovedRequester: Bool = false, oneTimeToken: String = ""
    ) {
        self.id = id
        self.user = user
        self.address = address
        self.role = role
        self.permission = permission
        self.hasAccepted = hasAccepted
        self.added = added
        self.isApprovedRequester = isApprovedRequester
        self.oneTimeToken = oneTimeToken
    }

    private static let user: UInt64 = 2
    private static let email: UInt64 = 4
    private static let phone: UInt64 = 6
    private static let oneTimeToken: UInt64 = 8
    private static let added: UInt64 = 10
    private static let flags: UInt64 = 12

    func encode(into writer: inout ByteWriter) throws {
        try writer.append(name: id)
        writer.append(role.rawValue)
        writer.append(permission.rawValue)
        writer.appendMeasured { writer in
            writer.appendField(Self.user, text: user.isEmpty ? nil : user)
            switch address {
            case .email(let text): writer.appendField(Self.email, text: text)
            case .phone(let text): writer.appendField(Self.phone, text: text)
            case nil: break
            }
            writer.appendField(Self.oneTimeToken, text: oneTimeToken.isEmpty ? nil : oneTimeToken)
            writer.appendField(Self.added, time: added == 0 ? nil : added)
            writer.appendField(Self.flags, (hasAccepted ? 1 : 0) | (isApprovedRequester ? 2 : 0))
        }
    }

    init(from reader: inout ByteReader) throws {
        let id = try reader.readName("a participant")
        let role: ShareRole = try reader.readNumbered("a role")
        self.init(id: id, role: role, permission: try reader.readNumbered("a permission"))
        var fields = try KeyedFields(from: &reader, "the fields of a participant")
        while var field = try fields.next() {
            switch field.key {
            case Self.user: user = try field.text("a user", atMost: Envelope.maximumNameBytes)
            case Self.email: address = .email(try field.text("an address", atMost: Envelope.maximumNameBytes))
            case Self.phone: address = .phone(try field.text("an address", atMost: Envelope.maximumNameBytes))
            case Self.oneTimeToken:
                oneTimeToken = try field.text("a share's token", atMost: ShareSavedEvent.maximumTokenBytes)
            case Self.added: added = try field.time("the time of an invitation")
            case Self.flags:
                let flags = try field.number("the flags of a participant", atMost: 3)
                hasAccepted = flags & 1 != 0
                isApprovedRequester = flags & 2 != 0
            default: try field.skip()
            }
        }
    }
}
