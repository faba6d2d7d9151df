/// The settings of a stream that decide what it keeps, as JetStream writes them.
struct StreamSettings: Codable, Sendable {
    /// A setting that must be absent, whatever is in it.
    struct Anything: Codable, Sendable {
        init(from decoder: any Decoder) throws {}
        func encode(to encoder: any Encoder) throws {}
    }

    var name: String
    var subjects: [String]?
    var storage: String?
    var retention: String?
    var discard: String?
    var replicas: Int?
    var maximumAge: Int64?
    var maximumMessages: Int64?
    var maximumBytes: Int64?
    var maximumMessagesPerSubject: Int64?
    var maximumMessageBytes: Int64?
    var firstNumber: UInt64?
    var duplicateWindow: Int64?
    var deniesDelete: Bool?
    var allowsDirect: Bool?
    var allowsRollup: Bool?
    var allowsExpiry: Bool?
    var allowsSchedules: Bool?
    var allowsCounter: Bool?
    var isSealed: Bool?
    var hasNoAcknowledgements: Bool?
    var persistence: String?
    var republish: Anything?
    var mirror: Anything?
    var sources: [Anything]?
    var transform: Anything?
    var metadata: [String: String]?

    enum CodingKeys: String, CodingKey {
        case name, subjects, storage, retention, discard, republish, mirror, sources, metadata
        case replicas = "num_replicas"
        case maximumAge = "max_age"
        case maximumMessages = "max_msgs"
        case maximumBytes = "max_bytes"
        case maximumMessagesPerSubject = "max_msgs_per_subject"
        case maximumMessageBytes = "max_msg_size"
        case firstNumber = "first_seq"
        case duplicateWindow = "duplicate_window"
        case deniesDelete = "deny_delete"
        case allowsDirect = "allow_direct"
        case allowsRollup = "allow_rollup_hdrs"
        case allowsExpiry = "allow_msg_ttl"
        case allowsSchedules = "allow_msg_schedules"
        case allowsCounter = "allow_msg_counter"
        case isSealed = "sealed"
        case hasNoAcknowledgements = "no_ack"
        case persistence = "persist_mode"
        case transform = "subject_transform"
    }

    /// The time in which a repeated entry is recognized by its ID, in nanoseconds.
    private static let duplicateWindow: Int64 = 120_000_000_000

    /// Creates the settings of a new stream.
    init(_ options: JetStreamOptions) {
        name = options.stream
        subjects = [options.subject]
        storage = "file"
        retention = "limits"
        discard = "new"
        replicas = options.replicas
        (maximumAge, maximumMessages, maximumBytes) = (0, -1, -1)
        (maximumMessagesPerSubject, maximumMessageBytes) = (options.keepsObjects ? 1 : -1, -1)
        duplicateWindow = Self.duplicateWindow
        (deniesDelete, allowsDirect, allowsRollup) = (true, false, false)
    }

    /// The version of the server that leads the stream.
    var version: NATSServerVersion? { metadata?["_nats.ver"].flatMap(NATSServerVersion.init) }

    /// A setting that does not meet a store's requirements.
    struct Mismatch: Equatable {
        let setting: String
        let expected: String
        let found: String
    }

    /// Returns the settings that do not meet a store's requirements.
    ///
    /// - Parameter messageBytes: the length of the longest message that must fit.
    func mismatches(_ options: JetStreamOptions, messageBytes: Int) -> [Mismatch] {
        var mismatches: [Mismatch] = []
        func require(_ key: CodingKeys, _ isKept: Bool, _ expected: String, _ found: (some Any)?) {
            if isKept { return }
            let value = found.map { "\($0)" } ?? "nothing"
            mismatches.append(Mismatch(setting: key.rawValue, expected: expected, found: value))
        }
        func unlimited(_ key: CodingKeys, _ value: Int64?, _ none: Int64) {
            require(key, (value ?? none) <= 0, "\(none)", value)
        }
        func no(_ key: CodingKeys, _ value: Bool?) { require(key, value != true, "false", value) }
        func absent(_ key: CodingKeys, _ isAbsent: Bool) { require(key, isAbsent, "absent", "present") }

        require(.subjects, subjects == [options.subject], options.subject, subjects?.joined(separator: ", "))
        require(.storage, storage == "file", "file", storage)
        require(.retention, retention == "limits", "limits", retention)
        require(.discard, discard == "new", "new", discard)
        let count = replicas ?? 1
        require(
            .replicas, count >= options.replicas && count % 2 == 1, "an odd number from \(options.replicas)", count)
        unlimited(.maximumAge, maximumAge, 0)
        unlimited(.maximumMessages, maximumMessages, -1)
        unlimited(.maximumBytes, maximumBytes, -1)
        if options.keepsObjects {
            // A message that is sent again takes the place of the first.
            let count = maximumMessagesPerSubject
            require(.maximumMessagesPerSubject, count == 1, "1", count)
        } else {
            unlimited(.maximumMessagesPerSubject, maximumMessagesPerSubject, -1)
        }
        let room = maximumMessageBytes ?? -1
        require(.maximumMessageBytes, room <= 0 || room >= Int64(messageBytes), "-1 or \(messageBytes)", room)
        require(.firstNumber, (firstNumber ?? 0) <= 1, "1", firstNumber)
        require(.deniesDelete, deniesDelete == true, "true", deniesDelete)
        no(.allowsDirect, allowsDirect)
        no(.allowsRollup, allowsRollup)
        no(.allowsExpiry, allowsExpiry)
        no(.allowsSchedules, allowsSchedules)
        no(.allowsCounter, allowsCounter)
        no(.isSealed, isSealed)
        no(.hasNoAcknowledgements, hasNoAcknowledgements)
        require(.persistence, [nil, "", "default"].contains(persistence), "default", persistence)
        absent(.republish, republish == nil)
        absent(.mirror, mirror == nil)
        absent(.sources, sources?.isEmpty ?? true)
        absent(.transform, transform == nil)
        return mismatches
    }
}
