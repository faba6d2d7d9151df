import StrataModel

/// Questions about the stream, and what is required of its servers and settings.
extension JetStreamSequencer {
    /// Servers report fewer entries than were there while a leader does not know yet that another was elected. After
    /// this time they are lost.
    private static let doubt = Duration.seconds(12)

    private static let unknownStream = 10_059
    private static let unknownMessage = 10_037
    private static let notEnabled = [10_039, 10_076]
    private static let otherSettings = 10_058
    private static let tooFewServers = [10_005, 10_074]

    /// Asks the leader of the stream for its state, and checks the server and the stream's settings.
    static func checked(_ connection: NATSConnection, _ options: JetStreamOptions) throws -> StreamInfo {
        try checkServer(connection, options)
        let info: StreamInfo = try ask(
            connection, "STREAM.INFO.\(options.stream)", JetStreamAPI.Nothing(), options)
        try check(info.config, options, messageBytes: connection.maximumPayloadBytes)
        return info
    }

    private static func checkServer(_ connection: NATSConnection, _ options: JetStreamOptions) throws {
        if connection.isServerOlder(than: .minimum) == true {
            throw StrataError(
                .unsuitable, "The server is too old; update all servers of the cluster.",
                .init(path: options.address, expected: "version \(NATSServerVersion.minimum) or later"))
        }
    }

    /// - Throws: `.unsuitable` if the stream or the server that leads it does not meet a store's requirements.
    static func check(_ settings: StreamSettings, _ options: JetStreamOptions, messageBytes: Int) throws {
        // Servers before 2.11 do not report their version here.
        guard let version = settings.version, version >= .minimum else {
            throw StrataError(
                .unsuitable, "A server that has the stream is too old; update all servers of the cluster.",
                .init(
                    path: options.address, expected: "version \(NATSServerVersion.minimum) or later",
                    found: settings.version.map { "\($0)" } ?? "one before 2.11"))
        }
        let mismatches = settings.mismatches(options, messageBytes: messageBytes)
        guard mismatches.isEmpty else {
            throw StrataError(
                .unsuitable, "The settings of the stream do not meet the store's requirements; change them.",
                .init(
                    path: options.address,
                    expected: mismatches.map { "\($0.setting): \($0.expected)" }.joined(separator: ", "),
                    found: mismatches.map { "\($0.setting): \($0.found)" }.joined(separator: ", ")))
        }
    }

    /// Sends a request to JetStream and returns the answer.
    ///
    /// - Throws: `.unreachable` if asking again may help; another error if not.
    static func ask<Answer: Decodable>(
        _ connection: NATSConnection, _ question: String, _ request: some Encodable, _ options: JetStreamOptions,
        milliseconds: Int = answerMilliseconds
    ) throws -> Answer {
        do {
            let bytes = try connection.request(
                "$JS.API.\(question)", try JetStreamAPI.encode(request), milliseconds: milliseconds)
            return try JetStreamAPI.decode(bytes)
        } catch let failure as NATSFailure {
            throw unreachable(options, failure)
        } catch let failure as JetStreamAPI.Failure {
            throw described(failure, options)
        }
    }

    private static func described(_ failure: JetStreamAPI.Failure, _ options: JetStreamOptions) -> StrataError {
        let context = StrataError.Context(path: options.address, found: failure.description)
        let number = failure.number ?? 0
        if number == unknownStream {
            return options.keepsObjects
                ? StrataError(
                    .unsuitable, "The cluster does not keep this store's assets; 'strata assets --add' makes it do so.",
                    context)
                : StrataError(.unsuitable, "The stream does not exist; create it with 'strata create'.", context)
        }
        if number == unknownMessage {
            return StrataError(.notFound, "The stream has no message of this subject.", context)
        }
        if notEnabled.contains(number) {
            return StrataError(
                .unsuitable, "JetStream is not enabled for the account; set 'jetstream' in the servers' configuration.",
                context)
        }
        if number == otherSettings {
            return StrataError(.alreadyExists, "A stream of this name exists with other settings.", context)
        }
        if tooFewServers.contains(number) {
            return StrataError(
                .unsuitable, "The cluster has too few servers for the stream; add servers, or ask for fewer replicas.",
                context)
        }
        return failure.code >= 500
            ? unreachable(options, failure)
            : StrataError(.unsuitable, "The servers reject a request of the sequencer.", context, cause: failure)
    }

