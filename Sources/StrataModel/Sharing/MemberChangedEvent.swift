/// The event by which a user joins a share, leaves it, or gets another permission in it.
package struct MemberChangedEvent: StatedEvent {
    package static let kind = EventKind.memberChanged
    package static let shownFields = ShownFields<Self> {
        Shown(.user, "ordinal of the member", after: "") { $0.user }
        Shown(after: " ") { $0.isGone ? "left" : $0.joined == nil ? "joined" : "is still in" }
        Shown("share", "number of the share", after: " share ") { $0.share }
        Shown(.zone, after: " in ") { $0.zone }
        Shown("role", "`administrator`, `private user` or `public user`") { $0.role.name }
        Shown("permission", "`none`, `read only` or `read and write`") { $0.permission.name }
        Shown(after: ": ") { $0.isGone ? nil : "\($0.role.name), \($0.permission.name)" }
        Shown("joined", "version of the event by which the user joined", if: "unless it is this event") { $0.joined }
        Shown("accessEnded", "version of the event by which the access ended", if: "that was an earlier event") {
            $0.ended
        }
        Shown("gone", "true if the user is no longer a member") { $0.isGone }
    }

    package var user: UInt64
    /// The number of the share.
    package var share: UInt64
    package var zone: UInt64
    package var permission: SharePermission
    package var role: ShareRole
    /// The version of the event by which the user joined, or got access back after none; nil for this event. It begins
    /// a life of the membership, whose tokens end with it.
    package var joined: Version?
    /// The version of the earlier event by which the user's access ended; nil while there is access, or if this event
    /// ends it.
    package var ended: Version?
    /// True if the user is no longer a member.
    package var isGone: Bool
    package var original: Version?

    package init(
        user: UInt64, share: UInt64, zone: UInt64, permission: SharePermission, role: ShareRole,
        joined: Version? = nil, ended: Version? = nil, isGone: Bool = false, original: Version? = nil
    ) {
        self.user = user
        self.share = share
        self.zone = zone
        self.permission = permission
        self.role = role
        self.joined = joined
        self.ended = ended
        self.isGone = isGone
        self.original = original
    }

    private static let joined: UInt64 = 4
    private static let gone: UInt64 = 6
    private static let ended: UInt64 = 8

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(user)
        writer.appendVarint(share)
        writer.appendVarint(zone)
        writer.append(permission.rawValue)
        writer.append(role.rawValue)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.joined, joined?.packed ?? 0)
            writer.appendField(Self.gone, isGone ? 1 : 0)
            writer.appendField(Self.ended, ended?.packed ?? 0)
        }
    }

    package init(from reader: inout ByteReader) throws {
        let user = try reader.readVarint("a user")
        let share = try reader.readVarint("a share")
        let zone = try reader.readEventZone()
        self.init(
            user: user, share: share, zone: zone, permission: try reader.readNumbered("a permission"),
            role: try reader.readNumbered("a role"))
        var fields = try KeyedFields(from: &reader, "the fields of a member")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.joined: joined = try field.version()
            case Self.gone: isGone = try field.number("the end of a membership", atMost: 1) == 1
            case Self.ended: ended = try field.version()
            default: try field.skip()
            }
        }
    }
}

extension ByteReader {
    /// Reads a number of one byte that stands for a case.
    mutating func readNumbered<Value: RawRepresentable<UInt8>>(_ what: StaticString) throws -> Value {
        let number = try read(UInt8.self, what)
        guard let value = Value(rawValue: number) else { throw StrataError.newer(what, number, self) }
        return value
    }
}

extension KeyedFields.Field {
    /// Reads a number that stands for a case, and is not 0.
    mutating func numbered<Value: RawRepresentable<UInt8>>(_ what: StaticString) throws -> Value {
        let number = try number(what)
        guard let value = UInt8(exactly: number).flatMap({ Value(rawValue: $0) }) else {
            throw StrataError.newer(what, number, self.value)
        }
        return value
    }
}
