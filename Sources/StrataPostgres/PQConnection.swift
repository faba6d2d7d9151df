import StrataConnections
import StrataModel

/// A connection of libpq whose calls return by a deadline. One thread at a time uses it.
package final class PQConnection {
    /// The result of waiting for an answer.
    package enum Reception {
        case answer(PQAnswer)
        /// None came in time, or a signal was set; it can be waited for further.
        case none
    }

    // Values of `PostgresPollingStatusType` and `ConnStatusType` in `libpq-fe.h`.
    private static let pollingFailed: CInt = 0
    private static let pollingReading: CInt = 1
    private static let pollingOK: CInt = 3
    private static let statusOK: CInt = 0
    private static let statusBad: CInt = 1
    /// The reads after which a connection on which more comes is alive. Each may double the library's buffer.
    private static let maximumReads = 4

    /// The warnings that came since the last statement was sent.
    private final class Notices {
        let library: PQLibrary
        var warning: PQFailure?

        init(_ library: PQLibrary) { self.library = library }
    }

    private let library: PQLibrary
    private let handle: OpaquePointer
    private let notices: Notices
    private let signals: [SocketSignal]
    /// The results of the statement on its way.
    private var answer = PQAnswer()

    var serverVersion: Int { Int(library.serverVersion(handle)) }

    /// Connects to a server.
    ///
    /// - Parameter signals: end every wait when one is set.
    /// - Throws: `.unreachable` with libpq's message.
    package init(
        _ parameters: [(key: String, value: String)], _ library: PQLibrary, signals: [SocketSignal],
        until deadline: ContinuousClock.Instant
    ) throws {
        guard let handle = Self.start(parameters, library) else {
            throw StrataError(.unreachable, "The client library has no memory for a connection.")
        }
        self.library = library
        self.handle = handle
        self.signals = signals
        notices = Notices(library)
        // From here on `deinit` ends the connection.
        try finishConnecting(until: deadline)
        _ = library.setNonblocking(handle, 1)
        // The object lives longer than the connection that has its address.
        _ = library.setNoticeReceiver(
            handle,
            { object, result in
                guard let object, let result else { return }
                let notices = Unmanaged<Notices>.fromOpaque(object).takeUnretainedValue()
                let notice = PQFailure(notices.library, result)
                if notice.severity == "WARNING" { notices.warning = notice }
            }, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit { library.finish(handle) }

    private static func start(_ parameters: [(key: String, value: String)], _ library: PQLibrary) -> OpaquePointer? {
        let keys = CStrings(parameters.map(\.key))
        let values = CStrings(parameters.map(\.value))
        return keys.withPointers { keys in
            values.withPointers { values in library.connectStart(keys, values, 0) }
        }
    }

    private func finishConnecting(until deadline: ContinuousClock.Instant) throws {
        // As libpq demands, the first wait is for writing.
        var isWriting = true
        while library.status(handle) != Self.statusBad {
            switch SocketSignal.wait(
                for: library.socket(handle), writing: isWriting, or: signals, until: deadline)
            {
            case .socket: break
            case .timeout: throw failedToConnect("no answer in time")
            case .signal: throw failedToConnect("the sequencer was closed")
            }
            switch library.connectPoll(handle) {
            case Self.pollingOK: return
            case Self.pollingFailed: throw failedToConnect(message)
            case let state: isWriting = state != Self.pollingReading
            }
        }
        throw failedToConnect(message)
    }

    private func failedToConnect(_ reason: String) -> StrataError {
        StrataError(.unreachable, "A connection to the server could not be made.", .init(found: reason))
    }

    private var message: String {
        PQFailure.firstLine(library.errorMessage(handle).map { String(cString: $0) } ?? "")
    }

    /// Returns false if the server has ended the connection.
    func isAlive() -> Bool {
        // The server's last words come first, then the end of the stream. One that has more to say is there.
        for _ in 0..<Self.maximumReads {
            guard library.status(handle) == Self.statusOK,
                SocketSignal.wait(for: library.socket(handle), or: [], until: .now) == .socket
            else { break }
            guard library.consumeInput(handle) == 1 else { return false }
        }
        return library.status(handle) == Self.statusOK
    }

    // MARK: Statements

    /// Sends statements without parameters; their answer has values in the text format.
    func send(_ statements: String) -> Bool {
        prepareToSend()
        return library.sendQuery(handle, statements) == 1
    }

    /// Sends a statement to be prepared under a name.
    package func sendPreparing(_ name: String, _ statement: String) -> Bool {
        prepareToSend()
        return library.sendPrepare(handle, name, statement, 0, nil) == 1
    }

    /// Sends a call of a prepared statement; the values, also those of the answer, are in the binary format.
    package func send(prepared name: String, _ values: [[UInt8]]) -> Bool {
        prepareToSend()
        let bytes = values.flatMap { $0 }
        return bytes.withUnsafeBytes { buffer in
            // A value without bytes still needs an address, or it would be null.
            let empty: StaticString = ""
            let start = buffer.baseAddress ?? UnsafeRawPointer(empty.utf8Start)
            var offset = 0
            let pointers: [PQLibrary.Text?] = values.map { value in
                defer { offset += value.count }
                return (start + offset).assumingMemoryBound(to: CChar.self)
            }
            let lengths = values.map { CInt($0.count) }
            let formats = values.map { _ in 1 as CInt }
            return library.sendQueryPrepared(handle, name, CInt(values.count), pointers, lengths, formats, 1) == 1
        }
    }

    private func prepareToSend() {
        answer = PQAnswer()
        notices.warning = nil
    }

    /// Waits for the rest of the answer to what was sent.
    package func receive(until deadline: ContinuousClock.Instant) -> Reception {
        while true {
            let isFlushed = library.flush(handle) != 1
            if isFlushed, library.isBusy(handle) == 0 {
                guard let pointer = library.getResult(handle) else {
                    answer.warning = notices.warning
                    return .answer(answer)
                }
                let result = PQResult(library, owning: pointer)
                if let failure = result.failure { answer.failure = failure } else { answer.result = result }
                continue
            }
            guard
                SocketSignal.wait(for: library.socket(handle), writing: !isFlushed, or: signals, until: deadline)
                    == .socket
            else { return .none }
            // A lost connection shows as a result that is an error.
            _ = library.consumeInput(handle)
        }
    }

    /// Waits for a notification, for one of `others`, or for the end of the connection.
    func waitForInput(or others: [SocketSignal], until deadline: ContinuousClock.Instant) -> SocketSignal.Event {
        let event = SocketSignal.wait(for: library.socket(handle), or: signals + others, until: deadline)
        if event == .socket { _ = library.consumeInput(handle) }
        return event
    }

    /// Takes the notifications that have come, and returns the texts of the first ones.
    func notifications(atMost limit: Int = .max) -> [String] {
        var texts: [String] = []
        while let notification = library.notifies(handle) {
            // The public part of `PGnotify`: a pointer, an int, and a pointer to the text.
            let offset = 2 * MemoryLayout<UnsafeRawPointer>.stride
            if texts.count < limit, let text = notification.load(fromByteOffset: offset, as: PQLibrary.Text?.self) {
                texts.append(String(cString: text))
            }
            library.freeMemory(notification)
        }
        return texts
    }
}
