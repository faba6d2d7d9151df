import StrataModel
import StrataRules

/// Requests that a process sends to the home writer (docs/replication-internals.md §6).
struct ForwardedRequests {
    struct Item {
        let request: Request
        let actor: Actor
        let operation: OperationInfo
    }

    private static let version: UInt8 = 1
    private static let maximumNameBytes = 1 << 16

    let items: [Item]

    /// Returns the bytes of one request of a message.
    static func encoded(_ submission: Submission) throws -> [UInt8] {
        guard let request = try submission.request?.encoded() else {
            throw StrataError(.invalidArgument, "An audit cannot be sent to another process.")
        }
        var writer = ByteWriter(reserving: request.count + 128)
        for name in [submission.actor.user, submission.actor.device] { writer.appendString(name) }
        let operation = submission.operation
        for name in [operation.id, operation.groupID, operation.groupName] { writer.appendString(name) }
        writer.append(operation.qualityOfService.rawValue)
        writer.append(counted: request)
        return writer.bytes
    }

    /// Returns the message with encoded requests.
    static func message(_ requests: [[UInt8]]) -> [UInt8] {
        var writer = ByteWriter(reserving: requests.reduce(16) { $0 + $1.count })
        writer.append(version)
        writer.appendVarint(UInt64(requests.count))
        for request in requests { writer.append(bytes: request) }
        return writer.bytes
    }

    init(decoding message: [UInt8]) throws {
        items = try message.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: 0)
            let version = try reader.read(UInt8.self, "a message's version")
            guard version == Self.version else {
                throw reader.malformed("a message's version", expected: "\(Self.version)", found: "\(version)")
            }
            let count = try reader.readVarint("the number of requests", atMost: UInt64(bytes.count))
            let items = try (0..<count).map { _ in try Self.item(&reader, of: bytes) }
            try reader.expectEnd("a message with requests")
            return items
        }
    }

    private static func item(_ reader: inout ByteReader, of bytes: UnsafeRawBufferPointer) throws -> Item {
        func name(_ what: StaticString) throws -> String { try reader.readString(what, atMost: maximumNameBytes) }
        let actor = Actor(user: try name("a user"), device: try name("a device"))
        let (id, groupID, groupName) = (try name("an operation"), try name("a group"), try name("a group's name"))
        let quality = try reader.read(
            EnvelopeHeader.QualityOfService.RawValue.self, "an operation's quality of service")
        let length = try reader.readVarint("a request's length")
        let request = try Request(decoding: Array(bytes[try reader.readRange(count: length, "a request")])[...])
        return Item(
            request: request, actor: actor,
            operation: OperationInfo(
                id: id, qualityOfService: .init(rawValue: quality), groupID: groupID, groupName: groupName))
    }
}

/// The outcomes of forwarded requests, in their order.
struct ForwardedOutcomes {
    enum Outcome: Equatable {
        /// The commit of the request.
        case committed(UInt64)
        /// The request wrote nothing: the process that sent it judges it again.
        case nothing
        /// It is not known whether the request was applied.
        case unknown
    }

    private static let version: UInt8 = 1

    let outcomes: [Outcome]

    init(_ outcomes: [Outcome]) { self.outcomes = outcomes }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 16 + 4 * outcomes.count)
        writer.append(Self.version)
        for outcome in outcomes {
            // Offsets begin at 1.
            switch outcome {
            case .nothing: writer.appendVarint(0)
            case .unknown: writer.appendVarint(1)
            case .committed(let offset): writer.appendVarint(offset + 1)
            }
        }
        return writer.bytes
    }

    init(decoding message: [UInt8], count: Int) throws {
        outcomes = try message.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: 0)
            let version = try reader.read(UInt8.self, "an answer's version")
            guard version == Self.version else {
                throw reader.malformed("an answer's version", expected: "\(Self.version)", found: "\(version)")
            }
            let outcomes = try (0..<count).map { _ -> Outcome in
                switch try reader.readVarint("an outcome", atMost: Version.maximumOffset) {
                case 0: .nothing
                case 1: .unknown
                case let number: .committed(number - 1)
                }
            }
            try reader.expectEnd("the outcomes of requests")
            return outcomes
        }
    }
}
