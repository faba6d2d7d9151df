import FoundationEssentials
import StrataModel

/// JetStream's questions and answers, which are JSON.
struct JetStreamAPI: Sendable {
    /// An error that a server reports.
    struct Failure: Error, Decodable, Sendable, CustomStringConvertible {
        var code: Int
        var number: Int?
        var text: String?

        enum CodingKeys: String, CodingKey {
            case code
            case number = "err_code"
            case text = "description"
        }

        var description: String { "\(text ?? "error") (\(number ?? code))" }
    }

    /// An answer, or the error in its place.
    private struct Reply<Answer: Decodable>: Decodable {
        var result: Result<Answer, Failure>

        private enum Keys: CodingKey { case error }

        init(from decoder: any Decoder) throws {
            let failure = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Failure.self, forKey: .error)
            result = if let failure { .failure(failure) } else { .success(try Answer(from: decoder)) }
        }
    }

    /// The acknowledgement of an entry.
    struct Acknowledgement: Decodable, Sendable {
        var seq: UInt64
    }

    struct CreatedStream: Decodable, Sendable {
        var config: StreamSettings
    }

    struct CreatedConsumer: Decodable, Sendable {
        /// The number of entries that the consumer will send at once.
        var pending: UInt64?

        enum CodingKeys: String, CodingKey { case pending = "num_pending" }
    }

    /// The settings of a consumer that sends entries in order, keeps nothing on disk, and asks for no
    /// acknowledgements. JetStream has the names in the form `deliver_subject`.
    struct ConsumerRequest: Encodable {
        struct Settings: Encodable {
            var name: String
            var deliverSubject: String
            var optStartSeq: UInt64
            var idleHeartbeat: Int64
            var deliverPolicy = "by_start_sequence"
            var ackPolicy = "none"
            var replayPolicy = "instant"
            var flowControl = true
            var memStorage = true
            var numReplicas = 1
            var maxDeliver = 1
        }

        var streamName: String
        var config: Settings
        var action = "create"
    }

    /// Asks to remove messages.
    struct PurgeRequest: Encodable {
        /// The first number that is kept; nil for none.
        var seq: UInt64?
        /// The subjects whose messages are removed; nil for all.
        var filter: String?
    }

    /// Asks for the last message of a subject.
    struct MessageRequest: Encodable {
        var lastBySubj: String
    }

    struct StoredMessage: Decodable, Sendable {
        struct Message: Decodable, Sendable {
            var seq: UInt64
            /// The bytes, which the servers send in Base64; nil for a message without any.
            var data: Data?
        }

        var message: Message
    }

    /// Asks for the subjects that a stream has, from one on in the servers' order.
    struct SubjectsRequest: Encodable {
        var subjectsFilter: String
        var offset: Int
    }

    struct SubjectsPage: Decodable, Sendable {
        struct State: Decodable, Sendable {
            var subjects: [String: UInt64]?
        }

        /// The number of subjects on all pages.
        var total: Int?
        var state: State
    }

    /// A request or an answer without content.
    struct Nothing: Codable {}

    static func decode<Answer: Decodable>(_ bytes: [UInt8], as type: Answer.Type = Answer.self) throws -> Answer {
        let reply: Reply<Answer>
        do { reply = try JSONDecoder().decode(Reply<Answer>.self, from: Data(bytes)) } catch {
            throw StrataError(
                .malformed, "A server's answer cannot be read.",
                .init(found: "'\(String(decoding: bytes.prefix(200), as: UTF8.self))'"), cause: error)
        }
        return try reply.result.get()
    }

    static func encode(_ request: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return [UInt8](try encoder.encode(request))
    }
}
