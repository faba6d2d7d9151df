/// The originator of a commit and its operation.
package struct EnvelopeHeader: Sendable, Equatable {
    /// The kinds of operations that commits record. The numbers are on disk.
    package struct OperationKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let none = Self(rawValue: 0)
        package static let modifyRecords = Self(rawValue: 1)
        package static let modifyZones = Self(rawValue: 2)
        package static let modifySubscriptions = Self(rawValue: 3)
        package static let schema = Self(rawValue: 4)
        package static let console = Self(rawValue: 6)
        package static let acceptShares = Self(rawValue: 7)
        package static let fetch = Self(rawValue: 8)
        package static let query = Self(rawValue: 9)
        package static let feed = Self(rawValue: 10)

        static let names = [
            "none", "modify records", "modify zones", "modify subscriptions", "schema", "account", "console",
            "accept shares", "fetch", "query", "feed",
        ]

        package var description: String {
            rawValue < UInt64(Self.names.count) ? Self.names[Int(rawValue)] : "unknown operation \(rawValue)"
        }
    }

    /// The quality of service of an operation. The numbers are on disk.
    package struct QualityOfService: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        package static let `default` = Self(rawValue: 0)
        package static let background = Self(rawValue: 1)
        package static let utility = Self(rawValue: 2)
        package static let userInitiated = Self(rawValue: 3)
        package static let userInteractive = Self(rawValue: 4)

        static let names = ["default", "background", "utility", "user-initiated", "user-interactive"]

        package var description: String {
            rawValue < UInt64(Self.names.count) ? Self.names[Int(rawValue)] : "unknown quality \(rawValue)"
        }
    }

    /// The kind of an actor that has no ordinal. The numbers are on disk.
    package enum ActorKind: UInt8, Sendable, CaseIterable {
        /// A user whose name is too long for an ordinal.
        case user = 1
        case service, signedOut

        package init(_ actor: Actor) {
            self = actor == .service ? .service : actor.user.isEmpty ? .signedOut : .user
        }

        package var name: String { words(of: self) }
    }

    /// The maximum bytes of the operation ID, the group ID and the group name, each.
    package static let maximumTextBytes = 255

    /// The ordinal of the user; 0 for other actors.
    package var user: UInt64
    /// The ordinal of the device; 0 for none.
    package var device: UInt64
    package var operationID: String
    package var operationKind: OperationKind
    package var qualityOfService: QualityOfService
    package var groupID: String
    package var groupName: String
    /// An encoded ``RequestShape``.
    package var requestShape: ArraySlice<UInt8>
    package var isLazy: Bool
    /// The newest commit in the state on which the request was judged; nil if it is the one before this commit, or if a
    /// note is not about a judgment. Earlier releases recorded none.
    package var judgedOn: UInt64?
    /// The kind of the actor where `user` is 0; nil in commits of earlier releases.
    package var actorKind: ActorKind?

    package init(
        user: UInt64 = 0, device: UInt64 = 0, operationID: String = "", operationKind: OperationKind = .none,
        qualityOfService: QualityOfService = .default, groupID: String = "", groupName: String = "",
        requestShape: ArraySlice<UInt8> = [], isLazy: Bool = false, judgedOn: UInt64? = nil,
        actorKind: ActorKind? = nil
    ) {
        self.user = user
        self.device = device
        self.operationID = operationID
        self.operationKind = operationKind
        self.qualityOfService = qualityOfService
        self.groupID = groupID
        self.groupName = groupName
        self.requestShape = requestShape
        self.isLazy = isLazy
        self.judgedOn = judgedOn
        self.actorKind = actorKind
    }

    private enum Field: UInt64 {
        case user = 1, device, operationID, operationKind, qualityOfService, groupID, groupName, requestShape, isLazy
        case judgedOn, actorKind
        // Fields that a reader must understand to apply the commit are mandatory; the others only describe it.
        var key: UInt64 { rawValue * 2 + (self == .user || self == .device ? 0 : 1) }
    }

    func encodedFields() -> [UInt8] {
        precondition(
            [operationID, groupID, groupName].allSatisfy { $0.utf8.count <= Self.maximumTextBytes },
            "a text of the header may have at most 255 bytes")
        var writer = ByteWriter(reserving: 64)
        func put(_ field: Field, _ value: some Collection<UInt8>) {
            guard !value.isEmpty else { return }
            writer.appendVarint(field.key)
            writer.append(counted: value)
        }
        func put(_ field: Field, number: UInt64?) {
            guard let number else { return }
            writer.appendVarint(field.key)
            writer.appendVarint(UInt64(ByteWriter.varintBytes(number)))
            writer.appendVarint(number)
        }
        put(.user, number: user == 0 ? nil : user)
        put(.device, number: device == 0 ? nil : device)
        put(.operationID, operationID.utf8)
        put(.operationKind, number: operationKind == .none ? nil : operationKind.rawValue)
        put(.qualityOfService, number: qualityOfService == .default ? nil : qualityOfService.rawValue)
        put(.groupID, groupID.utf8)
        put(.groupName, groupName.utf8)
        put(.requestShape, requestShape)
        put(.isLazy, number: isLazy ? 1 : nil)
        put(.judgedOn, number: judgedOn)
        put(.actorKind, number: actorKind.map { UInt64($0.rawValue) })
        return writer.bytes
    }

    init(decoding reader: ByteReader) throws {
        self.init()
        var reader = reader
        var lastNumber: UInt64 = 0
        while reader.remaining > 0 {
            let start = reader.position
            let key = try reader.readVarint("a header key")
            guard key / 2 > lastNumber else { throw reader.malformed("header keys", expected: "ascending") }
            lastNumber = key / 2
            let length = try reader.readVarint("the length of a header field")
            var value = try reader.readReader(count: length, "a header field")
            guard let field = Field(rawValue: key / 2), field.key == key else {
                guard key % 2 == 1 else {
                    throw StrataError(
                        .newerFormat, "The payload has a mandatory header field unknown to this version.",
                        .init(position: UInt64(start), found: "field \(key / 2)"))
                }
                continue
            }
            try decode(field, from: &value)
            try value.expectEnd("a header field")
        }
    }

    private mutating func decode(_ field: Field, from value: inout ByteReader) throws {
        switch field {
        case .user: user = try value.readVarint("the user")
        case .device: device = try value.readVarint("the device")
        case .operationID: operationID = try value.readRemainingText("the operation id", atMost: Self.maximumTextBytes)
        case .operationKind: operationKind = .init(rawValue: try value.readVarint("the operation kind"))
        case .qualityOfService: qualityOfService = .init(rawValue: try value.readVarint("the quality of service"))
        case .groupID: groupID = try value.readRemainingText("the group id", atMost: Self.maximumTextBytes)
        case .groupName: groupName = try value.readRemainingText("the group name", atMost: Self.maximumTextBytes)
        case .requestShape: requestShape = value.readRemainingBytes()
        case .isLazy: isLazy = try value.readVarint("the lazy mark", atMost: 1) == 1
        case .judgedOn: judgedOn = try value.readVarint("the state judged on", atMost: Version.maximumOffset)
        case .actorKind:
            // A later release may know more kinds.
            actorKind = UInt8(exactly: try value.readVarint("the actor's kind")).flatMap { ActorKind(rawValue: $0) }
        }
    }
}