    // MARK: The end

    package func last() throws -> UInt64 {
        try stream.attempt(milliseconds: options.patienceMilliseconds) { connection in
            let seen = state.withLock { $0.seen }
            let info = try Self.checked(connection, options)
            stream.note(info)
            guard info.isFromLeader else {
                throw StrataError(
                    .unreachable, "The server that leads the stream has no majority of servers; start the others.",
                    .init(path: options.address))
            }
            return try confirmed(info, seen: seen)
        }
    }

    /// Returns the number of the last entry, unless it is smaller than one that was seen and may be that of a leader of
    /// the past.
    private func confirmed(_ info: StreamInfo, seen: UInt64) throws -> UInt64 {
        let last = info.state.last
        return try state.withLock { state in
            guard last < seen else {
                state.doubtful = nil
                state.seen = max(state.seen, last)
                return last
            }
            // Answers that are far apart say nothing about the time between them.
            let known = state.doubtful.flatMap { $0.last.duration(to: .now) < Self.doubt * 2 ? $0.first : nil }
            let start = known ?? .now
            state.doubtful = (start, .now)
            // A single server has lost what it does not have.
            guard info.config.replicas ?? 1 > 1, start.duration(to: .now) < Self.doubt else { return last }
            throw StrataError(
                .unreachable, "The servers report fewer entries than there were; they are asked again.",
                .init(path: options.address, expected: "\(seen) or more", found: "\(last)"))
        }
    }

    // MARK: Trimming

    package func trim(through number: UInt64) throws -> UInt64 {
        try stream.attempt(milliseconds: options.patienceMilliseconds) { connection in
            let before = try Self.checked(connection, options).state
            // IMPORTANT: a purge past the end would skip numbers.
            let target = min(number, before.last, .max - 1)
            if target >= max(before.first, 1) {
                let _: JetStreamAPI.Nothing = try Self.ask(
                    connection, "STREAM.PURGE.\(options.stream)", JetStreamAPI.PurgeRequest(seq: target + 1), options)
            }
            let after = try Self.checked(connection, options)
            stream.note(after)
            return max(after.state.first, 1) - 1
        }
    }

    // MARK: Creating

    /// Creates the stream with the settings that a store needs.
    ///
    /// - Returns: false if a stream with these settings exists.
    /// - Throws: `.alreadyExists` if a stream with others exists, `.unsuitable` if the servers cannot keep it.
    @discardableResult
    package static func create(_ options: JetStreamOptions) throws -> Bool {
        let library = try NATSLibrary.shared()
        return try Attempts(milliseconds: options.openMilliseconds).run {
            let connection = try StreamConnection.connect(options, library)
            defer { connection.close() }
            try checkServer(connection, options)
            let isThere = try exists(connection, options)
            // The servers report an existing stream with the same settings like a new one.
            let created: JetStreamAPI.CreatedStream = try ask(
                connection, "STREAM.CREATE.\(options.stream)", StreamSettings(options), options)
            try check(created.config, options, messageBytes: connection.maximumPayloadBytes)
            return !isThere
        } pause: {
            StreamConnection.pause()
            return true
        }
    }

    private static func exists(_ connection: NATSConnection, _ options: JetStreamOptions) throws -> Bool {
        do {
            let _: JetStreamAPI.Nothing = try ask(
                connection, "STREAM.INFO.\(options.stream)", JetStreamAPI.Nothing(), options)
            return true
        } catch let error as StrataError where error.code == .unsuitable { return false }
    }
}
