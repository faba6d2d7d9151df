import StrataModel

/// A consumer of a stream that gets all entries from one on, in order and without gaps, as they come.
///
/// The server sends them, as far as the consumer has room. A gap, or the silence of the server, ends the consumer:
/// another one begins after the last entry that was taken. One thread uses it at a time.
final class OrderedConsumer {
    /// The reasons why a consumer has ended.
    enum Interruption: Error {
        case gap
        case silence
        /// The stream continues with this number instead of the next one.
        case hole(UInt64)
    }

    let connection: NATSConnection
    let reconnects: UInt64
    /// The number of the entry that comes next.
    private(set) var next: UInt64
    private let subscription: NATSSubscription
    private let inbox: String
    private let name: String
    private let stream: String
    /// The number of messages that the consumer sent.
    private var delivered: UInt64 = 0
    /// The time of the last message.
    private var heard = ContinuousClock.now
    /// The number of entries that were there when the consumer was made and have not come yet.
    private var pending: UInt64 = 0

    private static let heartbeatNanoseconds: Int64 = 500_000_000
    private static let silenceMilliseconds = 1_750
    private static let bufferBytes = 64 << 20
    private static let pageBytes = 16 << 20
    private static let pageEntries = 4_096

    /// Asks the server for the entries from `next` on.
    init(_ connection: NATSConnection, _ options: JetStreamOptions, from next: UInt64) throws {
        self.connection = connection
        self.next = next
        stream = options.stream
        reconnects = connection.reconnects
        do throws(NATSFailure) {
            inbox = try connection.newInbox()
            name = "strata-" + inbox.replacing(".", with: "-")
            subscription = try connection.subscribe(to: inbox)
            try subscription.limit(bytes: Self.bufferBytes)
        } catch { throw JetStreamSequencer.unreachable(options, error) }
        let request = JetStreamAPI.ConsumerRequest(
            streamName: stream,
            config: .init(
                name: name, deliverSubject: inbox, optStartSeq: next, idleHeartbeat: Self.heartbeatNanoseconds))
        let created: JetStreamAPI.CreatedConsumer = try JetStreamSequencer.ask(
            connection, "CONSUMER.CREATE.\(stream).\(name)", request, options)
        pending = created.pending ?? 0
    }

    /// The server removes the consumer by itself later, but is asked to do it at once.
    deinit { try? connection.publish(to: "$JS.API.CONSUMER.DELETE.\(stream).\(name)") }

    /// Returns the entries that came, or waits for one.
    ///
    /// - Throws: ``Interruption``, or ``NATSFailure`` if the connection was closed.
    func entries(milliseconds: Int) throws -> [[UInt8]] {
        let start = ContinuousClock.now
        var entries: [[UInt8]] = []
        var byteCount = 0
        while byteCount < Self.pageBytes, entries.count < Self.pageEntries {
            let left = milliseconds - Int(start.duration(to: .now) / .milliseconds(1))
            let silence = max(0, Self.silenceMilliseconds - Int(heard.duration(to: .now) / .milliseconds(1)))
            // Entries that are there are on their way.
            let wait = !entries.isEmpty ? 0 : pending > 0 ? silence : min(max(left, 0), silence)
            guard let message = try subscription.next(milliseconds: wait) else {
                if !entries.isEmpty { break }
                if wait == silence { throw Interruption.silence }
                if left <= 0 { break }
                continue
            }
            heard = .now
            if let entry = try take(message) {
                byteCount += entry.count
                entries.append(entry)
            }
        }
        return entries
    }

    /// Returns the entry of a message; nil if it has none, or one that was not asked for.
    private func take(_ message: NATSMessage) throws -> [UInt8]? {
        if message.byteCount == 0, message.header("Status") != nil {
            try answer(message)
            return nil
        }
        guard let place = DeliveredPlace(message.reply ?? ""), place.delivered == delivered + 1 else {
            throw Interruption.gap
        }
        delivered = place.delivered
        pending -= min(pending, 1)
        // A server that lags behind the leader may begin earlier.
        if place.number < next { return nil }
        guard place.number == next else { throw Interruption.hole(place.number) }
        next += 1
        return message.bytes
    }

    /// Answers the server's questions whether the consumer has room, and checks that nothing is missing.
    private func answer(_ message: NATSMessage) throws {
        guard message.header("Status") == "100" else { throw Interruption.gap }
        if let reply = message.reply {
            try connection.publish(to: reply)
            return
        }
        if let last = message.header("Nats-Last-Consumer").flatMap(UInt64.init), last != delivered {
            throw Interruption.gap
        }
        if let stalled = message.header("Nats-Consumer-Stalled") {
            try connection.publish(to: stalled)
        } else {
            // Nothing is on its way: what was there has been purged.
            pending = 0
        }
    }
}
