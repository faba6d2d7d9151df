import StrataSystem

/// A connection to one of several servers, which the library restores by itself. Any thread may use it.
// @unchecked: the handle never changes, and the library locks the object behind it.
package final class NATSConnection: @unchecked Sendable {
    private let library: NATSLibrary
    private let handle: NATSHandle
    /// The addresses of subscriptions that have ended, and that the library's thread may still use for the message that
    /// it was handling.
    private let ended = Lock<[Int]>([])

    private static let maximumEnded = 100
    private static let connected: Int32 = 2
    private static let closed: Int32 = 3

    /// Connects to the first server that answers.
    package init(_ library: NATSLibrary, _ options: JetStreamOptions) throws(NATSFailure) {
        self.library = library
        let options = try NATSConnectionOptions(library, options)
        let pointer = try options.handle.withPointer { options throws(NATSFailure) in
            try library.make { library.connect($0, options) }
        }
        handle = NATSHandle(owning: pointer, library.destroyConnection)
    }

    deinit {
        // Waits for the library's thread to end.
        handle.withPointer { library.close($0) }
        destroy(takeEnded())
    }

    var isConnected: Bool { handle.withPointer { library.status($0) == Self.connected } }
    /// True if the library will not restore the connection.
    var isClosed: Bool { handle.withPointer { library.status($0) == Self.closed } }
    var maximumPayloadBytes: Int { handle.withPointer { Int(library.maximumPayload($0)) } }

    /// The number of times that the connection was restored.
    var reconnects: UInt64 {
        guard let statistics = try? library.make({ library.createStatistics($0) }) else { return 0 }
        defer { library.destroyStatistics(statistics) }
        var count: UInt64 = 0
        let ok = NATSFailure.Status.ok.rawValue
        guard handle.withPointer({ library.statistics($0, statistics) }) == ok,
            library.counts(statistics, nil, nil, nil, nil, &count) == ok
        else { return 0 }
        return count
    }

    /// Returns true if the server's greeting had an older version; nil where the library does not say.
    func isServerOlder(than version: NATSServerVersion) -> Bool? {
        library.serverIsAtLeast.map { isAtLeast in
            handle.withPointer { !isAtLeast($0, Int32(version.major), Int32(version.minor), 0) }
        }
    }

    /// Sends a message and waits for the answer.
    package func request(
        _ subject: String, _ bytes: [UInt8], headers: [(name: String, value: String)] = [], milliseconds: Int
    ) throws(NATSFailure) -> [UInt8] {
        let message = try NATSMessage(library, to: subject, bytes)
        for header in headers { try message.setHeader(header.name, header.value) }
        let finished = takeEnded()
        var isAnswered = false
        defer {
            // One thread handles what the server sends, in order: it is done with what came before the answer.
            if isAnswered { destroy(finished) } else { ended.withLock { $0 += finished } }
        }
        let answer = try handle.withPointer { connection throws(NATSFailure) in
            try message.handle.withPointer { message throws(NATSFailure) in
                try library.make { library.request($0, connection, message, Int64(milliseconds)) }
            }
        }
        isAnswered = true
        return NATSMessage(library, owning: answer).bytes
    }

    /// Sends a message, with the subject for answers if there may be any.
    func publish(_ bytes: [UInt8] = [], to subject: String, reply: String? = nil) throws(NATSFailure) {
        let message = try NATSMessage(library, to: subject, bytes, reply: reply)
        try library.check(
            handle.withPointer { connection in message.handle.withPointer { library.publishMessage(connection, $0) } })
    }

    /// Ends a subscription, and destroys it once the library's thread no longer uses it: libnats 3.4 does not
    /// wait for that.
    func end(_ subscription: OpaquePointer) {
        _ = library.unsubscribe(subscription)
        ended.withLock { $0.append(Int(bitPattern: subscription)) }
    }

    /// True if a request should be made, so that subscriptions that have ended are destroyed.
    var needsRequest: Bool { ended.withLock { $0.count > Self.maximumEnded } }

    private func takeEnded() -> [Int] {
        ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
    }

    private func destroy(_ subscriptions: [Int]) {
        for address in subscriptions { library.destroySubscription(OpaquePointer(bitPattern: address)) }
    }

    func subscribe(to subject: String) throws(NATSFailure) -> NATSSubscription {
        let subscription = try handle.withPointer { connection throws(NATSFailure) in
            try library.make { library.subscribe($0, connection, subject) }
        }
        return NATSSubscription(library, self, owning: subscription)
    }

    /// Returns a subject that nothing else uses.
    func newInbox() throws(NATSFailure) -> String {
        var inbox: UnsafeMutablePointer<CChar>?
        try library.check(library.createInbox(&inbox))
        defer { library.destroyInbox(inbox) }
        return inbox.map { String(cString: $0) } ?? ""
    }

    /// Ends the connection and wakes the threads that wait for a message or an answer.
    package func close() { handle.withPointer { library.close($0) } }
}
