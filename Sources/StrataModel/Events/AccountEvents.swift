/// That a database was written to for the first time.
public struct DatabaseCreatedEvent: StatedEvent {
    public static let kind = EventKind.databaseCreated

    public var database: UInt64
    public var original: Version?

    public init(database: UInt64, original: Version? = nil) {
        self.database = database
        self.original = original
    }

    public func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(database)
        writer.appendFields(original: original)
    }

    public init(from reader: inout ByteReader) throws {
        database = try reader.readVarint("a database")
        original = try reader.readOriginal()
    }
}

/// That a device of a user came for the first time.
public struct DeviceSeenEvent: StatedEvent {
    public static let kind = EventKind.deviceSeen

    public var device: UInt64
    public var original: Version?

    public init(device: UInt64, original: Version? = nil) {
        self.device = device
        self.original = original
    }

    public func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(device)
        writer.appendFields(original: original)
    }

    public init(from reader: inout ByteReader) throws {
        device = try reader.readVarint("a device")
        original = try reader.readOriginal()
    }
}

/// Whether a user can use the service. The numbers are CloudKit's, and on disk.
public enum AccountStatus: UInt8, Sendable, CaseIterable {
    case couldNotDetermine, available, restricted, noAccount, temporarilyUnavailable
}

/// What is known of a user from now on.
public struct UserChangedEvent: StatedEvent {
    public static let kind = EventKind.userChanged

    public var user: UInt64
    public var status: AccountStatus
    /// Bytes; 0 is no limit.
    public var quota: UInt64
    public var original: Version?

    public init(user: UInt64, status: AccountStatus = .available, quota: UInt64 = 0, original: Version? = nil) {
        self.user = user
        self.status = status
        self.quota = quota
        self.original = original
    }

    private static let status: UInt64 = 4
    private static let quota: UInt64 = 6

    public func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(user)
        writer.appendMeasured { writer in
            writer.appendField(CommonField.original, original?.packed ?? 0)
            writer.appendField(Self.status, UInt64(status.rawValue))
            writer.appendField(Self.quota, quota)
        }
    }

    public init(from reader: inout ByteReader) throws {
        self.init(user: try reader.readVarint("a user"), status: .couldNotDetermine)
        var fields = try KeyedFields(from: &reader, "the fields of a user")
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Self.status:
                let number = try field.number("an account's status")
                guard let status = UInt8(exactly: number).flatMap(AccountStatus.init) else {
                    throw StrataError.newer("an account's status", number, field.value)
                }
                self.status = status
            case Self.quota: quota = try field.number("a quota")
            default: try field.skip()
            }
        }
    }
}
