import StrataModel
import StrataReplication

/// Messages in a stream of their own, separate from that of a store's entries, each under its own subject: the store's
/// assets.
///
/// It has a connection of its own, so that entries do not wait behind pieces of files. It connects when it is first
/// used. All is read from the stream's leader.
final class JetStreamKeeper: MessageKeeper {
    private let options: JetStreamOptions
    private let stream: StreamConnection

    /// The part of a piece's answer that the time for an answer allows for: the bytes are in Base64.
    private static let answerBytes = 700_000

    /// - Parameter options: those of the store's entries.
    init(_ options: JetStreamOptions) throws {
        self.options = options.forObjects
        stream = StreamConnection(options.forObjects, try NATSLibrary.shared())
    }

    func close() { stream.close() }

    func maximumMessageBytes() throws -> Int {
        max(0, try attempt { $0.maximumPayloadBytes } - JetStreamSequencer.headerBytes)
    }

    func confirm() throws {
        try attempt { connection in
            let info = try JetStreamSequencer.checked(connection, options)
            guard info.isFromLeader else { throw JetStreamSequencer.unreachable(options) }
        }
    }

    private func attempt<Result>(_ body: (NATSConnection) throws -> Result) throws -> Result {
        try stream.attempt(milliseconds: options.patienceMilliseconds, body)
    }

    func keep(_ bytes: [UInt8], as name: String, expecting: UInt64?) -> SequencerAnswer {
        let connection: NATSConnection
        do { connection = try attempt { $0 } } catch {
            return .refused(error as? StrataError ?? JetStreamSequencer.unreachable(options, error))
        }
        var headers = [(name: "Nats-Expected-Stream", value: options.stream)]
        if let expecting { headers.append(("Nats-Expected-Last-Subject-Sequence", String(expecting))) }
        return JetStreamSequencer.send(
            bytes, to: options.objectsPrefix + name, headers: headers, connection, options)
    }

    func message(_ name: String) throws -> KeptMessage? {
        do {
            let stored: JetStreamAPI.StoredMessage = try attempt { connection in
                try JetStreamSequencer.ask(
                    connection, "STREAM.MSG.GET.\(options.stream)",
                    JetStreamAPI.MessageRequest(lastBySubj: options.objectsPrefix + name), options,
                    milliseconds: JetStreamSequencer.answerMilliseconds
                        + Self.answerBytes / JetStreamSequencer.bytesPerMillisecond)
            }
            return KeptMessage(number: stored.message.seq, bytes: stored.message.data.map { [UInt8]($0) } ?? [])
        } catch let error as StrataError where error.code == .notFound { return nil }
    }

    func names(_ pattern: String) throws -> [String] {
        var names: Set<String> = []
        while true {
            let page: JetStreamAPI.SubjectsPage = try attempt { connection in
                try JetStreamSequencer.ask(
                    connection, "STREAM.INFO.\(options.stream)",
                    JetStreamAPI.SubjectsRequest(
                        subjectsFilter: options.objectsPrefix + pattern, offset: names.count), options)
            }
            let subjects = page.state.subjects ?? [:]
            for subject in subjects.keys { names.insert(String(subject.dropFirst(options.objectsPrefix.count))) }
            if subjects.isEmpty || names.count >= page.total ?? 0 { return Array(names) }
        }
    }

    func remove(below words: String) throws {
        let _: JetStreamAPI.Nothing = try attempt { connection in
            try JetStreamSequencer.ask(
                connection, "STREAM.PURGE.\(options.stream)",
                JetStreamAPI.PurgeRequest(filter: "\(options.objectsPrefix)\(words).>"), options)
        }
    }
}
