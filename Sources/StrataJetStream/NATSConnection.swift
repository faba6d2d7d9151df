/// A connection to one of several servers, which the library restores by itself. Any thread may use it.
// @unchecked: the pointer never changes, and the library locks the object behind it.
package final class NATSConnection: @unchecked Sendable {
    private let library: NATSLibrary
    private let pointer: OpaquePointer

    private static let connected: Int32 = 2
    private static let closed: Int32 = 3

    /// Connects to the first server that answers.
    package init(_ library: NATSLibrary, _ options: JetStreamOptions) throws(NATSFailure) {
        self.library = library
        let options = try NATSOptions(library, options)
        pointer = try library.make { library.connect($0, options.pointer) }
    }

    deinit { library.destroyConnection(pointer) }

    var isConnected: Bool { library.status(pointer) == Self.connected }
    /// True if the library will not restore the connection.
    var isClosed: Bool { library.status(pointer) == Self.closed }
    var maximumPayloadBytes: Int { Int(library.maximumPayload(pointer)) }

    /// The number of times that the connection was restored.
    var reconnects: UInt64 {
        guard let statistics = try? library.make({ library.createStatistics($0) }) else { return 0 }
        defer { library.destroyStatistics(statistics) }
        var count: UInt64 = 0
        let ok = NATSFailure.Status.ok.rawValue
        guard library.statistics(pointer, statistics) == ok,
            library.counts(statistics, nil, nil, nil, nil, &count) == ok
        else { return 0 }
        return count
    }

    /// Returns true if the server's greeting had an older version; nil where the library does not say.
    func isServerOlder(than version: ServerVersion) -> Bool? {
        library.serverIsAtLeast.map { !$0(pointer, Int32(version.major), Int32(version.minor), 0) }
    }

    /// Sends a message and waits for the answer.
    package func request(
        _ subject: String, _ bytes: [UInt8], headers: [(name: String, value: String)] = [], milliseconds: Int
    ) throws(NATSFailure) -> [UInt8] {
        let message = try NATSMessage(library, to: subject, bytes)
        for header in headers { try message.setHeader(header.name, header.value) }
        let answer = try library.make { library.request($0, pointer, message.pointer, Int64(milliseconds)) }
        return NATSMessage(library, owning: answer).bytes
    }

    /// Sends an empty message for which there is no answer.
    func publish(to subject: String) throws(NATSFailure) {
        try library.check(library.publish(pointer, subject, nil, 0))
    }

    /// Sends a message, with the subject for answers if there may be any.
    func publish(_ bytes: [UInt8], to subject: String, reply: String?) throws(NATSFailure) {
        let message = try NATSMessage(library, to: subject, bytes, reply: reply)
        try library.check(library.publishMessage(pointer, message.pointer))
    }

    func subscribe(to subject: String) throws(NATSFailure) -> NATSSubscription {
        NATSSubscription(library, self, owning: try library.make { library.subscribe($0, pointer, subject) })
    }

    /// Returns a subject that nothing else uses.
    func newInbox() throws(NATSFailure) -> String {
        var inbox: UnsafeMutablePointer<CChar>?
        try library.check(library.createInbox(&inbox))
        defer { library.destroyInbox(inbox) }
        return inbox.map { String(cString: $0) } ?? ""
    }

    /// Ends the connection and wakes the threads that wait for a message or an answer.
    package func close() { library.close(pointer) }
}
